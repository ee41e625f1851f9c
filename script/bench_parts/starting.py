"""Section `start`: loops started per second over REST, beside a bare DRF view on the same kind of server."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from urllib.parse import urlsplit

from servers import free_port, listens

from bench_parts.bench import Bench
from bench_parts.contenders.caller import Answers, Calls
from bench_parts.programs import Failed, Program, environment, run, wait_until
from bench_parts.report import Bar, Figure, of_rounds, paired
from bench_parts.stacks import TOOLS, Installation
from bench_parts.usage import processor_seconds

MESSAGE = "Take the next text from the inbox, and say what you did with it. " * 3


def measure(bench: Bench, until_the_end: ExitStack) -> Iterator[Figure]:
    """Posts to both servers in turn. No worker runs: only the start itself is measured, with its nudge."""
    requests = bench.short_or_long(400, 2_000)
    caller = until_the_end.enter_context(
        Program(
            [sys.executable, "-m", "bench_parts.contenders.caller"],
            environment(),
            bench.new_folder("caller") / "log",
            talks=True,
        )
    )
    caller.says()
    doors = [_trinity(bench, until_the_end, requests), _bare(bench, until_the_end, requests)]
    for door in doors:
        _ask(caller, door.calls)  # to warm up
    for number in range(bench.rounds):
        for door in doors:
            door.measure(caller)
            rate = door.answers[-1].per_second
            bench.say(f"round {number + 1} of {bench.rounds}: {door.name:<14} {rate:8.0f} requests/s")
    yield from _figures(*doors)


@dataclass
class Door:
    """A server with one kind of call, and what came of the calls."""

    name: str
    server: Program
    calls: Calls
    answers: list[Answers] = field(default_factory=list)
    processor_ms: list[float] = field(default_factory=list)  # per request

    def measure(self, caller: Program) -> None:
        """One round."""
        before = processor_seconds([self.server])
        self.answers.append(_ask(caller, self.calls))
        after = processor_seconds([self.server])
        if before is not None and after is not None:
            self.processor_ms.append((after - before) * 1000 / self.calls.requests)


def _figures(ours: Door, bare: Door) -> Iterator[Figure]:
    rates = [one.per_second for one in ours.answers]
    against = paired(bare.name, rates, [one.per_second for one in bare.answers])
    yield of_rounds("start", ours.name, rates, "requests/s", **against, bar=Bar(least=0.6))
    for door in (ours, bare):
        yield of_rounds("start", f"{door.name}: p50, 8 callers", [one.ms_p50 for one in door.answers], "ms")
        yield of_rounds("start", f"{door.name}: p99, 8 callers", [one.ms_p99 for one in door.answers], "ms")
        if door.processor_ms:
            yield of_rounds("start", f"{door.name}: processor per request", door.processor_ms, "ms")


def _ask(caller: Program, calls: Calls) -> Answers:
    caller.tell(json.dumps(asdict(calls)))
    answers = Answers(**json.loads(caller.says()))
    if answers.refused:
        raise Failed(f"{answers.refused} of {calls.requests} posts to {calls.path} were not answered with 202")
    return answers


def _trinity(bench: Bench, until_the_end: ExitStack, requests: int) -> Door:
    installation = Installation(bench, until_the_end)
    server = installation.start_web()
    agent = {"name": "bench", "runtime": "scripted", "runtime_settings": {"replies": [{"response": "done"}]}}
    installation.get("/api/agents", agent)
    body = json.dumps({"message": MESSAGE, "max_runs": 10})
    path = "/api/agents/bench/loops"
    return Door("POST loops", server, Calls(installation.port, path, f"Bearer {installation.key}", body, requests))


def _bare(bench: Bench, until_the_end: ExitStack, requests: int) -> Door:
    address = urlsplit(bench.new_database("bare"))
    variables = environment(
        BENCH_HOST=address.hostname or "",
        BENCH_PORT=str(address.port),
        BENCH_USER=address.username or "",
        BENCH_PASSWORD=address.password or "",
        BENCH_NAME=address.path.strip("/"),
    )
    module, port = "bench_parts.contenders.bare_view", free_port()
    token = run([sys.executable, "-m", module], variables).strip()
    words = [sys.executable, str(TOOLS / "daphne"), "--bind", "127.0.0.1", "--port", str(port), "-v", "0"]
    log = bench.new_folder("bare") / "log"
    server = until_the_end.enter_context(Program([*words, f"{module}:application"], variables, log))
    wait_until(lambda: listens(port), "the bare view's server")
    body = json.dumps({"message": MESSAGE, "max_runs": 10})
    return Door("bare DRF view", server, Calls(port, "/tasks", f"Token {token}", body, requests))
