"""Does the same to the real services and to the model of them, and compares the two; chooses nothing itself."""

import datetime as dt
from typing import Any

from accounts.models import AuditEvent, User
from accounts.viewers import Viewer
from agents import services as agent_services
from agents.models import Agent
from agents.runtimes.base import Away, Ending, ErrorKind, Outcome
from executions.models import Execution
from executions.receivers import receiver_of
from executions.services import Claimant, settle, take, take_over
from executions.step import agent_step
from executions.vocabulary import LEGAL_MOVES as MOVES_OF_EXECUTIONS
from executions.vocabulary import ExecutionStatus
from loops.invariants import check_executions, check_loops
from loops.models import Loop, LoopEvent, Run
from loops.services import end_due_parks, end_overdue_waits, request_stop
from loops.vocabulary import LEGAL_MOVES as MOVES_OF_LOOPS
from tests.conftest import NOON
from tests.engine import queue_chat, start
from tests.journeys import engine_model as model
from trinity.kernel import clock
from trinity.kernel.errors import Refused

Claim = tuple[model.Call, Execution]
TICK = dt.timedelta(microseconds=1009)  # a prime: no two steps ever happen at the same moment, whatever the jumps


class EngineDriver:
    """One small world of agents and loops, from its making to its clearing away."""

    def __init__(self) -> None:
        self.engine = model.Engine(now=NOON)
        self.claims: list[Claim] = []  # all there ever were: a worker may come back late
        self._ends: dict[str, dict[str, Any]] = {}
        self._statuses: dict[str, str] = {}
        self._clock = clock.clock_from(lambda: self.engine.now)
        self._clock.__enter__()
        self.alice = Viewer(user=User.objects.get_or_create(username="alice")[0])

    def clear_away(self) -> None:
        self._clock.__exit__(None, None, None)
        for table in (LoopEvent, Run, Loop, Execution, AuditEvent, Agent):
            table.objects.all()._raw_delete(using="default")

    # --- people ---------------------------------------------------------------------------------------------

    def make_agent(self, slots: int) -> None:
        name = f"agent{len(self.engine.agents)}"
        settings = {"replies": [{"response": "x"}], "unavailable_patience_seconds": model.PATIENCE.total_seconds()}
        columns = {"runtime": "scripted", "runtime_settings": settings, "max_parallel_tasks": slots}
        Agent.objects.create(name=name, owner=self.alice.user, workspace="/", **columns)
        self.engine.agents.append(model.Agent(name, slots))

    def start(self, agent: model.Agent, asked: dict[str, Any]) -> None:
        try:
            loop = start(self._row(agent), self.alice, timeout_per_run=10, **asked)
        except Refused:
            assert not agent.admits
        else:
            assert agent.admits
            self.engine.start(model.loop_as_asked(loop.pk, agent, asked))
        self.tick()

    def call(self, agent: model.Agent) -> None:
        self.engine.queue(agent, alone=queue_chat(self._row(agent)).pk)
        self.tick()

    def stop(self, loop: model.Loop) -> None:
        answer = request_stop(self.alice, Loop.objects.get(pk=loop.pk))
        assert answer == ("already_done" if loop.ended else "stopping")
        self.engine.stop(loop)
        self.tick()

    def stop_or_start(self, agent: model.Agent) -> None:
        change = agent_services.stop_agent if agent.running else agent_services.start_agent
        change(self.alice, self._row(agent))
        agent.running = not agent.running

    def change_slots(self, agent: model.Agent, slots: int) -> None:
        agent_services.change_agent(self.alice, self._row(agent), {"max_parallel_tasks": slots})
        agent.slots = slots

    def archive(self, agent: model.Agent) -> None:
        agent_services.archive_agent(self.alice, self._row(agent))
        self.engine.archive(agent)
        self.tick()

    def _row(self, agent: model.Agent) -> Agent:
        return Agent.objects.get(name=agent.name)

    # --- workers --------------------------------------------------------------------------------------------

    @property
    def in_flight(self) -> list[Claim]:
        """The claims that hold."""
        return [
            (call, seen) for call, seen in self.claims if call.status == "running" and call.token == seen.claim_token
        ]

    def take(self, agent: model.Agent, worker: Claimant) -> Claim | None:
        return self._claimed(self.engine.take(agent), take(self._row(agent).pk, worker))

    def settle(self, claim: Claim, said: model.Said, worker: Claimant | None) -> Claim | None:
        call, seen = claim
        copy = Execution.objects.get(pk=seen.pk)  # as the worker remembers it, not as the last settlement left it
        copy.claim_token, copy.attempt, copy.away_since = seen.claim_token, seen.attempt, call.away_since
        copy.cost_nano = seen.cost_nano
        following = settle(copy, outcome_of(said), worker)
        if self.engine.settle(call, seen.claim_token, seen.attempt, said):
            self._read_wait(call, seen.pk)
        return self._claimed(self.engine.take_next(call.agent) if worker else None, following)

    def take_over(self, claim: Claim, worker: Claimant, *, only_late: bool) -> Claim | None:
        """In vain when the other worker was `only_late`, and renewed its lease after it was judged."""
        call, seen = claim
        execution = Execution.objects.get(pk=seen.pk)
        if only_late:
            later = execution.lease_until + dt.timedelta(seconds=30)  # type: ignore[operator]
            Execution.objects.filter(pk=execution.pk).update(lease_until=later)
        assert take_over(execution, worker) is not only_late
        if only_late:
            return None
        call.token = execution.claim_token
        self.claims.append((call, execution))
        return self.claims[-1]

    def _claimed(self, call: model.Call | None, execution: Execution | None) -> Claim | None:
        """The worker got what the model gives it."""
        assert (call and call.key) == (execution and key_of(execution))
        self.tick()
        if call is None or execution is None:
            return None
        assert execution.attempt == call.attempt
        call.token = execution.claim_token
        self.claims.append((call, execution))
        return self.claims[-1]

    def _read_wait(self, call: model.Call, pk: str) -> None:
        """How long exactly it waits is random; that it is within its bounds is not."""
        row = Execution.objects.get(pk=pk)
        assert call.not_before is not None
        assert row.not_before is not None
        assert self.engine.now < row.not_before <= call.not_before
        call.not_before = row.not_before

    # --- time and repairs -----------------------------------------------------------------------------------

    def tick(self) -> None:
        """A step was done: no two happen at the same moment, and each status moved as its table says."""
        self.engine.now += TICK
        for table, moves in ((Execution, MOVES_OF_EXECUTIONS), (Loop, MOVES_OF_LOOPS)):
            for pk, status in table.objects.order_by().values_list("pk", "status"):
                before = self._statuses.get(pk, status)
                # A run whose model is away is put back and, when a stop stands, withdrawn in the same step.
                at_once = (before, status) == (ExecutionStatus.RUNNING, ExecutionStatus.CANCELLED)
                assert status in {before, *moves[before]} or at_once, (pk, before, status)
                self._statuses[pk] = status

    def sweep(self) -> None:
        assert end_overdue_waits(self.engine.now, 100) == self.engine.end_overdue()
        while (loop := self.engine.next_due_park()) is not None:
            self.engine.end_park(loop)
            assert end_due_parks(self.engine.now, 1) == 1
            self.tick()
        assert end_due_parks(self.engine.now, 10) == 0

    def grade(self, claim: Claim) -> None:
        """A verdict raises the version of its loop, also of one that has ended."""
        execution = Execution.objects.get(pk=claim[1].pk)
        before = Loop.objects.get(pk=execution.loop_id).version
        with agent_step(execution.agent_id) as step:
            receiver_of(execution).graded(step, execution)
        assert Loop.objects.get(pk=execution.loop_id).version == before + 1

    # --- comparing ------------------------------------------------------------------------------------------

    def compare(self) -> None:
        assert check_loops([loop.pk for loop in self.engine.loops]) + check_executions() == []
        loops = Loop.objects.in_bulk()
        assert len(loops) == len(self.engine.loops)
        for loop in self.engine.loops:
            self._compare_loop(loop, loops[loop.pk])
        self._compare_calls({key_of(row): row for row in Execution.objects.all()})

    def _compare_loop(self, loop: model.Loop, row: Loop) -> None:
        assert (row.status, row.stop_reason) == (loop.status, loop.reason)
        assert (row.runs_completed, row.failed_runs) == (len(loop.history), loop.tolerated)
        assert (row.spent_nano, row.last_response) == (loop.spent, loop.replies[-1] if loop.replies else None)
        assert (row.next_run_at, row.deadline_at) == (loop.parked_until, loop.deadline)
        assert row.stop_requested == loop.stop_requested
        if loop.ended:  # an end is final: a verdict moves the version, and nothing else moves at all
            columns = {field.attname: getattr(row, field.attname) for field in Loop._meta.concrete_fields}
            del columns["version"]
            assert self._ends.setdefault(row.pk, columns) == columns

    def _compare_calls(self, rows: dict[tuple[str, int], Execution]) -> None:
        assert {key: row.status for key, row in rows.items()} == {call.key: call.status for call in self.engine.calls}
        for call in self.engine.calls:
            if call.said is not None:
                cost, reply = (call.late_cost, call.late_reply) if call.said.lost else (call.said.cost, call.said.reply)
                cost = (cost or 0) + call.in_vain if call.in_vain else cost
                assert (rows[call.key].cost_nano, rows[call.key].response) == (cost, reply)


def outcome_of(said: model.Said) -> Outcome:
    ending = {"completed": Ending.COMPLETED, "timed_out": Ending.TIMED_OUT}.get(said.status, Ending.FAILED)
    kind = {"failed": ErrorKind.AGENT_ERROR, "timed_out": ErrorKind.TIMEOUT, "lost": ErrorKind.LOST}.get(said.status)
    return Outcome(
        ending,
        response=said.reply,
        error_kind=ErrorKind.OVERLOADED if said.away else kind,
        error="" if said.ok else "it failed",
        cost_nano=said.cost,
        away=Away(ErrorKind.OVERLOADED) if said.away else None,
    )


def key_of(execution: Execution) -> tuple[str, int]:
    return (execution.loop_id, execution.run_number or 0) if execution.loop_id else (execution.pk, 0)
