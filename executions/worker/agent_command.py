"""The `trinity` command of a running agent: starts, reads and stops loops over REST; imports nothing of the project.

It runs beside the agent's program, wherever that runs, so it is one file of the standard library (Python 3.8 and
newer). What it says on stdout is always one JSON document. Exit codes: 0 done, 1 refused, 2 not understood, 3 nobody
answered.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, NoReturn

REFUSED, NOT_UNDERSTOOD, NO_ANSWER = 1, 2, 3
SLOWEST_SECONDS = 3600
TIMEOUT_SECONDS = 30
PAUSES = (0.5, 1.5)  # between tries, while nobody answers
LOOPBACK = ("127.0.0.1", "localhost", "::1")
UNITS = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hour": 3600,
    "d": 86400,
    "day": 86400,
}
TOO_SLOW = (
    "A loop pauses an hour ({most} s) at most between two runs, and {asked:g} s were asked for. For a slower pace a "
    "loop is the wrong tool: tell the person that it needs a schedule, or pause an hour and let the message say how "
    "old the last result must be before anything is done."
)


class Refusal(Exception):
    """What is printed in place of an answer."""

    def __init__(self, exit_code: int, said: dict[str, Any]) -> None:
        super().__init__(said["refused"])
        self.exit_code = exit_code
        self.said = said


def main(arguments: list[str]) -> int:
    """Carry out one command line; returns the exit code."""
    try:
        chosen = _parser().parse_args(arguments)
        answer = chosen.act(chosen)
    except Refusal as refusal:
        _print(refusal.said)
        print(f"trinity: {refusal}", file=sys.stderr)
        return refusal.exit_code
    _print(answer)
    return 0


# --- the three commands -------------------------------------------------------------------------------------


def start(chosen: argparse.Namespace) -> Any:
    """Start a loop on this agent, or on another that it may call."""
    message = sys.stdin.read() if chosen.message == "-" else chosen.message
    if chosen.every is not None and chosen.every > SLOWEST_SECONDS:
        sentence = TOO_SLOW.format(most=SLOWEST_SECONDS, asked=chosen.every)
        raise Refusal(REFUSED, {"refused": sentence, "code": "invalid", "errors": {"delay_seconds": [sentence]}})
    asked = {
        "message": message,
        "max_runs": chosen.max_runs,
        "stop_signal": chosen.stop_signal,
        "delay_seconds": chosen.every,
        "timeout_per_run": chosen.timeout_per_run,
        "max_duration_seconds": chosen.max_duration,
        "no_progress_threshold": _threshold(chosen),
        "max_cost_usd": chosen.max_cost,
        "on_failure": chosen.on_failure,
        "max_consecutive_failures": chosen.max_consecutive_failures,
        "model": chosen.model,
        "allowed_tools": chosen.allow_tool or None,
    }
    name = chosen.agent or _set("TRINITY_AGENT")
    given = {field: value for field, value in asked.items() if value is not None}
    return call("POST", f"/api/agents/{urllib.parse.quote(name, safe='')}/loops", given)


def status(chosen: argparse.Namespace) -> Any:
    """Everything of a loop: its state, its runs, its last reply."""
    return call("GET", f"/api/loops/{urllib.parse.quote(chosen.loop_id, safe='')}")


def stop(chosen: argparse.Namespace) -> Any:
    """Ask a loop to stop; the run in flight finishes."""
    return call("POST", f"/api/loops/{urllib.parse.quote(chosen.loop_id, safe='')}/stop")


def _threshold(chosen: argparse.Namespace) -> int | None:
    """A poll repeats itself by nature: with a pause, alike replies end nothing unless it is asked for."""
    if chosen.no_progress is None and chosen.every:
        return 0
    threshold: int | None = chosen.no_progress
    return threshold


# --- the call -----------------------------------------------------------------------------------------------


def call(method: str, path: str, body: Any = None) -> Any:
    """The parsed answer of the server. Refusal when it refuses, or nobody answers."""
    address, key = _set("TRINITY_URL").rstrip("/"), _set("TRINITY_API_KEY")
    request = urllib.request.Request(address + path, method=method)  # noqa: S310 - the address is the server's own
    request.add_header("Authorization", f"Bearer {key}")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
        request.add_header("Idempotency-Key", uuid.uuid4().hex)  # a start that is tried again starts one loop
    for pause in (*PAUSES, None):
        try:
            return _answer(request, address)
        except OSError as error:  # URLError, a timeout, a line that was cut
            if pause is None:
                sentence = f"{address} does not answer: {getattr(error, 'reason', error)}."
                raise Refusal(NO_ANSWER, {"refused": sentence, "code": "unavailable"}) from error
            time.sleep(pause)
    return None


def _answer(request: urllib.request.Request, address: str) -> Any:
    host = urllib.parse.urlsplit(address).hostname
    proxies = [urllib.request.ProxyHandler({})] if host in LOOPBACK else []
    try:
        with urllib.request.build_opener(*proxies).open(request, timeout=TIMEOUT_SECONDS) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        raise Refusal(REFUSED, _refusal_of(error)) from error
    except ValueError as error:
        raise Refusal(NO_ANSWER, {"refused": f"{address} does not speak JSON.", "code": "unavailable"}) from error


def _refusal_of(error: urllib.error.HTTPError) -> dict[str, Any]:
    try:
        problem = json.loads(error.read())
        said = {"refused": problem.pop("detail"), **problem}
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return {"refused": f"The server answered {error.code}.", "code": "unknown", "status": error.code}
    return said


def _set(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        sentence = f"{name} is not set: this command works only within a run of an agent."
        raise Refusal(REFUSED, {"refused": sentence, "code": "unauthenticated"})
    return value


# --- the words ----------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise Refusal(NOT_UNDERSTOOD, {"refused": f"{self.prog}: {message}", "code": "malformed"})


def _parser() -> _Parser:
    parser = _Parser(prog="trinity", description="Repetition, carried out by the platform while you are not running.")
    loops = parser.add_subparsers(dest="subject", required=True).add_parser("loop", help="start, read and stop loops")
    commands = loops.add_subparsers(dest="command", required=True)
    _add_start(commands.add_parser("start", help="do something again and again, one run after another"))
    for name, act in (("status", status), ("stop", stop)):
        one = commands.add_parser(name, help=act.__doc__)
        one.add_argument("loop_id", metavar="ID")
        one.set_defaults(act=act)
    return parser


def _add_start(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("message", metavar="MESSAGE", help="what each run is asked to do; {{run}} is its number; - reads stdin")
    add("--max-runs", metavar="N", type=int, required=True, help="how many runs at most (1-100)")
    add("--stop-signal", metavar="TEXT", help="a reply with this in it ends the loop, such as [[DONE]]")
    add("--every", metavar="TIME", type=seconds, help="the pause between two runs: 120, 2m, at most 1h")
    add("--timeout-per-run", metavar="TIME", type=seconds)
    add("--max-duration", metavar="TIME", type=seconds, help="of the whole loop")
    add("--max-cost", metavar="DOLLARS", type=float)
    add(
        "--no-progress", metavar="N", type=int, help="end after N equal replies in a row; 0 is off, and so with --every"
    )
    add("--on-failure", choices=["abort", "continue"])
    add("--max-consecutive-failures", metavar="N", type=int)
    add("--model", metavar="NAME")
    add("--allow-tool", metavar="TOOL", action="append", help="only this tool; may be given several times")
    add("--agent", metavar="NAME", help="another agent that this one may call")
    parser.set_defaults(act=start)


def seconds(word: str) -> float:
    """A time as people write it: 120, 90s, 2m, "2 minutes", 1h."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*?)s?\s*", word.lower())
    unit = UNITS.get(found[2] or "s") if found else None
    if found is None or unit is None:
        raise argparse.ArgumentTypeError(f"{word!r} is no time: write 120, 2m or 1h")
    return float(found[1]) * unit


def _print(said: Any) -> None:
    json.dump(said, sys.stdout, ensure_ascii=True, indent=2)
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
