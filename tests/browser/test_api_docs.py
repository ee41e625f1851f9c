"""The documentation page of the API in a real browser, under the Content-Security-Policy."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from accounts.services import create_key

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright's own loop runs in this thread
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def test_the_page_shows_every_operation_and_calls_one_with_a_key(
    browser: Browser, live_server: Any, agent: Any, alice: Any
) -> None:
    secret = create_key(user=alice).secret
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    page.goto(f"{live_server.url}/api/docs/")
    page.wait_for_selector("#operations-Loops-start_loop")

    page.click("button.authorize")
    page.fill(".auth-container input >> nth=0", secret)
    page.click(".auth-btn-wrapper .authorize >> nth=0")
    page.click(".btn-done")
    listing = page.locator("#operations-Agents-list_agents")
    listing.locator(".opblock-summary-control").click()
    listing.locator(".try-out__btn").click()
    listing.locator(".execute").click()
    answer = listing.locator(".live-responses-table .response")
    answer.wait_for()
    assert "200" in answer.inner_text()
    assert '"name": "scribe"' in answer.inner_text()
    assert complaints == [], "neither the policy nor the script complains"
