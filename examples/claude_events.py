"""Prints what an example agent does as Claude Code's stream-json lines; decides nothing about its work.

Design section 3: a final object with `result`, `total_cost_usd` and `is_error` ends the output. The programs
beside this module run with the standard library alone, so nothing of Trinity is imported here.
"""

import argparse
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED_EXIT = 130
FAILED = "error_during_execution"  # the subtype of a result line that tells of a failure
MOST_PROMPT_BYTES = 4 * 1024 * 1024
_NO_TOKENS = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}


class Interrupted(BaseException):
    """INT arrived: the agent has a moment left to print its result line with the cost."""


def read_prompt() -> str:
    """The prompt on stdin, whole; empty when nothing is piped in. Wrong UTF-8 is replaced, never an error."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    return sys.stdin.buffer.read(MOST_PROMPT_BYTES).decode("utf-8", "replace")


def interrupt_on_int() -> None:
    """Let INT raise Interrupted wherever the program stands; a second one changes nothing."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise Interrupted

    signal.signal(signal.SIGINT, interrupt)


@contextmanager
def _int_held_back() -> Iterator[None]:
    """No INT in the middle of a line: half a line before the result line would hide it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Speaker:
    """The agent's voice on stdout: one session, one final object, a cost by the hour unless one is set."""

    def __init__(self, *, model: str, tools: Sequence[str], hourly_rate: float) -> None:
        self.model = model
        self.tools = list(tools)
        self.hourly_rate = hourly_rate  # dollars
        self.fixed_cost: float | None = None  # dollars, in place of the time's
        self.cost_known = True
        self.session = str(uuid.uuid4())
        self.doing = ""  # said when it is interrupted, such as "writing the summary"
        self.turns = 0
        self.denials: list[dict[str, Any]] = []
        self._began = time.monotonic()
        self._message_id = ""
        self._call_ids: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def open(self) -> None:
        """The first event of every session."""
        self._print(
            {
                "type": "system",
                "subtype": "init",
                "cwd": os.getcwd(),
                "session_id": self.session,
                "tools": self.tools,
                "mcp_servers": [],
                "model": self.model,
                "permissionMode": "default",
                "uuid": str(uuid.uuid4()),
            }
        )

    def new_step(self) -> None:
        """What is said and called from here on is one answer of the model: one message id."""
        self.turns += 1
        self._message_id = f"msg_{uuid.uuid4().hex[:20]}"

    def say(self, text: str, **marks: Any) -> None:
        """A text of the agent; `marks` stand beside the message, as Claude marks an API error."""
        self._assistant({"type": "text", "text": text}, **marks)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Announce a tool call; returns its id, which `answer` or `deny` needs."""
        call_id = f"toolu_{uuid.uuid4().hex[:20]}"
        self._call_ids[call_id] = (tool, arguments)
        self._assistant({"type": "tool_use", "id": call_id, "name": tool, "input": dict(arguments)})
        return call_id

    def answer(self, call_id: str, content: str, *, is_error: bool = False) -> None:
        """What came of a call."""
        block = {"tool_use_id": call_id, "type": "tool_result", "content": content, "is_error": is_error}
        self._print(
            {
                "type": "user",
                "message": {"role": "user", "content": [block]},
                "parent_tool_use_id": None,
                "session_id": self.session,
                "uuid": str(uuid.uuid4()),
            }
        )

    def deny(self, call_id: str, reason: str) -> None:
        """The call was refused: an event, an error for the agent, and a line in the final object."""
        tool, arguments = self._call_ids[call_id]
        self.note("permission_denied", tool_name=tool, tool_use_id=call_id, message=reason)
        self.answer(call_id, reason, is_error=True)
        self.denials.append({"tool_name": tool, "tool_use_id": call_id, "tool_input": dict(arguments)})

    def note(self, subtype: str, **facts: Any) -> None:
        """A system event; readers that do not know its subtype pass it over."""
        self._print({"type": "system", "subtype": subtype, **facts, "session_id": self.session})

    def close(self, result: str, *, is_error: bool = False, subtype: str = "success", **facts: Any) -> None:
        """The final object. INT is not heard from here on: it would print another, and the last counts."""
        with _int_held_back():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        elapsed = time.monotonic() - self._began
        final: dict[str, Any] = {
            "type": "result",
            "subtype": subtype,
            "is_error": is_error,
            "result": result,
            "duration_ms": round(elapsed * 1000),
            "num_turns": self.turns,
            "session_id": self.session,
            "usage": _NO_TOKENS,  # no model, no tokens: true zeros
            "permission_denials": self.denials,
            "uuid": str(uuid.uuid4()),
        }
        if self.cost_known:
            final["total_cost_usd"] = self._cost(elapsed)
        self._print(final | facts)

    def _cost(self, elapsed: float) -> float:
        if self.fixed_cost is not None:
            return self.fixed_cost
        return round(self.hourly_rate * elapsed / 3600, 9)

    def _assistant(self, block: Mapping[str, Any], **marks: Any) -> None:
        self._print(
            {
                "type": "assistant",
                "message": {
                    "id": self._message_id,
                    "type": "message",
                    "role": "assistant",
                    "model": self.model,
                    "content": [block],
                    "stop_reason": None,
                    "usage": _NO_TOKENS,
                },
                "parent_tool_use_id": None,
                "session_id": self.session,
                "uuid": str(uuid.uuid4()),
                **marks,
            }
        )

    def _print(self, event: Mapping[str, Any]) -> None:
        # ASCII only: neither the locale nor a lone surrogate in a file name can break a line.
        line = json.dumps(event, ensure_ascii=True, allow_nan=False) + "\n"
        with _int_held_back():
            sys.stdout.write(line)
            sys.stdout.flush()


def number_between(least: float, most: float) -> Callable[[str], float]:
    """A reader of command-line numbers that refuses what lies outside, NaN among it."""

    def number(text: str) -> float:
        value = float(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not between {least:g} and {most:g}")
        return value

    return number


def pause(seconds: float) -> None:
    """Take `seconds` of time; INT ends it at once."""
    if seconds > 0:
        time.sleep(seconds)


def run(speaker: Speaker, work: Callable[[Speaker], int]) -> NoReturn:
    """Do the work and exit with its code; on INT print what it cost so far and exit with 130.

    A full disk or a folder that may not be written is the agent's own failure: it says so in its result line.
    """
    try:
        interrupt_on_int()
        code = work(speaker)
    except Interrupted:
        speaker.close(f"Interrupted{_during(speaker)}.", is_error=True, subtype=FAILED)
        code = INTERRUPTED_EXIT
    except BrokenPipeError:  # nobody reads any more; what was begun is cleaned up by the next run
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        speaker.close(f"Stopped{_during(speaker)}: {os.strerror(error.errno or 0)}.", is_error=True, subtype=FAILED)
        code = 1
    sys.exit(code)


def _during(speaker: Speaker) -> str:
    return f" while {speaker.doing}" if speaker.doing else ""
