"""Reads from a chat message that something is to be done again and again, and asks the platform for it.

A program that repeats itself within one turn would keep its slot, and would be gone after a restart: a loop is started
by the `trinity` command instead, which every agent that Trinity runs finds on its PATH.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from typing import Any

from practice_patterns import AMOUNT, CARDINALS, N

UNSAID_RUNS = 10  # "every 2 minutes: …" without "at most"
COMMAND_SECONDS = 120
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_PACE = (
    rf"every (?:(?P<few>few )|(?P<amount>{AMOUNT}) ?)?"
    r"(?P<unit>secs?|seconds?|s|mins?|minutes?|m|hours?|h|days?|d)\b"
)
_TIMES = rf"(?P<times>{N}) ?(?:times|x|runs|turns)\b"
_DO = r"(?:do|repeat|run|try|say) (?:this|it|that|the following)(?: again)?"
_MOST = rf"at most (?P<most>{N})(?: ?(?:times|x|runs|turns)\b)?"
_UNTIL = r"until (?P<until>(?:(?!,? at most ).)+?)"
# "do this 3 times: …", "do this 3 times, every 2 minutes: …", "run a loop of 3 runs: …"
_COUNTED = re.compile(
    rf"(?:{_DO}|(?:run|start) a loop (?:of|with)) {_TIMES}(?:,? {_PACE})? ?[:,-] ?(?P<task>.+)", re.IGNORECASE
)
# "every 2 minutes until …, at most 5: …", "every 2 minutes: …", also with the task in front.
_PACED = re.compile(
    rf"(?:(?P<before>.+?),? )?{_PACE}(?:,? {_UNTIL})?(?:,? {_MOST})?(?: ?[:] ?(?P<task>.+)|[.!]?)\Z", re.IGNORECASE
)
_SIGNAL = re.compile(r"\[\[[^\[\]]{1,60}\]\]")
_ON_RUN = re.compile(rf"\brun (?P<run>{N})", re.IGNORECASE)
_ADDRESS = re.compile(r"^(?:@[\w-]+[,:]? ?|please,? |could you |can you )+", re.IGNORECASE)
_MESSAGE = re.compile(
    r"^----- (?P<mark>[0-9a-f]{16}) message -----\n(?P<text>.*)\n----- (?P=mark) end -----\s*\Z",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Repetition:
    """What is to be repeated, as the `trinity` command takes it."""

    message: str
    max_runs: int
    every_seconds: float = 0.0
    stop_signal: str = ""

    def command(self) -> list[str]:
        """The command line that starts it."""
        words = ["trinity", "loop", "start", self.message, "--max-runs", str(self.max_runs)]
        if self.every_seconds:
            words += ["--every", f"{self.every_seconds:g}"]
        return [*words, "--stop-signal", self.stop_signal] if self.stop_signal else words


def message_of(prompt: str) -> str:
    """What a person wrote, when the prompt is a turn's in a room; any other prompt is the message itself."""
    found = _MESSAGE.search(prompt)
    return found["text"] if found is not None else prompt


def read_repetition(message: str) -> Repetition | None:
    """What the message asks to be repeated, or None."""
    text = _ADDRESS.sub("", " ".join(message.split()))
    found = _COUNTED.match(text)
    if found is not None:
        return Repetition(found["task"], _count(found["times"]), _pace(found))
    found = _PACED.match(text)
    if found is None:
        return None
    task = (found["task"] or found["before"] or "").strip()
    until = (found["until"] or "").strip()
    if not task and not until:
        return None
    runs = _count(found["most"]) if found["most"] else UNSAID_RUNS
    return _until(task or f"Look whether {until}.", until, runs, _pace(found))


def ask(repetition: Repetition) -> tuple[bool, dict[str, Any]]:
    """Start the loop; whether it was started, and what the platform says."""
    try:
        done = subprocess.run(
            repetition.command(), capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
        )
        said = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return False, {"refused": f"The command could not be run: {error}"}
    return done.returncode == 0, said


def _until(task: str, until: str, runs: int, every: float) -> Repetition:
    """What ends it is a stop signal, and a sentence in the message that says when to reply with it."""
    if not until:
        return Repetition(task, runs, every)
    signal = _SIGNAL.search(until)
    if signal is not None:
        return Repetition(task, runs, every, signal[0])
    on_run = _ON_RUN.search(until)
    sentence = f"Say [[DONE]] on run {_count(on_run['run'])}." if on_run else f"Reply [[DONE]] as soon as {until}."
    return Repetition(f"{task.rstrip('.')}. {sentence}", runs, every, "[[DONE]]")


def _pace(found: "re.Match[str]") -> float:
    if not found["unit"]:
        return 0.0
    amount = 3.0 if found["few"] else _number(found["amount"] or "1")
    return amount * _UNITS[found["unit"][0].lower()]


def _number(word: str) -> float:
    word = word.lower()
    return float(CARDINALS.index(word) + 1) if word in CARDINALS else float(word.replace(",", "."))


def _count(word: str) -> int:
    return int(_number(word.rstrip("stndrh") if word[0].isdecimal() else word))
