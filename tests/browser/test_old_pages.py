"""Every live thing: an old page that heard all events is the freshly loaded page, at each turn of a long story.

The story is played once before pages that were opened early and whose backstop poll is switched off, so that nothing
but events can have brought them up to date. Each page is compared on its own.
"""

import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.conftest import PATIENCE
from tests.journeys.server import EmbeddedServer, wait_for

CATCHES_UP = 9_000  # milliseconds: more than any fragment waits between two readings, less than the poll
NO_POLL = "const every = window.setInterval; window.setInterval = (act, ms) => ms === 12000 ? 0 : every(act, ms);"
# What a page's main part is and shows, line by line, without what differs at each rendering, what is not to be seen,
# and what ticks.
COMPARABLE = """() => {
  const SKIPPED = 'input[type=hidden], .form-door:not([open]), [data-active] .strip';
  const lines = [], ignored = /^(hx-|data-live|data-hx|data-waits|data-active|aria-busy)/;
  const told = (node, depth) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.textContent.replace(/\\s+/g, ' ').trim();
      if (text) lines.push(' '.repeat(depth) + text);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(SKIPPED)) return;
    const shown = getComputedStyle(node).display !== 'none';
    if (!shown && !node.matches('option, title')) return;
    const kept = [...node.attributes]
      .filter(({name}) => !ignored.test(name))
      .map(({name, value}) => [name, name === 'class' ? value.replace(/htmx-\\w+/g, '').trim() : value])
      .filter(([name, value]) => value !== '' || name !== 'class');
    lines.push(' '.repeat(depth) + node.tagName + ' ' + kept.map(pair => pair.join('=')).sort().join(' '));
    if (node.dataset.since) return;
    node.childNodes.forEach(child => told(child, depth + 1));
  };
  told(document.querySelector('main'), 0);
  if (document.querySelector('.form-door > summary')?.checkVisibility()) lines.push('Run Loop can be pressed');
  return lines;
}"""


@dataclass
class Gate:
    """An agent's program waits here: it replies what the test lets through, when the test lets it."""

    folder: Path
    let_through: int = 0

    @property
    def argv(self) -> list[str]:
        waits = 'cat >/dev/null; until mv "$0/go" "$0/took-$$" 2>/dev/null; do sleep 0.05; done; cat "$0/took-$$"'
        return ["/bin/sh", "-c", waits, str(self.folder)]

    def reply(self, text: str) -> None:
        """One program goes on with this reply."""
        self.let_through += 1
        written = self.folder / "written"
        written.write_text(text)
        os.replace(written, self.folder / "go")
        wait_for(lambda: len(list(self.folder.glob("took-*"))) == self.let_through or None, what="a program to go on")


@dataclass
class Story:
    """What happens, and which pages look on; `differing` holds what was wrong, by page and turn."""

    server: EmbeddedServer
    context: BrowserContext
    gate: Gate
    agent: str
    pages: dict[str, tuple[str, Page]] = field(default_factory=dict)
    differing: dict[str, dict[str, Any]] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)  # ids of all that was ever live
    fresh: Page | None = None

    def open(self, name: str, path: str) -> None:
        page = self.context.new_page()
        page.add_init_script(NO_POLL)
        page.goto(self.server.address + path)
        page.wait_for_selector("#connection[data-state=live]")
        page.evaluate("window.never_reloaded = true")
        self.pages[name] = (path, page)

    def post(self, path: str, body: Any = None, method: str = "POST") -> Any:
        status, answer = self.server.call(method, f"/api/agents/{self.agent}{path}", body)
        assert status < 300, answer
        return answer

    def until_running(self, execution_or_loop: str) -> None:
        kind = "loops" if execution_or_loop.startswith("loop") else "executions"
        where = f"/api/{kind}/{execution_or_loop}"
        wait_for(lambda: self.server.get(where)[1]["status"] == "running" or None, what=where)

    def look(self, turn: str) -> None:
        """Each page beside a freshly loaded one."""
        for name, (path, page) in self.pages.items():
            self.live |= set(page.evaluate("[...document.querySelectorAll('[data-live]')].map(one => one.id)"))
            old, fresh = self._compared(path, page)
            if old != fresh or not page.evaluate("window.never_reloaded"):
                wrong = {"only old": sorted(set(old) - set(fresh)), "only fresh": sorted(set(fresh) - set(old))}
                self.differing.setdefault(name, {})[turn] = wrong

    def _compared(self, path: str, page: Page) -> tuple[list[str], list[str]]:
        assert self.fresh is not None
        waited = 0
        while True:
            self.fresh.goto(self.server.address + path)
            old, fresh = page.evaluate(COMPARABLE), self.fresh.evaluate(COMPARABLE)
            if old == fresh or waited > CATCHES_UP:
                return old, fresh
            page.wait_for_timeout(400)
            waited += 400


def play(story: Story) -> None:
    """From an idle agent to an archived one."""
    for name, path in {
        "dashboard": "/",
        "loops": f"/agents/{story.agent}/loops/",
        "ended loops": f"/agents/{story.agent}/loops/?status=completed",
        "overview": f"/agents/{story.agent}/",
        "settings": f"/agents/{story.agent}/settings/",
        "agent's executions": f"/agents/{story.agent}/executions/",
        "executions": f"/executions/?agent={story.agent}",
    }.items():
        story.open(name, path)
    first = story.server.start_loop(story.agent, message="First", max_runs=2, max_cost_usd=5, no_progress_threshold=3)
    story.until_running(first)
    call = story.post("/executions", {"prompt": "A single call"})["execution_id"]
    second = story.server.start_loop(story.agent, message="Second", max_runs=1)
    story.open("first loop", f"/loops/{first}/")
    story.open("second loop", f"/loops/{second}/")
    story.open("execution", f"/executions/{call}/")
    story.look("one runs, others stand in line")

    story.gate.reply("one")
    story.until_running(call)
    story.look("the line has moved")

    story.post("/stop")
    story.post("", {"title": "Has another title", "max_parallel_tasks": 2}, "PATCH")
    story.open("loops while stopped", f"/agents/{story.agent}/loops/?status=active")
    story.look("the agent is stopped and changed")

    story.gate.reply("said once")
    wait_for(lambda: story.server.get(f"/api/executions/{call}")[1]["status"] == "completed" or None, what="the call")
    story.post("/start")
    story.until_running(second)
    story.look("the agent is started again")

    story.gate.reply("two")
    story.gate.reply("three")
    story.server.ended_loop(first)
    story.server.ended_loop(second)
    story.look("all has ended")

    story.post("/shares", {"user": "bob"})
    story.post("", None, "DELETE")
    story.look("the agent is shared and archived")


@pytest.fixture(scope="module")
def story(
    chromium: Browser,
    server: EmbeddedServer,
    cookies: Any,
    people: dict[str, Any],  # Bob is one of them
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Story]:
    gate = Gate(tmp_path_factory.mktemp("gate"))
    agent = f"old-pages-{secrets.token_hex(3)}"
    server.add_agent(agent, gate.argv, max_parallel_tasks=1)
    context = chromium.new_context(storage_state=cookies, viewport={"width": 1160, "height": 900})
    context.set_default_timeout(PATIENCE)
    story = Story(server, context, gate, agent, fresh=context.new_page())
    play(story)
    yield story
    context.close()


@pytest.mark.parametrize(
    "name",
    [
        "dashboard",
        "loops",
        "ended loops",
        "loops while stopped",
        "overview",
        "settings",
        "agent's executions",
        "executions",
        "first loop",
        "second loop",
        "execution",
    ],
)
def test_an_old_page_that_heard_all_events_is_the_freshly_loaded_page(story: Story, name: str) -> None:
    assert name in story.pages
    assert story.differing.get(name, {}) == {}


def test_no_page_that_is_live_was_left_out(story: Story) -> None:
    """Whatever is read again by itself stands on one of the pages above; rooms have tests of their own."""
    kinds: set[str] = set()
    for template in set(Path("templates").rglob("*.html")) - set(Path("templates/workspace").rglob("*.html")):
        kinds |= set(re.findall(r'<\w+ id="([\w-]+)"[^>]*data-live=', template.read_text(encoding="utf-8")))

    assert kinds
    assert kinds - story.live == set()
