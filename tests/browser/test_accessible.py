"""Pages are for everybody: axe finds nothing serious, a keyboard is enough, and a phone needs no sideways scroll."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE, Agents, Open
from tests.journeys.server import EmbeddedServer

expect.set_options(timeout=PATIENCE)
REPLY = """**Done** with [a link](https://example.org).

```sh
ls -la /a/rather/long/path/that/does/not/fit/on/a/phone
```

| a | b |
|---|---|
| 1 | 2 |
"""


@pytest.fixture
def places(make_agent: Agents, server: EmbeddedServer) -> dict[str, str]:
    """Every member page, with something on it."""
    agent = make_agent(
        [
            {"response": REPLY, "cost_usd": 0.4, "tools": [{"tool": "bash", "args": {"command": "ls"}}]},
            {"error": "no network"},
            {"response": "fin " * 200, "cost_usd": 0.7},
        ],
        title="An agent with a title that is long enough to be a nuisance on a narrow screen",
    )
    loop = server.ended_loop(
        server.start_loop(
            agent,
            message="A long task title that goes on: " + "word " * 20,
            max_runs=9,
            max_cost_usd=1,
            on_failure="continue",
        )
    )
    execution = loop["runs"][0]["execution_id"]
    idle, stopped, archived = (make_agent([{"response": "x"}]) for _ in range(3))
    server.post(f"/api/agents/{stopped}/stop")
    server.call("DELETE", f"/api/agents/{archived}")
    waiting = server.start_loop(make_agent([{"response": "x", "seconds": 600}]), message="Slow", max_runs=2)
    server.post(f"/api/loops/{waiting}/stop")
    return {
        "dashboard": "/",
        "loops": f"/agents/{agent}/loops/?open={loop['loop_id']}&run={execution}",
        "form": f"/agents/{agent}/loops/?again={loop['loop_id']}",
        "overview": f"/agents/{agent}/",
        "agent's executions": f"/agents/{agent}/executions/",
        "settings": f"/agents/{agent}/settings/",
        "loop": f"/loops/{loop['loop_id']}/?run={execution}",
        "executions": "/executions/?status=failed",
        "execution": f"/executions/{execution}/",
        "no loops yet": f"/agents/{idle}/loops/",
        "of one status": f"/agents/{agent}/loops/?status=failed",
        "stopped": f"/agents/{stopped}/loops/",
        "archived": f"/agents/{archived}/loops/",
        "archived settings": f"/agents/{archived}/settings/",
        "stopping": f"/loops/{waiting}/",
        "keys": "/account/keys/",
        "password": "/account/password/",
        "nowhere": "/nowhere/",
        "refused filters": "/executions/?status=nonsense&loop_id=nonsense",
        "refused status": f"/agents/{agent}/loops/?status=nonsense",
    }


def faults(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found: Any = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']})"
    )
    return [
        f"{one['impact']}: {one['id']}: {one['nodes'][0]['html'][:160]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical", "moderate")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(
    open_page: Open, server: EmbeddedServer, places: dict[str, str], axe: str, scheme: str, witness: Any
) -> None:
    found = {}
    page = open_page("/", color_scheme=scheme)
    for name, path in places.items():
        page.goto(server.address + path)
        if wrong := faults(page, axe):
            found[name] = wrong
    page.context.clear_cookies()
    page.goto(f"{server.address}/login/")
    if wrong := faults(page, axe):
        found["login"] = wrong
    witness.forget("404", "400")

    assert found == {}


def test_no_page_scrolls_sideways_on_a_phone(
    open_page: Open, server: EmbeddedServer, places: dict[str, str], witness: Any
) -> None:
    page = open_page("/", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    wide, small = {}, {}
    for name, path in places.items():
        page.goto(server.address + path)
        page.wait_for_timeout(150)
        if name == "loops":
            page.locator("details.fold summary").first.click()
        if page.evaluate("document.documentElement.scrollWidth > 360"):
            wide[name] = page.evaluate(
                "[...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > 361)"
                ".map(one => one.outerHTML.slice(0, 90)).slice(0, 3)"
            )
        targets = page.evaluate(
            "[...document.querySelectorAll('button, summary, input:not([type=hidden]), select, textarea')]"
            ".filter(one => one.checkVisibility())"
            ".map(one => [one.getBoundingClientRect().height, one.outerHTML.slice(0, 90)])"
            ".filter(([height]) => height < 24 && height > 0)"
            ".filter(([, html]) => !html.includes('radio') && !html.includes('checkbox'))"
        )
        if targets:
            small[name] = targets
    witness.forget("404", "400")

    assert (wide, small) == ({}, {})


def test_a_keyboard_opens_a_loop_and_a_run(open_page: Open, places: dict[str, str]) -> None:
    page = open_page(places["loops"].split("?")[0])
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.title') !== null"):
            break

    page.keyboard.press("Enter")
    expect(page.locator("article.loop")).to_have_attribute("class", "card loop is-open")
    assert page.evaluate("document.activeElement.closest('.title') !== null")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('a.row-link')"):
            break
    page.keyboard.press("Enter")

    expect(page.locator("tr.detail")).to_have_count(1)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_nothing_moves_for_who_wants_no_motion(open_page: Open, make_agent: Agents, server: EmbeddedServer) -> None:
    loop = server.start_loop(make_agent([{"response": "x", "seconds": 60}]), message="x", max_runs=1)
    page = open_page(f"/loops/{loop}/", reduced_motion="reduce")

    moving = page.locator(".badge.pulses").evaluate("one => getComputedStyle(one, '::before').animationName")

    assert moving == "none"
