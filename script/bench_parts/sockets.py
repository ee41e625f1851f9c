"""Many sockets on one server while loops run: how late events come, what is missed, what the server holds meanwhile."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench_parts import usage
from bench_parts.bench import Bench
from bench_parts.listeners import Heard, Hearing, come_and_go
from bench_parts.playing import new_agent, new_loop
from bench_parts.programs import Program, wait_until
from bench_parts.protocol import percentile
from bench_parts.report import Bar, Figure
from bench_parts.stacks import Installation

AGENTS, SOCKETS_EACH = 50, 10
SECONDS_A_RUN = 5  # each run tells of two changes: 50 agents make 20 events a second
SECONDS_A_LOOP = 400  # and some to spare: a loop has at most 100 runs
SAMPLES = 20
COMINGS = 1_000


@dataclass
class Memory:
    """What a program holds, looked at again and again."""

    program: Program
    mib: list[float] = field(default_factory=list)

    def look(self) -> None:
        self.mib.append(usage.resident_mib([self.program]) or 0.0)

    def figures(self, what: str) -> Iterator[Figure]:
        """Its end against what it was after two thirds of the time, when caches and pools are about filled."""
        if not any(self.mib):
            return
        early, last = self.mib[len(self.mib) * 2 // 3], self.mib[-1]
        against = f"{early:.0f} MiB after two thirds"
        yield Figure("live", f"{what}: memory", last, "MiB", against=against, ratio=last / early, bar=Bar(most=1.05))


def fan_out(here: Installation, between: str, seconds: int, server: Program, bench: Bench) -> Iterator[Figure]:
    """Sockets on every agent for so long; every tenth is cut once and comes back, and then reads what it shows."""
    loops = _playing(here, seconds)
    memory, lasted = Memory(server), seconds
    hearing = Hearing(here.port, here.key, list(loops), SOCKETS_EACH, lambda agent: _read(here, loops[agent]))

    def finish() -> None:
        for loop in [loop for of_agent in loops.values() for loop in of_agent]:
            here.get(f"/api/loops/{loop}/stop", {})
        wait_until(lambda: not here.get("/api/loops?status=running&limit=1"), "the last runs", 60, 0.5)

    heard = asyncio.run(hearing.hear(lasted, memory.look, SAMPLES, finish))
    delays = [delay for one in heard for _, _, delay in one.events[: one.timed]]
    what = f"{AGENTS * SOCKETS_EACH} sockets, {between}"
    if not delays:
        bench.leave_out(what, "nothing was heard")
        return
    events = len({(loop, version) for one in heard for loop, version, _ in one.events[: one.timed]})
    now = {agent: _read(here, of_agent) for agent, of_agent in loops.items()}
    yield Figure("live", f"{what}: events", events / lasted, "/s")
    yield Figure("live", f"{what}: delivery p50", percentile(delays, 0.5), "ms")
    yield Figure("live", f"{what}: delivery p99", percentile(delays, 0.99), "ms", bar=Bar(most=250))
    yield Figure("live", f"{what}: missed", float(_missed(heard)), "events", bar=Bar(most=0))
    yield Figure("live", f"{what}: lost", float(sum(one.lost for one in heard)), "sockets", bar=Bar(most=0))
    yield Figure("live", f"{what}: cut and come back", float(sum(one.cuts for one in heard)), "sockets")
    yield Figure("live", f"{what}: behind after resync", float(_behind(heard, now)), "sockets", bar=Bar(most=0))
    yield from memory.figures(what)


def comings_and_goings(bench: Bench, here: Installation, server: Program) -> Iterator[Figure]:
    """A thousand sockets come and go; afterwards the server has as many open files as before."""
    asyncio.run(come_and_go(here.port, "/ws/loops/", here.key, 50))  # threads and connections that stay are made
    time.sleep(1)
    before = usage.open_files(server)
    if before is None:
        bench.leave_out("1,000 comings and goings", "open files cannot be counted on this system")
        return
    asyncio.run(come_and_go(here.port, "/ws/loops/", here.key, COMINGS))
    time.sleep(2)
    left = (usage.open_files(server) or 0) - before
    yield Figure("live", f"left open after {COMINGS:,} comings and goings", float(left), "files", bar=Bar(most=0))


def _playing(here: Installation, seconds: int) -> dict[str, list[str]]:
    """The loops of each agent. Where there are several, their runs take turns, so that they tell no more than one."""
    agents = [new_agent(here, SECONDS_A_RUN, max_parallel_tasks=1) for _ in range(AGENTS)]
    each = math.ceil((seconds + 60) / SECONDS_A_LOOP)
    loops: dict[str, list[str]] = {}
    for agent in agents:
        loops[agent] = [new_loop(here, agent, 100) for _ in range(each)]
        time.sleep(SECONDS_A_RUN / AGENTS)  # so that their runs do not all end at once
    return loops


def _read(here: Installation, loops: Sequence[str]) -> dict[str, int]:
    """What a page reads again: the version of each loop that it shows."""
    return {loop: here.get(f"/api/loops/{loop}")["version"] for loop in loops}


def _missed(heard: Sequence[Heard]) -> int:
    """Events that one socket heard and another of the same agent did not, of those that were never cut.

    What came at the edges of the time is left out.
    """
    by_agent: dict[str, list[set[tuple[str, int]]]] = defaultdict(list)
    for one in heard:
        if not one.cuts:
            by_agent[one.agent].append({(loop, version) for loop, version, _ in one.events})
    return sum(_missed_of(sets) for sets in by_agent.values())


def _missed_of(sets: Sequence[set[tuple[str, int]]]) -> int:
    versions: dict[str, list[int]] = defaultdict(list)
    for loop, version in set.union(*sets):
        versions[loop].append(version)
    inner = {
        (loop, version) for loop, known in versions.items() for version in known if min(known) < version < max(known)
    }
    return sum(len(inner - one) for one in sets)


def _behind(heard: Sequence[Heard], now: dict[str, dict[str, int]]) -> int:
    """Sockets that know an older version of a loop than there is, after all is quiet."""
    return sum(any(one.known.get(loop, 0) < version for loop, version in now[one.agent].items()) for one in heard)
