"""Rooms for browser tests: opened, filled and read as people do it; knows no inside of the server."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PATIENCE, Open
from tests.journeys.server import EmbeddedServer

expect.set_options(timeout=PATIENCE)


def open_a_room(open_page: Open, title: str, *agents: str, people: tuple[str, ...] = (), **profile: Any) -> Page:
    """The admin's page of a new room."""
    page = open_page("/workspace/", **profile)
    for agent in agents:
        page.check(f'input[name="agents"][value="{agent}"]')
    page.fill("#id_title", title)
    page.click(".open-room button.primary")
    page.wait_for_url("**/workspace/rooms/**")
    page.wait_for_selector("#connection[data-state=live]")
    for name in people:
        add(page, name)
    return page


def add(page: Page, name: str) -> None:
    """Somebody is let in by the menu of who takes part."""
    if page.locator("#people-menu[open]").count() == 0:
        page.click("#people-menu > summary")
    page.fill("#add-name", name)
    page.press("#add-name", "Enter")
    expect(page.locator(".present")).to_contain_text(name)
    page.click("#people-menu > summary")


def path_of(page: Page) -> str:
    return "/" + page.url.split("/", 3)[3].split("#")[0]


def say(page: Page, text: str) -> None:
    page.fill("#composer-text", text)
    page.press("#composer-text", "Enter")
    expect(page.locator("#composer-text")).to_have_value("")


def lines(page: Page) -> Locator:
    return page.locator("#messages .message")


def mark(page: Page) -> None:
    """A page that was loaded again would not have it."""
    page.evaluate("window.never_reloaded = true")


def never_reloaded(page: Page) -> bool:
    return bool(page.evaluate("window.never_reloaded === true"))


def share(server: EmbeddedServer, agent: str, username: str) -> None:
    status, answer = server.post(f"/api/agents/{agent}/shares", {"user": username})
    assert status in (200, 201), answer
