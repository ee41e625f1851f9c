"""Section `live`: from a commit to what a reader sees, and many sockets on one server."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack

from bench_parts.bench import Bench
from bench_parts.playing import new_agent, new_loop
from bench_parts.programs import wait_until
from bench_parts.protocol import percentile
from bench_parts.report import Bar, Figure
from bench_parts.sockets import comings_and_goings, fan_out
from bench_parts.stacks import Installation

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Notes when a change of a loop was committed, as its event says, and when the page shows that version.
WATCH = """() => {
  window.seen = [];
  const list = document.getElementById('loops');
  new MutationObserver(() => {
    for (const card of list.querySelectorAll('[data-live=loop]')) {
      const version = Number(card.dataset.version);
      if ((window.shown ??= {})[card.id] === version) continue;
      window.shown[card.id] = version;
      window.seen.push([card.id, version, Date.now()]);
    }
  }).observe(list, {subtree: true, childList: true, attributes: true, attributeFilter: ['data-version']});
}"""


def measure(bench: Bench, until_the_end: ExitStack) -> Iterator[Figure]:
    """On an embedded server; the fan-out again with a worker of its own and Redis between.

    With `--soak` only the fan-out, for so long, and what the servers hold meanwhile.
    """
    here = Installation(bench, until_the_end, embedded=True)
    server = here.start_embedded()
    seconds = bench.soak_seconds or bench.short_or_long(15, 120)
    if not bench.soak_seconds:
        yield from _in_the_browser(bench, here)
    yield from fan_out(here, "embedded", seconds, server, bench)
    yield from comings_and_goings(bench, here, server)
    server.end()
    there = Installation(bench, until_the_end)
    web = there.start_web()
    there.start_workers(1)
    yield from fan_out(there, "Redis", seconds, web, bench)


# --- one reader ------------------------------------------------------------------------------------------------


def _in_the_browser(bench: Bench, here: Installation) -> Iterator[Figure]:
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if program is None:
        bench.leave_out("commit to DOM change", "Chromium is not here")
        return
    runs = bench.short_or_long(30, 100)
    agent = new_agent(here, 0.6)
    loop_id, shown = _watched(here, program, agent, runs)
    yield from _delays(bench, here, loop_id, shown)


def _watched(here: Installation, program: str, agent: str, runs: int) -> tuple[str, dict[int, float]]:
    """A loop that is played before an open page: its id, and when each version was seen there, in seconds."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{here.port}/login/?next=/agents/{agent}/loops/")
        page.fill("#id_username", "admin")
        page.fill("#id_password", (here.home / "admin-password").read_text(encoding="ascii").strip())
        page.click("button.primary")
        page.wait_for_selector("#connection[data-state=live]")
        page.evaluate(WATCH)
        loop_id = new_loop(here, agent, runs)
        wait_until(lambda: here.get(f"/api/loops/{loop_id}")["completed_at"] is not None, "the loop", runs * 3.0, 0.5)
        page.wait_for_timeout(1000)
        seen = page.evaluate("window.seen")
        browser.close()
    return loop_id, {version: at / 1000 for loop, version, at in seen if loop == loop_id}


def _delays(bench: Bench, here: Installation, loop_id: str, shown: dict[int, float]) -> Iterator[Figure]:
    """Of each version that a commit left behind: how long until the page showed it, or a later one."""
    committed: dict[int, float] = {}
    for version, at in _events(here, loop_id):
        committed[version] = at
    last_of_commit = [version for version in committed if committed.get(version + 1, 0) - committed[version] > 0.01]
    delays = []
    for version in last_of_commit:
        later = [at for known, at in shown.items() if known >= version]
        if later:
            delays.append((min(later) - committed[version]) * 1000)
    if not delays:
        bench.leave_out("commit to DOM change", "the page showed nothing")
        return
    yield Figure("live", "commit to DOM change, p50", percentile(delays, 0.5), "ms", bar=Bar(most=150))
    yield Figure("live", "commit to DOM change, p99", percentile(delays, 0.99), "ms")


def _events(here: Installation, loop_id: str) -> list[tuple[int, float]]:
    """Version and time of each change, as the database has it."""
    said = here.run_inside("events_of", loop_id)
    return [(int(version), float(at)) for version, at in (line.split() for line in said.splitlines())]
