"""The server goes away and comes back, the network fails, the session ends: pages say so and recover by themselves."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cable import Cable
from tests.browser.conftest import PATIENCE, Agents, Open, Witness, log_in
from tests.journeys.server import EmbeddedServer

expect.set_options(timeout=PATIENCE)
RECONNECTS = 45_000  # milliseconds; the pauses between tries grow up to half a minute


@pytest.fixture
def cable(server: EmbeddedServer) -> Iterator[Cable]:
    """A way to the server that a test can cut; the server itself lives on."""
    cable = Cable(server.port)
    yield cable
    cable.close()


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """A server of the test's own, which it may end."""
    server = EmbeddedServer(tmp_path / "home")
    server.start()
    yield server
    server.stop()


def test_a_page_recovers_when_the_server_is_started_again_under_it(
    chromium: Browser, mortal: EmbeddedServer, witness: Witness
) -> None:
    status, _ = mortal.post(
        "/api/agents",
        {
            "name": "patient",
            "runtime": "scripted",
            "runtime_settings": {"replies": [{"response": "x", "seconds": 0.5}]},
        },
    )
    assert status == 201
    context = chromium.new_context(storage_state=log_in(chromium, mortal))
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{mortal.address}/agents/patient/loops/")
    page.wait_for_selector("#connection[data-state=live]")
    page.evaluate("window.never_reloaded = true")

    mortal.stop()
    expect(page.locator("#connection")).to_have_text(re.compile("Reconnecting|Offline"))
    expect(page.locator("#connection")).to_have_text(re.compile(r"Offline, data from \d\d:\d\d:\d\d"))
    mortal.start()
    mortal.start_loop("patient", message="After the restart", max_runs=2, no_progress_threshold=0)

    expect(page.locator("article.loop .badge")).to_have_text("completed", timeout=RECONNECTS)
    expect(page.locator("#connection")).to_have_text("Live")
    assert page.evaluate("window.never_reloaded === true")
    context.close()


def test_without_a_network_the_page_says_so_and_its_clocks_stand_still(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, cable: Cable, witness: Witness
) -> None:
    loop = server.start_loop(make_agent([{"response": "x", "seconds": 300}]), message="Long", max_runs=1)
    page = open_page(f"/loops/{loop}/", address=cable.address)
    expect(page.locator(".why [data-since]")).to_be_visible()

    witness.forget("ERR_", "WebSocket", "sendError", "htmx:")
    cable.cut()
    expect(page.locator("#connection")).to_have_text(re.compile("Offline, data from"))
    expect(page.locator(".banner.is-offline")).to_be_visible()
    stood = page.locator(".why [data-since]").inner_text()
    page.wait_for_timeout(1500)
    assert page.locator(".why [data-since]").inner_text() == stood

    cable.mend()
    expect(page.locator("#connection")).to_have_text("Live", timeout=RECONNECTS)
    expect(page.locator(".why [data-since]")).not_to_have_text(stood)
    witness.hosts.discard(cable.host)


def test_what_happened_while_the_page_was_cut_off_is_made_good(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, cable: Cable, witness: Witness
) -> None:
    agent = make_agent([{"response": "x", "seconds": 0.1}])
    page = open_page(f"/agents/{agent}/loops/", address=cable.address)
    witness.forget("ERR_", "WebSocket", "sendError", "htmx:")
    cable.cut()
    expect(page.locator("#connection")).to_have_text(re.compile("Reconnecting|Offline"))
    server.ended_loop(server.start_loop(agent, message="Unheard", max_runs=2))

    cable.mend()

    expect(page.locator("article.loop .badge")).to_have_text("completed", timeout=RECONNECTS)
    witness.hosts.discard(cable.host)


def test_a_session_that_ended_is_said_and_what_was_typed_stays(
    chromium: Browser, server: EmbeddedServer, make_agent: Agents, open_page: Open, witness: Witness
) -> None:
    agent = make_agent([{"response": "x"}])
    page = open_page(f"/agents/{agent}/loops/", storage_state=log_in(chromium, server))
    page.click("#run-loop-door > summary")
    page.fill("#id_message", "not lost")

    page.context.clear_cookies()
    page.click("#run-loop form button.primary")

    expect(page.locator("#trouble")).to_be_visible()
    expect(page.locator("#id_message")).to_have_value("not lost")
    witness.forget("401", "403", "htmx:")


def test_what_could_not_be_sent_is_said_and_sent_again_it_is_done_once(
    open_page: Open, make_agent: Agents, cable: Cable, witness: Witness
) -> None:
    agent = make_agent([{"response": "x"}])
    page = open_page(f"/agents/{agent}/loops/", address=cable.address)
    page.click("#run-loop-door > summary")
    page.fill("#id_message", "Not lost")
    page.fill("#id_max_runs", "1")
    witness.forget("ERR_", "WebSocket", "sendError", "htmx:")
    cable.cut()

    page.click("#run-loop form button.primary")

    expect(page.locator("#trouble")).to_contain_text("The server was not reached")
    expect(page.locator("#id_message")).to_have_value("Not lost")
    cable.mend()
    expect(page.locator("#connection")).to_have_text("Live", timeout=RECONNECTS)
    page.click("#run-loop form button.primary")
    expect(page.locator("article.loop")).to_have_count(1)
    expect(page.locator("#trouble")).to_be_hidden()
    witness.hosts.discard(cable.host)


def test_an_error_of_ours_stands_on_top_with_its_request_id(
    open_page: Open, make_agent: Agents, witness: Witness
) -> None:
    page = open_page(f"/agents/{make_agent([{'response': 'x'}])}/loops/")
    page.route(
        "**/foresight/", lambda route: route.fulfill(status=500, headers={"X-Request-ID": "req_seen"}, body="broken")
    )
    page.click("#run-loop-door > summary")

    page.fill("#id_max_runs", "7")

    expect(page.locator("#trouble")).to_have_text(re.compile(r"answered 500 \(request req_seen\)"))
    witness.forget("500", "htmx:")


def test_without_scripts_lists_start_and_stop_work_by_reload(
    open_page: Open, make_agent: Agents, witness: Witness
) -> None:
    agent = make_agent([{"response": "x", "seconds": 2}])
    page = open_page(f"/agents/{agent}/loops/", live=False, java_script_enabled=False)

    page.click("#run-loop-door > summary")
    page.fill("#id_message", "By hand")
    page.fill("#id_max_runs", "101")
    page.click("#run-loop form button.primary")
    expect(page.locator("#id_max_runs-refused")).to_contain_text("Must be from 1 to 100")
    expect(page.locator("#id_message")).to_have_value("By hand")
    page.fill("#id_max_runs", "50")
    page.click("#run-loop form button.primary")
    expect(page.locator("article.loop.is-open")).to_have_count(1)
    page.click("article.loop button:text-is('Stop')")

    expect(page.locator("article.loop .facts")).to_contain_text(re.compile("finishing run 1|stopped by user"))
    witness.forget("400")


def test_the_theme_is_kept_per_browser(open_page: Open) -> None:
    page = open_page("/", color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)

    page.click(".menu summary")
    page.click("[data-theme-switch]")
    page.click("[data-theme-switch]")

    dark: Any = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == dark
