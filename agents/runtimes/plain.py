"""Reads an agent that prints plain text: its stdout is the reply, its exit code says whether it succeeded."""

import re
from dataclasses import replace
from pathlib import Path

from agents.runtimes import endings
from agents.runtimes.base import Ending, ErrorKind, Outcome, Printed
from agents.runtimes.keeping import REPLY_CHARACTERS, kept_reply
from agents.runtimes.lines import parse

# As many bytes as the reply's characters can have at most: what is between is not read at all.
END_BYTES = 2 * REPLY_CHARACTERS
MARK_BYTES = 200

_MARK = re.compile(r"^\{[^\n]*\"truncated_bytes\"[^\n]*\}$", re.MULTILINE)


def read(printed: Printed) -> Outcome:
    """What came of the call; what was printed so far is the response however it ended."""
    judged = endings.forced_end(printed) or _own_end(printed)
    return replace(judged, response=_text(printed), notes=tuple(endings.cut_notes(printed)))


def _own_end(printed: Printed) -> Outcome:
    if printed.spool_error is not None:  # the reply is not whole
        return endings.end_without_answer(printed, expected="text")
    if printed.exit_code == 0:
        return Outcome(ending=Ending.COMPLETED)
    sentence = f"{endings.how_it_ended(printed)}.{endings.last_words(printed)}"
    return endings.failed(ErrorKind.CRASHED, sentence)


def _text(printed: Printed) -> str:
    text = _both_ends(printed.stdout)
    if printed.truncated_bytes:  # the runner's mark is for programs; a reader gets words
        text = _MARK.sub(_in_words, text, count=1)
    return kept_reply(text)


def _in_words(mark: re.Match[str]) -> str:
    facts = parse(mark[0])
    cut = facts.get("truncated_bytes") if isinstance(facts, dict) else None
    return f"[cut: {cut:,} bytes left out here]" if isinstance(cut, int) else mark[0]


def _both_ends(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size <= 2 * END_BYTES:
                return file.read().decode("utf-8", "replace")
            head = file.read(END_BYTES)
            file.seek(size - END_BYTES)
            tail = file.read(END_BYTES)
    except OSError:
        return ""
    between = f"\n[cut: {size - 2 * END_BYTES:,} bytes left out here]\n"
    return head.decode("utf-8", "replace") + between + tail.decode("utf-8", "replace")
