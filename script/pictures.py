"""Takes pictures of the pages: plays a few loops on a throwaway server and looks at them with Chromium.

`script/screenshots` calls it. It writes nowhere but in the folder that is named (docs/pictures).
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402
from suite import bring_chromium  # noqa: E402

from tests.journeys.server import EmbeddedServer, wait_for  # noqa: E402

WIDE = {"width": 1160, "height": 900}
NARROW = {"width": 360, "height": 780}
DOCS = [
    ("Rewrote the section on upgrading; **three links** fixed. 14 pages remain.", 2.0, 0.11),
    ("The link checker timed out several times, then passed. 13 pages remain.", 3.0, 0.13),
    ("", 1.0, 0.04),
    ("`install.md` now opens with the one-command set-up:\n\n```sh\nscript/server\n```\n\n12 pages remain.", 4.0, 0.16),
    ("Split `concepts.md` in two; fixed its anchors. 11 pages remain.", 2.0, 0.12),
    ("Reading docs/limits.md", 600.0, 0.1),
]
SPIN = [{"tool": "bash", "args": {"command": "script/check-links"}, "result": "timed out"}] * 5
CALM = [
    {"tool": "read", "args": {"path": "docs/install.md"}, "result": "…"},
    {"tool": "edit", "args": {"path": "docs/install.md"}},
]


@dataclass(frozen=True)
class Picture:
    """One picture: which page, how wide, in which light, and what is done before it is taken."""

    name: str
    path: str
    scheme: str = "light"
    size: tuple[int, int] = (WIDE["width"], WIDE["height"])
    whole: bool = True
    tab: str = ""  # of a room's rail


def replies() -> list[dict[str, Any]]:
    """What the agent of the pictures answers."""
    found = []
    for number, (text, seconds, dollars) in enumerate(DOCS):
        reply: dict[str, Any] = {"seconds": seconds, "cost_usd": dollars, "tools": SPIN if number == 1 else CALM}
        found.append(reply | ({"response": text} if text else {"error": "The model's API answered 529 (overloaded)."}))
    return found


def play(server: EmbeddedServer) -> dict[str, str]:
    """Loops in several states; answers their ids by name."""

    def add(name: str, *answers: dict[str, Any], **more: Any) -> None:
        settings = {"replies": list(answers)}
        status, said = server.post(
            "/api/agents", {"name": name, "runtime": "scripted", "runtime_settings": settings, **more}
        )
        if status != 201:
            raise SystemExit(f"The agent {name} was not made: {said}")

    add("docs-editor", *replies(), title="Keeps the documentation true")
    add(
        "ci-agent",
        {"response": "3 tests fail.", "cost_usd": 0.26},
        {"response": "All pass. [[DONE]]", "cost_usd": 0.37},
    )
    add("translator", *({"response": f"Chapter {number} is translated.", "cost_usd": 0.02} for number in range(1, 13)))
    add("night-shift", {"error": "psql: connection refused"})
    ended = [
        server.start_loop(
            "ci-agent",
            message="Attempt the migration; end with [[DONE]] when the tests pass",
            max_runs=8,
            stop_signal="[[DONE]]",
        ),
        server.start_loop("ci-agent", message="Triage the newest issue", max_runs=50, max_cost_usd=0.6),
        server.start_loop("translator", message="Translate chapter {{run}}", max_runs=12),
        server.start_loop("night-shift", message="Back up, then vacuum every table", max_runs=5),
    ]
    for loop_id in ended:
        server.ended_loop(loop_id)
    docs = server.start_loop(
        "docs-editor",
        message="Fix the next page of the docs. Reply [[DONE]] when none is left.",
        max_runs=20, stop_signal="[[DONE]]", max_cost_usd=1, max_duration_seconds=3600, on_failure="continue",
    )  # fmt: skip
    wait_for(lambda: server.loop(docs)["runs_completed"] == len(DOCS) - 1, what="the runs before the last", seconds=60)
    return {"docs": docs, "run": server.loop(docs)["runs"][-2]["execution_id"], "room": talk(server)}


def talk(server: EmbeddedServer) -> str:
    """A room in which people and two agents talk, and others beside it; answers its id."""

    def add(title: str, *agents: str) -> str:
        status, said = server.post("/api/rooms", {"title": title, "agents": list(agents)})
        if status != 201:
            raise SystemExit(f"The room {title} was not opened: {said}")
        return str(said["room_id"])

    def say(room: str, text: str, answers: int) -> None:
        server.post(f"/api/rooms/{room}/messages", {"text": text})
        wait_for(lambda: count(room) >= answers, what=f"{answers} answers in {room}")

    def count(room: str) -> int:
        messages = server.get(f"/api/rooms/{room}")[1]["messages"]
        return sum(one["author"] is not None and one["author"]["kind"] == "agent" for one in messages)

    say(add("Translations", "translator"), "Which chapter was the last one?", 1)
    say(add("Night shift", "ci-agent"), "Anything broken?", 1)
    room = add("Release notes", "docs-editor", "ci-agent")
    server.manage("create_user", "bob")
    server.post(f"/api/rooms/{room}/participants", {"user": "bob"})
    say(room, "@docs-editor what did you do last?\nWe want to release **today**.", 1)
    say(room, "@ci-agent and the tests, on `main`?", 2)
    return room


def pictures(found: dict[str, str]) -> Iterator[Picture]:
    """The pictures that the docs show."""
    tab = f"/agents/docs-editor/loops/?open={found['docs']}"
    for scheme in ("light", "dark"):
        yield Picture(f"loops-{scheme}", tab, scheme)
        yield Picture(f"dashboard-{scheme}", "/", scheme)
    yield Picture("loops-narrow", tab, size=(NARROW["width"], NARROW["height"]), whole=False)
    yield Picture("run", f"{tab}&run={found['run']}")
    yield Picture("form", "/agents/docs-editor/loops/?again=" + found["docs"])
    yield Picture("executions", "/executions/", whole=False)
    room, wide = f"/workspace/rooms/{found['room']}/", (1280, 800)
    yield Picture("workspace-light", room, size=wide, whole=False, tab="loops")
    yield Picture("workspace-dark", room, "dark", size=wide, whole=False, tab="work")
    yield Picture("workspace-narrow", room, size=(NARROW["width"], NARROW["height"]), whole=False)


@contextmanager
def logged_in(browser: Browser, server: EmbeddedServer, picture: Picture) -> Iterator[Page]:
    """A page of this size and light, after the login."""
    width, height = picture.size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=picture.scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{server.address}/login/")
    page.fill("#id_username", "admin")
    page.fill("#id_password", (server.home / "admin-password").read_text(encoding="ascii").strip())
    page.click("button.primary")
    yield page
    context.close()


def take(browser: Browser, server: EmbeddedServer, picture: Picture, folder: Path) -> None:
    """Take one picture, once the page is live."""
    with logged_in(browser, server, picture) as page:
        if picture.tab:
            page.evaluate("tab => localStorage.setItem('rail-tab', tab)", picture.tab)
        page.goto(server.address + picture.path)
        page.wait_for_selector("#connection[data-state=live]")
        page.wait_for_timeout(500)
        page.screenshot(path=folder / f"{picture.name}.png", full_page=picture.whole, animations="disabled")
    print(folder / f"{picture.name}.png")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "pictures")
    folder: Path = options.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="trinity-pictures-") as home, sync_playwright() as playwright:
        server = EmbeddedServer(Path(home) / "home")
        server.start()
        try:
            found = play(server)
            browser = playwright.chromium.launch(
                executable_path=str(bring_chromium(may_install=False)), args=["--no-sandbox", "--disable-gpu"]
            )
            for picture in pictures(found):
                take(browser, server, picture, folder)
            browser.close()
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
