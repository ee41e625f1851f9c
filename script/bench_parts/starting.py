"""Section `start`: loops started per second over REST, beside a bare DRF view on the same kind of server."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from statistics import median
from urllib.parse import urlsplit

from servers import free_port, listens

from bench_parts.bench import Bench
from bench_parts.contenders.caller import Answers, Calls
from bench_parts.programs import Failed, Program, environment, run, wait_until
from bench_parts.report import Bar, Figure, of_rounds
from bench_parts.stacks import TOOLS, Installation

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
    servers = {
        "POST loops": _trinity(bench, until_the_end, requests),
        "bare DRF view": _bare(bench, until_the_end, requests),
    }
    found: dict[str, list[Answers]] = {name: [] for name in servers}
    for calls in servers.values():
        _ask(caller, calls)  # to warm up
    for number in range(bench.rounds):
        for name, calls in servers.items():
            found[name].append(_ask(caller, calls))
            bench.say(f"round {number + 1} of {bench.rounds}: {name:<14} {found[name][-1].per_second:8.0f} requests/s")
    yield from _figures(found["POST loops"], found["bare DRF view"])


def _figures(ours: list[Answers], bare: list[Answers]) -> Iterator[Figure]:
    rates, base = [one.per_second for one in ours], median(one.per_second for one in bare)
    against = f"bare DRF view ({base:,.0f})"
    yield of_rounds(
        "start", "POST loops", rates, "requests/s", against=against, ratio=median(rates) / base, bar=Bar(least=0.6)
    )
    for name, answers in (("POST loops", ours), ("bare DRF view", bare)):
        yield of_rounds("start", f"{name}: p50, 8 callers", [one.ms_p50 for one in answers], "ms")
        yield of_rounds("start", f"{name}: p99, 8 callers", [one.ms_p99 for one in answers], "ms")


def _ask(caller: Program, calls: Calls) -> Answers:
    caller.tell(json.dumps(asdict(calls)))
    answers = Answers(**json.loads(caller.says()))
    if answers.refused:
        raise Failed(f"{answers.refused} of {calls.requests} posts to {calls.path} were not answered with 202")
    return answers


def _trinity(bench: Bench, until_the_end: ExitStack, requests: int) -> Calls:
    installation = Installation(bench, until_the_end)
    installation.start_web()
    agent = {"name": "bench", "runtime": "scripted", "runtime_settings": {"replies": [{"response": "done"}]}}
    installation.get("/api/agents", agent)
    body = json.dumps({"message": MESSAGE, "max_runs": 10})
    return Calls(installation.port, "/api/agents/bench/loops", f"Bearer {installation.key}", body, requests)


def _bare(bench: Bench, until_the_end: ExitStack, requests: int) -> Calls:
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
    until_the_end.enter_context(Program([*words, f"{module}:application"], variables, log))
    wait_until(lambda: listens(port), "the bare view's server")
    return Calls(port, "/tasks", f"Token {token}", json.dumps({"message": MESSAGE, "max_runs": 10}), requests)
