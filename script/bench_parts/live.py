"""Section `live`: from a commit to what a reader sees, and many sockets on one server."""

import asyncio
import os
import secrets
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench_parts.bench import Bench
from bench_parts.listeners import Heard, come_and_go, hear_for
from bench_parts.programs import Program, wait_until
from bench_parts.protocol import percentile
from bench_parts.report import Bar, Figure
from bench_parts.stacks import Installation

AGENTS, SOCKETS_EACH = 50, 10
SECONDS_A_RUN = 5  # each run tells of two changes: 50 agents make 20 events a second
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
    """On an embedded server; the fan-out again with a worker of its own and Redis between."""
    here = Installation(bench, until_the_end, embedded=True)
    server = here.start_embedded()
    yield from _in_the_browser(bench, here)
    yield from _fan_out(bench, here, "embedded")
    yield from _comings_and_goings(bench, here, server)
    there = Installation(bench, until_the_end)
    there.start_web()
    there.start_workers(1)
    yield from _fan_out(bench, there, "Redis")


def _agent(here: Installation, seconds: float, **more: Any) -> str:
    name = f"bench-{secrets.token_hex(4)}"
    replies = [{"response": f"reply {number}", "seconds": seconds} for number in range(20)]
    here.get("/api/agents", {"name": name, "runtime": "scripted", "runtime_settings": {"replies": replies}, **more})
    return name


def _loop(here: Installation, agent: str, runs: int) -> str:
    asked = {"message": "Go", "max_runs": runs, "no_progress_threshold": 0}
    return str(here.get(f"/api/agents/{agent}/loops", asked)["loop_id"])


# --- one reader ------------------------------------------------------------------------------------------------


def _in_the_browser(bench: Bench, here: Installation) -> Iterator[Figure]:
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if program is None:
        bench.leave_out("commit to DOM change", "Chromium is not here")
        return
    runs = bench.short_or_long(30, 100)
    agent = _agent(here, 0.6)
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
        loop_id = _loop(here, agent, runs)
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


# --- many sockets ----------------------------------------------------------------------------------------------


def _fan_out(bench: Bench, here: Installation, between: str) -> Iterator[Figure]:
    seconds = bench.short_or_long(15, 120)
    agents = [_agent(here, SECONDS_A_RUN) for _ in range(AGENTS)]
    loops = []
    for agent in agents:
        loops.append(_loop(here, agent, 100))
        time.sleep(SECONDS_A_RUN / AGENTS)  # so that their runs do not all end at once
    heard = asyncio.run(hear_for(here.port, agents, SOCKETS_EACH, here.key, seconds))
    for loop in loops:
        here.get(f"/api/loops/{loop}/stop", {})
    delays = [delay for one in heard for _, _, delay in one.events]
    what = f"{AGENTS * SOCKETS_EACH} sockets, {between}"
    if not delays:
        bench.leave_out(what, "nothing was heard")
        return
    events = len({(loop, version) for one in heard for loop, version, _ in one.events})
    yield Figure("live", f"{what}: events", events / seconds, "/s")
    yield Figure("live", f"{what}: delivery p50", percentile(delays, 0.5), "ms")
    yield Figure("live", f"{what}: delivery p99", percentile(delays, 0.99), "ms", bar=Bar(most=250))
    yield Figure("live", f"{what}: missed", float(_missed(heard)), "events", bar=Bar(most=0))


def _missed(heard: Sequence[Heard]) -> int:
    """Events that one socket of an agent heard and another did not; what came at the edges of the time is left out."""
    by_agent: dict[str, list[set[tuple[str, int]]]] = defaultdict(list)
    for one in heard:
        by_agent[one.agent].append({(loop, version) for loop, version, _ in one.events})
    missed = 0
    for sets in by_agent.values():
        known = set.union(*sets)
        inner = {event for event in known if min(known)[1] < event[1] < max(known)[1]}
        missed += sum(len(inner - one) for one in sets)
    return missed


def _comings_and_goings(bench: Bench, here: Installation, server: Program) -> Iterator[Figure]:
    """A thousand sockets come and go; afterwards the server has as many open files as before."""
    asyncio.run(come_and_go(here.port, "/ws/loops/", here.key, 50))  # threads and connections that stay are made
    time.sleep(1)
    before = _open_files(server.pid)
    if before is None:
        bench.leave_out("1,000 comings and goings", "open files cannot be counted on this system")
        return
    asyncio.run(come_and_go(here.port, "/ws/loops/", here.key, 1_000))
    time.sleep(2)
    left = (_open_files(server.pid) or 0) - before
    yield Figure("live", "left open after 1,000 comings and goings", float(left), "files", bar=Bar(most=0))


def _open_files(pid: int) -> int | None:
    try:
        return len(os.listdir(Path("/proc") / str(pid) / "fd"))
    except OSError:
        return None
