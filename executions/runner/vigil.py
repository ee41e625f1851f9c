"""Watches over one agent until nothing of its tree is left; keeps the time, ends it, writes no outcome.

It sleeps in one poll with an exact timeout: while the agent is silent, nothing wakes it but a look at the
folder.
"""

import math
import os
import select
import signal
import time

from executions.runner import tree
from executions.runner.alarm import Alarm
from executions.runner.answer import AnswerWatch
from executions.runner.output import Output
from executions.runner.spec import Spec
from executions.runner.vocabulary import EndedBy

FOLDER_LOOK_SECONDS = 2.0
MEASURE_SECONDS = 0.25  # how often memory and processes are looked at, where they have a limit
LAST_WORDS_SECONDS = 1.0  # what the agent left behind may go on printing this long
LEFTOVER_SECONDS = 0.1  # and this long when it holds no output: time to end by itself
KILL_ROUND_SECONDS = 0.1
GIVE_UP_SECONDS = 10.0  # what outlives KILL this long (another account's, or stuck in the kernel) is only counted


class Vigil:
    """One agent from its start to the end of its tree. Its facts are complete when `keep()` returns."""

    def __init__(
        self, agent: int, spec: Spec, outputs: list[Output], *, answer: AnswerWatch, alarm: Alarm, lock: int
    ) -> None:
        now = time.monotonic()
        self.ended_by: EndedBy | None = None
        self.status: int | None = None  # as wait tells it; None while the agent lives
        self.killed: set[int] = set()  # beside the agent itself
        self.is_alone = False  # nothing descends from us any more
        self._agent = agent
        self._spec = spec
        self._outputs = {output.pipe: output for output in outputs}
        self._answer = answer
        self._alarm = alarm
        self._lock = lock
        self._deadline = now + spec.timeout_seconds
        self._look_at = now + FOLDER_LOOK_SECONDS
        self._measure_at = now if spec.memory_bytes or spec.processes else math.inf
        self._steps: list[signal.Signals] = []
        self._act_at = math.inf  # the next step against the agent, or the next round against what it left
        self._give_up_at = math.inf
        self._poll = select.poll()
        for fd in (alarm.fd, *self._outputs):
            self._poll.register(fd, select.POLLIN)

    def keep(self) -> None:
        """Return when the whole tree is gone, or outlived KILL for too long."""
        while not self.is_alone and time.monotonic() < self._give_up_at:
            self._wait()
            self._reap()
            if self.status is None:
                self._watch_agent(time.monotonic())
            elif not self.is_alone:
                self._clear_leftovers(time.monotonic())

    def _wait(self) -> None:
        seconds = max(0.0, self._wake_at() - time.monotonic())
        for fd, _ in self._poll.poll(math.ceil(seconds * 1000)):
            if fd == self._alarm.fd:
                self._alarm.silence()
                continue
            output = self._outputs[fd]
            output.drain()
            if not output.is_open:
                self._poll.unregister(fd)

    def _wake_at(self) -> float:
        if self.ended_by is None and self.status is None:
            return min(self._deadline, self._look_at, self._measure_at, self._answer_holds_at())
        return min(self._act_at, self._give_up_at)

    def _answer_holds_at(self) -> float:
        """When the final object that stands there is taken for the end."""
        final_at = self._answer.final_at
        return math.inf if final_at is None else min(final_at + self._spec.linger_seconds, self._deadline)

    def _reap(self) -> None:
        """Collect the agent, and every orphan that fell to us; no child left means no descendant left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.is_alone = True
                return
            if pid == 0:
                return
            if pid == self._agent:
                self.status = status
                now = time.monotonic()
                self._act_at = now + LAST_WORDS_SECONDS
                self._give_up_at = now + LAST_WORDS_SECONDS + GIVE_UP_SECONDS

    def _watch_agent(self, now: float) -> None:
        if self.ended_by is None:
            self.ended_by = self._reason_to_end(now)
            if self.ended_by is None:
                return
            self._steps = self._steps_for(self.ended_by)
            self._act_at = now
        if now >= self._act_at:
            self._take_step(now)

    def _reason_to_end(self, now: float) -> EndedBy | None:
        if self._alarm.end_requested:
            return EndedBy.REQUEST
        if now >= self._look_at:
            self._look_at = now + FOLDER_LOOK_SECONDS
            if os.fstat(self._lock).st_nlink == 0:
                return EndedBy.FOLDER_GONE
        if now >= self._measure_at and (limit := self._limit_passed()) is not None:
            return limit
        if now >= self._answer_holds_at():  # before the deadline: the answer came in time
            return EndedBy.ANSWERED
        return EndedBy.DEADLINE if now >= self._deadline else None

    def _limit_passed(self) -> EndedBy | None:
        processes, memory_bytes = tree.usage(self._spec.memory_bytes)
        self._measure_at = time.monotonic() + MEASURE_SECONDS
        if memory_bytes > self._spec.memory_bytes > 0:
            return EndedBy.MEMORY
        return EndedBy.PROCESSES if processes > self._spec.processes > 0 else None

    def _steps_for(self, reason: EndedBy) -> list[signal.Signals]:
        if reason in (EndedBy.MEMORY, EndedBy.PROCESSES):
            return [signal.SIGKILL]  # asked to end by itself, it would go on taking meanwhile
        interrupt = self._spec.interrupt_first and reason is not EndedBy.ANSWERED
        return [*([signal.SIGINT] if interrupt else []), signal.SIGTERM, signal.SIGKILL]

    def _take_step(self, now: float) -> None:
        step = self._steps[0]
        if step is signal.SIGKILL:  # stays the last step, again and again: what is killed may have forked
            self._act_at = now + KILL_ROUND_SECONDS
            self._give_up_at = min(self._give_up_at, now + GIVE_UP_SECONDS)
            self._kill_all()
            return
        self._steps.pop(0)
        self._act_at = now + self._spec.grace_seconds
        if step is signal.SIGINT:
            # To its group, as Ctrl-C does: a script around the agent must not keep it from the agent
            if self._spec.wrapped:
                tree.signal_group(self._agent, step)
            else:
                os.killpg(self._agent, step)
        else:
            tree.signal_descendants(step, but=self._agent if self._spec.wrapped else None)
        os.kill(self._agent, signal.SIGCONT)  # stopped, it could not answer

    def _clear_leftovers(self, now: float) -> None:
        if not any(output.is_open for output in self._outputs.values()):
            self._act_at = min(self._act_at, now + LEFTOVER_SECONDS)
        if now >= self._act_at:
            self._act_at = now + KILL_ROUND_SECONDS
            self._kill_all()

    def _kill_all(self) -> None:
        if self.ended_by is EndedBy.PROCESSES:
            tree.freeze_descendants()
        self.killed |= tree.signal_descendants(signal.SIGKILL) - {self._agent}
