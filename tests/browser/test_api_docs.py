"""The API's documentation page: every operation is there, and a call from it carries a key or the person's session."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE, Agents, Open
from tests.journeys.server import EmbeddedServer

expect.set_options(timeout=PATIENCE)


def call(page: Page, operation: str, name: str = "") -> str:
    """Tries an operation out, and answers what the page shows of the answer."""
    block = page.locator(f"#operations-{operation}")
    block.locator(".opblock-summary-control").click()
    block.locator(".try-out__btn").click()
    if name:
        block.locator('input[placeholder="name"]').fill(name)
    block.locator(".execute").click()
    answer = block.locator(".live-responses-table .response")
    answer.wait_for()
    return answer.inner_text()


def test_the_page_calls_with_the_key_that_it_is_given(
    open_page: Open, make_agent: Agents, server: EmbeddedServer
) -> None:
    name = make_agent([{"response": "done"}])
    page = open_page("/api/docs/", live=False, storage_state=None)
    expect(page.locator("#operations-Loops-start_loop")).to_be_visible()

    page.click("button.authorize")
    page.fill(".auth-container input >> nth=0", (server.home / "admin-api-key").read_text().strip())
    page.click(".auth-btn-wrapper .authorize >> nth=0")
    page.click(".btn-done")

    answer = call(page, "Agents-list_agents")
    assert "200" in answer
    assert f'"name": "{name}"' in answer


def test_the_page_writes_with_a_persons_session_and_their_csrf_token(open_page: Open, make_agent: Agents) -> None:
    name = make_agent([{"response": "done"}])
    page = open_page("/api/docs/", live=False)

    answer = call(page, "Agents-stop_agent", name)

    assert "200" in answer
    assert '"status": "stopped"' in answer
