"""A real Chromium before a real server: one server and one login for all tests, a fresh profile for each page."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from tests.journeys.server import EmbeddedServer

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",  # containers have no user namespaces to build one from
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
]
PATIENCE = 20_000  # milliseconds that a page may take on a slow machine


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """The system's Chromium, or the one that CHROMIUM names."""
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if program is None:
        pytest.skip("Chromium is not here: install it, or name one in the variable CHROMIUM")
    browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """An embedded server that all tests share; each makes agents of its own."""
    server = EmbeddedServer(tmp_path_factory.mktemp("browser") / "home")
    server.start()
    yield server
    server.stop()


def log_in(chromium: Browser, server: EmbeddedServer, username: str = "admin", password: str = "") -> Any:
    """The cookies of a login through the login page; the admin's unless told otherwise."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{server.address}/login/")
    page.fill("#id_username", username)
    page.fill("#id_password", password or (server.home / "admin-password").read_text().strip())
    page.click("button.primary")
    page.wait_for_url(lambda address: "/login/" not in address)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def cookies(chromium: Browser, server: EmbeddedServer) -> Any:
    return log_in(chromium, server)


@pytest.fixture(scope="session")
def people(chromium: Browser, server: EmbeddedServer) -> dict[str, Any]:
    """The logins of Bob, a member, and of Carol, a client."""
    found = {}
    for username, kind in (("bob", "member"), ("carol", "client")):
        said = server.manage("create_user", username, "--kind", kind)
        assert said.returncode == 0, said.stderr
        found[username] = log_in(chromium, server, username, said.stdout.split("password:")[1].strip())
    return found


class Witness:
    """What pages did that nobody should have to see: errors in the console, requests to other hosts."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.dialogs: list[str] = []
        self.expected: list[str] = []

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def forget(self, *parts: str) -> None:
        """Errors that the test itself brings about, also those that come later."""
        self.expected += parts

    @property
    def unexpected(self) -> list[str]:
        return [error for error in self.errors if not any(part in error for part in self.expected)]


@pytest.fixture
def witness(server: EmbeddedServer) -> Iterator[Witness]:
    """Afterwards: no error was shown, and nothing but our server was asked."""
    witness = Witness()
    yield witness
    assert witness.unexpected == []
    assert witness.dialogs == []
    assert witness.hosts <= {urlsplit(server.address).netloc}


Open = Callable[..., Page]


@pytest.fixture
def open_page(chromium: Browser, server: EmbeddedServer, cookies: Any, witness: Witness) -> Iterator[Open]:
    """Opens a page of the server in a profile of its own, logged in as the admin."""
    contexts: list[BrowserContext] = []

    def open_page(path: str, *, live: bool = True, address: str = "", **profile: Any) -> Page:
        profile.setdefault("viewport", {"width": 1160, "height": 900})
        profile.setdefault("storage_state", cookies)
        context = chromium.new_context(**profile)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        witness.watch(page)
        page.goto(f"{address or server.address}{path}")
        if live:
            page.wait_for_selector("#connection[data-state=live]")
        return page

    yield open_page
    for context in contexts:
        context.close()


Agents = Callable[..., str]


@pytest.fixture
def make_agent(server: EmbeddedServer, request: pytest.FixtureRequest) -> Agents:
    """A scripted agent of this test's own; answers its name."""
    made: list[str] = []

    def make(replies: list[dict[str, Any]], **more: Any) -> str:
        words = request.node.originalname.removeprefix("test_").replace("_", "-")[:40].strip("-")
        name = f"{words}-{secrets.token_hex(3)}"
        status, answer = server.post(
            "/api/agents", {"name": name, "runtime": "scripted", "runtime_settings": {"replies": replies}, **more}
        )
        assert status == 201, answer
        made.append(name)
        return name

    return make


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, from AXE_CORE or the user's cache; npm brings it there once."""
    import subprocess

    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trinity" / "axe"
    program = Path(os.environ.get("AXE_CORE") or folder / "node_modules" / "axe-core" / "axe.min.js")
    if not program.is_file() and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-fund", "--no-audit", "--silent", "--prefix", str(folder), "axe-core@4"]
        subprocess.run(install, check=False, timeout=120, capture_output=True)
    if not program.is_file():
        pytest.skip("axe-core is not here: npm could not bring it, and AXE_CORE names none")
    return program.read_text(encoding="utf-8")
