"""An agent without a model that shows, on demand, each ending that a loop can have; it does no work of use.

The words in the prompt say what happens, several may stand in one sentence, and numbers may be words:

    say a number · say the same · say nothing · end without an answer
    count to 10 and reply [[DONE]] · say [[DONE]] on run 3 · done on run 3
    fail · fail twice · fail on run 2 · fail on runs 2 and 4 · fail every third run · fail until run 4
    crash · hang · hang after the answer · ignore signals
    cost 0.40 · cost 40 cents · unknown cost · take 5 seconds · slow
    repeat bash 5 times · repeat a tool five times with different arguments · alternate two tools 4 times
    refuse Bash and Write · rate limit for 30 seconds · overloaded for 10 seconds
    show markdown · show hostile · show huge · show right-to-left · shout · commit
    do this 3 times: … · every 2 minutes until …, at most 5: … (in a chat; it starts a loop)

Anything may be bound to runs: "cost 5 on run 3", "crash on the second run", "on run 2 say nothing". What
comes of each in a loop stands in `docs/practice.md`. The run is `TRINITY_RUN_NUMBER`; outside a loop the
calls of one prompt are counted in `.practice.json`. It may touch nothing outside its working folder.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import shlex
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import practice_asking
import practice_commit
import practice_memory
import practice_replies
from claude_events import FAILED, Speaker, number_between, pause, read_prompt, run
from practice_patterns import Kind
from practice_words import Deed, read_deeds

HANG_SECONDS = 7 * 86_400.0
AWAY = {
    Kind.RATE_LIMIT: (429, "rate_limit", "API Error: Request rejected (429) · rate limited"),
    Kind.OVERLOAD: (
        529,
        "overloaded",
        "API Error: 529 Overloaded. This is usually temporary.",
    ),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """Which call this is."""

    run: int
    key: str  # the loop, the execution or the prompt that the counting goes by
    in_loop: bool

    @property
    def name(self) -> str:
        return f"{'Run' if self.in_loop else 'Call'} {self.run}"


def find_turn(prompt: str, environment: dict[str, str]) -> Turn:
    """The run number of the loop; outside a loop, how often this prompt was asked in this folder."""
    loop, execution = environment.get("TRINITY_LOOP_ID", ""), environment.get("TRINITY_EXECUTION_ID", "")
    number = re.fullmatch(r"[1-9][0-9]{0,8}", environment.get("TRINITY_RUN_NUMBER", ""))
    prompt_key = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]
    if number is not None and (loop or not execution):
        return Turn(int(number[0]), loop or prompt_key, in_loop=True)
    return Turn(practice_memory.count_call(prompt_key, execution), execution or prompt_key, in_loop=False)


class PracticeRun:
    """One call: what holds on this run, carried out in the order in which it would happen to a real agent."""

    def __init__(self, speaker: Speaker, deeds: tuple[Deed, ...], turn: Turn) -> None:
        self.speaker = speaker
        self.turn = turn
        self.known = bool(deeds)
        self.deeds = {deed.kind: deed for deed in deeds if deed.when.holds(turn.run)}  # the last of a kind counts

    def perform(self) -> int:
        """Do it all; returns the exit code."""
        self._prepare()
        for kind in AWAY:
            if kind in self.deeds and self._is_away(self.deeds[kind]):
                return self._say_away(kind)
        notes = self._work()
        if Kind.CRASH in self.deeds:
            crash()
        if Kind.HANG in self.deeds:
            self._hang()
        if Kind.NO_RESULT in self.deeds:
            return 0
        if Kind.FAIL in self.deeds:
            reason = f"{self.turn.name} ended badly, because the prompt asked for it."
            self.speaker.close(reason, is_error=True, subtype=FAILED)
            return 1
        self._answer(notes)
        return 0

    def _prepare(self) -> None:
        if Kind.DEAF in self.deeds:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
        if Kind.COST in self.deeds:
            self.speaker.fixed_cost = self.deeds[Kind.COST].amount
        self.speaker.cost_known = Kind.COST_UNKNOWN not in self.deeds

    def _is_away(self, deed: Deed) -> bool:
        forget = None if self.turn.in_loop else deed.amount
        key = f"{deed.kind}:{self.turn.key}"
        return practice_memory.seconds_since_first(key, start_again_after=forget) < deed.amount

    def _say_away(self, kind: Kind) -> int:
        """What Claude Code prints when its model is away: a success by its subtype, an error by its flag."""
        status, error, text = AWAY[kind]
        error_type = f"{error}_error"
        self.speaker.model, self.speaker.fixed_cost = "<synthetic>", 0.0
        self.speaker.note("api_retry", attempt=1, max_retries=1, error_status=status, error=error)
        self.speaker.new_step()
        marks = {"error": error, "api_error_status": status, "api_error_type": error_type}
        self.speaker.say(text, is_api_error_message=True, **marks)
        self.speaker.close(
            text,
            is_error=True,
            api_error_status=status,
            api_error_type=error_type,
            terminal_reason="api_error",
        )
        return 1

    def _work(self) -> list[str]:
        """Everything that is done before the answer; returns what the answer says of it."""
        works: dict[Kind, Callable[[Deed], str]] = {
            Kind.SLOW: self._take_time,
            Kind.REPEAT: self._repeat,
            Kind.ALTERNATE: self._alternate,
            Kind.REFUSE: self._refuse,
            Kind.COMMIT: self._commit,
            Kind.SHOUT: self._shout,
        }
        return [note for kind, work in works.items() if kind in self.deeds and (note := work(self.deeds[kind]))]

    def _take_time(self, deed: Deed) -> str:
        self._step(f"taking {deed.amount:g} s")
        call = self.speaker.call("wait", {"seconds": deed.amount})
        pause(deed.amount)
        self.speaker.answer(call, "waited")
        return ""

    def _repeat(self, deed: Deed) -> str:
        """Calls that are printed and not carried out: what a grader sees of an agent that spins."""
        at_once = deed.manner.endswith(("once", "step", "parallel"))
        self._step("repeating a tool")
        for number in range(1, int(deed.amount) + 1):
            if number > 1 and not at_once:
                self._step("repeating a tool")
            self._show_call(deed.names[0], number if "different" in deed.manner else 1)
        return ""

    def _alternate(self, deed: Deed) -> str:
        for _ in range(int(deed.amount)):
            for tool in deed.names:
                self._step("alternating tools")
                self._show_call(tool, 1)
        return ""

    def _show_call(self, tool: str, number: int) -> None:
        self.speaker.answer(self.speaker.call(tool, {"command": f"echo practice {number}"}), f"practice {number}")

    def _refuse(self, deed: Deed) -> str:
        for tool in deed.names:
            self._step(f"being refused {tool}")
            call = self.speaker.call(tool, {"command": "touch practice"})
            self.speaker.deny(call, f"The prompt asked that {tool} be kept from this agent.")
        return f"Not allowed here: {', '.join(deed.names)}."

    def _shout(self, deed: Deed) -> str:
        self._step("printing a great deal")
        for _ in range(int(deed.amount * 16)):
            self.speaker.note("noise", text="HA " * 21_800)  # 64 KiB a line
        return f"Before this, {deed.amount:g} MB were printed."

    def _commit(self, _deed: Deed) -> str:
        self._step("committing")
        call = self.speaker.call("Bash", {"command": f"git commit {practice_commit.LOG}"})
        drawn = practice_replies.number_for(self.turn.key, self.turn.run)
        try:
            said = practice_commit.record(self.turn.name, drawn)
        except practice_commit.NotRecorded as problem:
            self.speaker.answer(call, str(problem), is_error=True)
            return f"Nothing was recorded: {problem}"
        self.speaker.answer(call, said)
        return f"Two lines more in {practice_commit.LOG}."

    def _hang(self) -> None:
        self._step("hanging")
        self.speaker.say("From here on nothing happens.")
        pause(HANG_SECONDS)

    def _answer(self, notes: list[str]) -> None:
        reply = " ".join([self._reply(), *notes]).strip()
        done = self.deeds.get(Kind.DONE)
        if done is not None:
            reply = f"{reply} {done.names[0]}".strip()
        self._step("answering")
        if reply:
            self.speaker.say(reply)
        self.speaker.close(reply)
        if Kind.HANG_AFTER in self.deeds:
            pause(HANG_SECONDS)

    def _reply(self) -> str:
        if Kind.NOTHING in self.deeds:
            return ""
        if Kind.SHOW in self.deeds:
            return practice_replies.shown(self.deeds[Kind.SHOW].names[0], self.turn.name)
        if Kind.SAME in self.deeds:
            return "This is what I always say."
        if Kind.COUNT in self.deeds:
            return self._count(self.deeds[Kind.COUNT])
        if not self.known:
            return practice_replies.HELP.format(turn=self.turn.name)
        return f"{self.turn.name}: my number is {practice_replies.number_for(self.turn.key, self.turn.run)}."

    def _count(self, deed: Deed) -> str:
        last = int(deed.amount)
        reply = f"Number {min(self.turn.run, last)} of {last}."
        return " ".join([reply, *deed.names]) if self.turn.run >= last else reply

    def _step(self, doing: str) -> None:
        self.speaker.new_step()
        self.speaker.doing = doing


def may_ask(environment: dict[str, str]) -> bool:
    """Whether there is a platform to ask for repetition; what a loop's run is asked to do is to be done, not asked."""
    return bool(environment.get("TRINITY_API_KEY")) and not environment.get("TRINITY_LOOP_ID")


def have_it_repeated(speaker: Speaker, repetition: practice_asking.Repetition) -> int:
    """Start a loop, and say so; a refusal is said in the platform's own words."""
    speaker.new_step()
    speaker.doing = "asking for repetition"
    call = speaker.call("Bash", {"command": shlex.join(repetition.command())})
    started, said = practice_asking.ask(repetition)
    speaker.answer(call, json.dumps(said), is_error=not started)
    speaker.new_step()
    runs = f"{repetition.max_runs} run{'' if repetition.max_runs == 1 else 's'}"
    pace = f", with {repetition.every_seconds:g} s between two" if repetition.every_seconds else ""
    until = f", or until the reply has {repetition.stop_signal}" if repetition.stop_signal else ""
    reply = (
        f"I have started a loop of at most {runs}{pace}{until}: {said.get('loop_id')}."
        if started
        else f"This is not repeated: {said.get('refused', 'nobody said why')}"
    )
    speaker.say(reply)
    speaker.close(reply)
    return 0


def crash() -> NoReturn:
    """End as a broken program does: by a signal, with a word on stderr and no result line."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.write(2, b"practice agent: this is the crash that was asked for\n")
    os.abort()


def main() -> None:
    """Read the prompt and show what it asks for."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument(
        "--hourly-rate", type=number_between(0, 1e6), default=36.0, help="dollars an hour of its own time"
    )
    chosen = options.parse_args()

    def work(speaker: Speaker) -> int:
        prompt = practice_asking.message_of(read_prompt())
        speaker.open()
        repetition = practice_asking.read_repetition(prompt) if may_ask(dict(os.environ)) else None
        if repetition is not None:
            return have_it_repeated(speaker, repetition)
        return PracticeRun(speaker, read_deeds(prompt), find_turn(prompt, dict(os.environ))).perform()

    tools = ["bash", "read", "wait", "Bash"]
    run(Speaker(model="practice-agent", tools=tools, hourly_rate=chosen.hourly_rate), work)


if __name__ == "__main__":
    main()
