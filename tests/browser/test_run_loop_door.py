"""The Run Loop form and its door: by keyboard alone, and while the agent is stopped and started under it."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE, Agents, Open, Witness
from tests.journeys.server import EmbeddedServer

expect.set_options(timeout=PATIENCE)


def tab_to(page: Page, selector: str, most: int = 60) -> None:
    """Press Tab until what has the focus fits; nobody can press it for ever."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no way by keyboard to {selector}")


def test_a_keyboard_is_enough_to_start_watch_and_stop_a_loop(open_page: Open, make_agent: Agents) -> None:
    page = open_page(f"/agents/{make_agent([{'response': 'x', 'seconds': 600}])}/loops/")

    tab_to(page, "#run-loop-button")
    page.keyboard.press("Enter")
    tab_to(page, "#id_message")
    page.keyboard.type("By keyboard")
    tab_to(page, "#id_on_failure")
    page.keyboard.press("ArrowDown")
    tab_to(page, "#run-loop button.primary")
    page.keyboard.press("Enter")

    expect(page.locator("article.loop .facts")).to_contain_text("Run 1 / 10")
    expect(page.locator("#run-loop-button")).to_be_focused()
    tab_to(page, "article.loop [id^=stop-]")
    page.keyboard.press("Enter")
    expect(page.locator("article.loop [id^=stop-]")).to_have_text("Stopping after run 1")


def test_an_agent_that_stops_under_a_half_typed_form_shuts_the_door_and_keeps_the_text(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "x"}])
    page = open_page(f"/agents/{agent}/loops/")
    page.click("#run-loop-button")
    page.fill("#id_message", "half a sent")
    page.select_option("#id_on_failure", "continue")

    server.post(f"/api/agents/{agent}/stop")

    expect(page.locator("#why-shut")).to_contain_text("The agent is stopped")
    expect(page.locator(".door-shut")).to_be_disabled()
    expect(page.locator("#run-loop-button")).to_be_hidden()
    expect(page.locator("#run-loop form button.primary")).to_be_hidden()
    expect(page.locator("#id_message")).to_have_value("half a sent")
    assert page.evaluate("document.activeElement.id") == "id_message"

    server.post(f"/api/agents/{agent}/start")

    expect(page.locator("#why-shut")).to_have_count(0)
    expect(page.locator("#id_message")).to_have_value("half a sent")
    expect(page.locator("#id_on_failure")).to_have_value("continue")
    page.click("#run-loop form button.primary")
    expect(page.locator("article.loop .title")).to_contain_text("half a sent")


def test_a_refusal_because_the_agent_was_stopped_keeps_all_that_was_typed(
    open_page: Open, make_agent: Agents, server: EmbeddedServer, witness: Witness
) -> None:
    agent = make_agent([{"response": "x"}])
    page = open_page(f"/agents/{agent}/loops/", live=False, java_script_enabled=False)
    page.click("#run-loop-button")
    page.fill("#id_message", "Keep me")
    server.post(f"/api/agents/{agent}/stop")

    page.click("#run-loop form button.primary")

    expect(page.locator("#why-shut")).to_contain_text("The agent is stopped")
    expect(page.locator("#id_message")).to_have_value("Keep me")
    witness.forget("409")


def test_a_page_that_was_opened_while_the_agent_was_stopped_gets_the_form_when_it_starts(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    agent = make_agent([{"response": "x"}])
    server.post(f"/api/agents/{agent}/stop")
    page = open_page(f"/agents/{agent}/loops/")
    expect(page.locator("#run-loop-button")).to_have_count(0)

    server.post(f"/api/agents/{agent}/start")

    page.click("#run-loop-button")
    page.fill("#id_message", "Now it may")
    page.click("#run-loop form button.primary")
    expect(page.locator("article.loop .title")).to_contain_text("Now it may")


def test_an_impatient_double_click_without_scripts_starts_one_loop(open_page: Open, make_agent: Agents) -> None:
    page = open_page(
        f"/agents/{make_agent([{'response': 'x', 'seconds': 60}])}/loops/", live=False, java_script_enabled=False
    )
    page.click("#run-loop-button")
    page.fill("#id_message", "Once")

    page.dblclick("#run-loop form button.primary")

    page.wait_for_url("**/loops/?open=*")
    page.reload()
    expect(page.locator("article.loop")).to_have_count(1)
