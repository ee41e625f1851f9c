"""An agent without a model that summarises one text per run, until its `inbox/` is empty.

Run it with the agent's workspace as the working folder and the prompt on stdin; it prints stream-json. Each
run takes the oldest text, writes `outbox/NAME.summary.md`, moves the text to `done/` and says so; the run
that finds nothing replies `[[DONE]]`. What cannot be summarised goes to `failed/` with a `.reason.txt`, and
the run still succeeds, so a loop always drains the folder. All that it takes from the prompt is a length,
such as "in one sentence". It may not touch anything outside its four folders.
"""

import argparse
import os
import re
import time
from pathlib import Path

import inbox_folder as folder
from claude_events import FAILED, Speaker, number_between, pause, read_prompt, run
from inbox_folder import FoldersUnusable, Held
from plain_text import Unusable, characters
from summary import Summary, summarise

_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LENGTHS = {word: number for number, word in enumerate(_NUMBER_WORDS, start=1)}
PAUSES = 4  # before reading, writing, moving and replying
MOST_ECHOED = 2_000  # characters of a text that its tool result repeats


class InboxRun:
    """One run: at most one text, step by step."""

    def __init__(self, speaker: Speaker, *, seconds: float, patience: float, length: int | None) -> None:
        self.speaker = speaker
        self.seconds = seconds
        self.patience = patience
        self.length = length

    def reply(self) -> str:
        """Do the work of this run and say what was done."""
        folder.prepare()
        held = self._next()
        if held is None:
            return _nothing_taken()
        try:
            text, notes = self._read(held)
        except Unusable as problem:
            return self._put_aside(held, str(problem))
        name, written = folder.place_for(held)
        if written is not None:
            return self._finish(held, name, written)
        self._take_time()
        summary = summarise(text, keep=self.length)
        name, target = self._write(held, summary, notes)
        kept = f"kept {len(summary.sentences)} of {summary.sentences_in} sentences"
        words = _words(summary.words_in, summary.words_out)
        did = f"Summarised {_shown(held.name)}: {words}, {kept}, in {_shown(str(target))}."
        return self._move(held, name, " ".join([did, *notes]))

    def _next(self) -> Held | None:
        """The oldest text that no other run has in hand; waits a while for texts that another has."""
        self._step("looking into inbox/")
        call = self.speaker.call("List", {"path": str(folder.INBOX)})
        until = time.monotonic() + self.patience
        while names := folder.waiting():
            held = next((held for held in map(folder.take, names) if held is not None), None)
            if held is not None:
                self.speaker.answer(call, f"{_texts(len(names))}; the next one is {held.name!a}")
                return held
            if time.monotonic() >= until:
                break
            pause(0.1)
        self.speaker.answer(call, f"{_texts(len(names))} to be had" if names else "empty")
        return None

    def _read(self, held: Held) -> tuple[str, list[str]]:
        """The text, and what must be said about how it was read. Raises Unusable."""
        self._take_time()
        self._step(f"reading {_shown(held.name)}")
        call = self.speaker.call("Read", {"file_path": _path(held.path)})
        try:
            text, notes = _characters(held)
        except Unusable as problem:
            self.speaker.answer(call, f"It {problem}.", is_error=True)
            raise
        rest = len(text) - MOST_ECHOED
        self.speaker.answer(call, text[:MOST_ECHOED] + (f"\n… and {rest} characters more" if rest > 0 else ""))
        return text, notes

    def _write(self, held: Held, summary: Summary, notes: list[str]) -> tuple[str, Path]:
        body = as_markdown(held.name, summary, notes)
        self._step(f"writing the summary of {_shown(held.name)}")
        planned = folder.summary_path(folder.place_for(held)[0])
        call = self.speaker.call("Write", {"file_path": _path(planned), "content": body})
        facts = {"words_in": summary.words_in, "words_out": summary.words_out}
        name, target = folder.write_summary(held, body, **facts)
        self.speaker.answer(call, f"{_path(target)} written")
        self._take_time()
        return name, target

    def _finish(self, held: Held, name: str, written: dict[str, object]) -> str:
        """An earlier run was ended between the summary and the move; the summary stands as it is."""
        words = _words(written.get("words_in"), written.get("words_out"))
        target = folder.summary_path(name)
        did = f"Finished {_shown(held.name)}, whose summary an earlier run had written"
        return self._move(held, name, f"{did}: {words}, in {_shown(str(target))}.")

    def _move(self, held: Held, name: str, did: str) -> str:
        self._step(f"moving {_shown(held.name)} to done/")
        target = folder.DONE / name
        call = self.speaker.call("Move", {"source": _path(held.path), "destination": _path(target)})
        if folder.move_to_done(held, name) is None:
            self.speaker.answer(call, "The text has changed since it was read.", is_error=True)
            kept = f"{_shown(held.name)} changed while it was read, so it stays for a later run."
            return f"{kept} {_left()}"
        self.speaker.answer(call, f"moved to {_path(target)}")
        self._take_time()
        return f"{did} {_left()}"

    def _put_aside(self, held: Held, reason: str) -> str:
        self._step(f"putting {_shown(held.name)} aside")
        call = self.speaker.call("Move", {"source": _path(held.path), "destination": f"{folder.FAILED}/"})
        target = folder.move_to_failed(held, reason)
        if target is None:
            self.speaker.answer(call, "It is gone.", is_error=True)
            return f"{_shown(held.name)} was taken away before it could be put aside. {_left()}"
        self.speaker.answer(call, f"moved to {_path(target)}, the reason beside it")
        self._take_time()
        return f"{_shown(held.name)} {reason}. It is in failed/ now, with the reason beside it. {_left()}"

    def _step(self, doing: str) -> None:
        self.speaker.new_step()
        self.speaker.doing = doing

    def _take_time(self) -> None:
        pause(self.seconds / PAUSES)


def _characters(held: Held) -> tuple[str, list[str]]:
    if held.problem:
        raise Unusable(held.problem)
    return characters(held.content, size=held.size)


def as_markdown(name: str, summary: Summary, notes: list[str]) -> str:
    """What stands in `outbox/`."""
    title = summary.title or Path(_readable(name)).stem.replace("-", " ").replace("_", " ")
    kept = f"{len(summary.sentences)} of {summary.sentences_in} sentences"
    lines = [f"# {title}", "", f"{_shown(name)} · {_words(summary.words_in, summary.words_out)} · {kept}", ""]
    lines += [f"*{note}*\n" for note in notes]
    lines += [f"- {sentence}" for sentence in summary.sentences]
    if summary.key_terms:
        lines += ["", f"Key terms: {', '.join(summary.key_terms)}"]
    return "\n".join(lines) + "\n"


def wanted_length(prompt: str) -> int | None:
    """How many sentences the prompt asks for, 1 to 9; None when it does not say."""
    found = re.search(r"\bin (?:just |only )?(\d|[a-z]+) sentences?\b", prompt.lower())
    if found is None:
        return None
    return LENGTHS.get(found[1]) or (int(found[1]) if found[1].isdecimal() and found[1] != "0" else None)


def _nothing_taken() -> str:
    names = folder.waiting()
    if names:
        return f"Nothing taken: other runs have {_texts(len(names))} of inbox/ in hand."
    summed = f"[[DONE]] Nothing is left in inbox/. done/ has {_texts(folder.count(folder.DONE))}"
    summed += f", failed/ has {_texts(failed)}." if (failed := folder.count(folder.FAILED)) else "."
    alone = folder.left_alone()
    if alone:
        some = ", ".join(_shown(name) for name in alone[:5]) + (" …" if len(alone) > 5 else "")
        summed += f" Folders, hidden and unfinished files are left alone: {some}."
    return summed


def _left() -> str:
    left = len(folder.waiting())
    return f"{_texts(left)} left." if left else "No text left."


def _texts(number: int) -> str:
    return "1 text" if number == 1 else f"{number} texts"


def _words(before: object, after: object) -> str:
    return f"{before} words → {after} words"


def _readable(name: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]", "�", os.fsencode(name).decode("utf-8", "replace"))


def _shown(name: str) -> str:
    """A name as it may stand in a reply: a file called `[[DONE]].txt` must not end the loop."""
    plain = re.sub(r"\[{2,}", "[", _readable(name)).replace("`", "'")
    return f"`{plain[:120]}`"


def _path(path: Path) -> str:
    return _readable(str(path))


def main() -> None:
    """Read the options and the prompt, carry out one run, print its result line."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument(
        "--seconds", type=number_between(0, 86_400), default=0.0, help="time to take, spread over the steps"
    )
    options.add_argument(
        "--hourly-rate", type=number_between(0, 1e6), default=36.0, help="dollars an hour of its own time"
    )
    options.add_argument(
        "--patience", type=number_between(0, 86_400), default=20.0, help="seconds to wait for other runs"
    )
    chosen = options.parse_args()
    speaker = Speaker(model="inbox-agent", tools=["List", "Read", "Write", "Move"], hourly_rate=chosen.hourly_rate)

    def work(speaker: Speaker) -> int:
        length = wanted_length(read_prompt())
        speaker.open()
        try:
            reply = InboxRun(speaker, seconds=chosen.seconds, patience=chosen.patience, length=length).reply()
        except FoldersUnusable as problem:
            speaker.close(str(problem), is_error=True, subtype=FAILED)
            return 1
        speaker.new_step()
        speaker.say(reply)
        speaker.close(reply)
        return 0

    run(speaker, work)


if __name__ == "__main__":
    main()
