"""Writes of loops: start, carry on, stop, and the two repairs of the sweep; compares no limit itself."""

import datetime as dt

from django.db.models import Q

from accounts.services import audit, audit_line
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents.models import Agent
from agents.vocabulary import AgentStatus
from executions.models import Execution
from executions.repairing import each_apart
from executions.requests import agent_not_running
from executions.services import queue_execution, withdraw
from executions.step import AgentStep, agent_step, step_within
from executions.vocabulary import ExecutionStatus, Trigger
from loops import hooks
from loops.decisions import Decision, End, Park, Start, before_run
from loops.models import IS_ACTIVE, Loop, Run
from loops.parameters import LoopParameters, check_against_agent
from loops.prompts import render
from loops.record import LoopRecord, record_in, record_of
from loops.vocabulary import EventKind, StopAnswer
from trinity.kernel import rows


def start_loop(viewer: Viewer, agent: Agent, asked: LoopParameters, *, room_id: str = "") -> Loop:
    """Make a loop with its first run queued. Refused when the agent is not running or a limit is above its own."""
    with agent_step(agent.pk) as step:
        return start_loop_in(step, viewer, asked, room_id=room_id)


def start_loop_in(step: AgentStep, viewer: Viewer, asked: LoopParameters, *, room_id: str = "") -> Loop:
    """The same within a step that is open, so that a door can store its answer with the loop.

    What a running agent starts belongs to the room that its own execution belongs to, if any.
    """
    agent = step.agent
    room_id = room_id or _room_of(viewer)
    columns = check_against_agent(asked, agent)
    if not agent.running:
        raise agent_not_running(agent)
    loop = Loop(
        agent=agent,
        created_at=step.now,
        started_by=viewer.user,
        started_by_key_id=viewer.key_id,
        source_agent_id=viewer.agent_id,
        room_id=room_id,
        **columns,
    )
    record = record_in(step, loop)  # which inserts it at the end of the step
    record.happened(EventKind.LOOP_STARTED, by=viewer.caller)
    _queue_run(record, 1)
    step.changes.append(rows.insertion(audit_line(AuditAction.LOOP_STARTED, f"loop:{loop.pk}", by=viewer)))
    if room_id:
        for _, tell in hooks.started_in_room.entries():
            tell(step, viewer, loop)
    return loop


def _room_of(viewer: Viewer) -> str:
    if not viewer.execution_id:
        return ""
    return Execution.objects.filter(pk=viewer.execution_id).values_list("room_id", flat=True).first() or ""


def carry_on(record: LoopRecord, decision: Decision) -> None:
    """Do what the rules decided."""
    match decision:
        case Start(run_number):
            _queue_run(record, run_number)
        case Park():
            record.park(decision)
        case End():
            record.end(decision)


def _queue_run(record: LoopRecord, run_number: int) -> None:
    loop, step = record.loop, record.step
    execution = queue_execution(
        step,
        trigger=Trigger.LOOP,
        prompt=render(loop.message, run_number=run_number, previous_response=loop.last_response),
        timeout_seconds=loop.timeout_per_run,
        model=loop.model,
        allowed_tools=loop.allowed_tools,
        loop_id=loop.pk,
        run_number=run_number,
        room_id=loop.room_id,
        started_by_id=loop.started_by_id,
        started_by_key_id=loop.started_by_key_id,
        source_agent_id=loop.source_agent_id,
    )
    run = {"loop_id": loop.pk, "run_number": run_number, "execution_id": execution.pk}
    # One that was withdrawn in the step that made it never was a run.
    step.writers.append(lambda: [] if execution.ended else [rows.insertion_of(Run, [run])])


def request_stop(viewer: Viewer, loop: Loop) -> StopAnswer:
    """Ask the loop to stop; safe to repeat. A run in flight finishes, however long; without one it ends now."""
    if loop.ended:
        return StopAnswer.ALREADY_DONE
    with agent_step(loop.agent_id) as step:
        return _ask_to_stop(record_of(step, loop.pk), viewer)


def stop_loops_of(agent: Agent, viewer: Viewer) -> int:
    """Ask every active loop of an agent to stop, in the transaction that archives it and holds its lock.

    Returns how many there were.
    """
    with step_within(agent) as step:
        return _stop_all(step, viewer)


def _stop_all(step: AgentStep, viewer: Viewer) -> int:
    active = Loop.objects.filter(IS_ACTIVE, agent=step.agent).order_by("created_at", "id")
    answers = [_ask_to_stop(record_of(step, loop_id), viewer) for loop_id in active.values_list("pk", flat=True)]
    return len(answers)


def _ask_to_stop(record: LoopRecord, viewer: Viewer) -> StopAnswer:
    loop, step = record.loop, record.step
    if loop.ended:
        return StopAnswer.ALREADY_DONE
    if not loop.stop_requested:
        record.set(
            stop_requested_at=step.now,
            stop_requested_by_id=viewer.user.pk if viewer.user else None,
            stop_requested_by_agent_id=viewer.agent_id,
        )
        record.happened(EventKind.LOOP_STOP_REQUESTED, by=viewer.caller)
        audit(AuditAction.LOOP_STOP_REQUESTED, f"loop:{loop.pk}", by=viewer)
    _end_if_nothing_is_in_flight(record)
    return StopAnswer.STOPPING


def _end_if_nothing_is_in_flight(record: LoopRecord) -> bool:
    runs = record.loop.runs.select_related("execution").defer("execution__prompt", "execution__response")
    newest = runs.order_by("-run_number").first()  # by loop_id, SQLite would read every execution there is
    waiting = newest.execution if newest and not newest.execution.ended else None
    if waiting is not None and waiting.in_flight:
        return False
    return end_waiting(record, waiting)


def end_waiting(record: LoopRecord, waiting: Execution | None) -> bool:
    """Ask rules 5–7 of a loop that is parked or has a `waiting` run, and end it if one says so."""
    decision = before_run(record.loop.facts(record.step.now))
    if not isinstance(decision, End):
        return False
    if waiting is not None:
        take_back_run(waiting)
        withdraw(record.step, waiting)
    record.end(decision)
    return True


def take_back_run(execution: Execution) -> None:
    """A run that has not begun is not in `runs[]`; its execution stays (section 2)."""
    Run.objects.filter(execution=execution).delete()


# --- repairs: what the sweep finds due -------------------------------------------------------------------


def end_due_parks(now: dt.datetime, limit: int) -> int:
    """Wake loops whose park is over: their guardrails are asked again, then the next run is queued (rule 8).

    The parks of a stopped agent stay until it is started again, or a deadline ends the loop.
    """
    agent_runs = Q(agent__status=AgentStatus.RUNNING, agent__archived_at=None)
    due = Loop.objects.filter(agent_runs | Q(deadline_at__lte=now), next_run_at__lte=now)
    return each_apart(due.order_by("next_run_at").values_list("pk", "agent_id")[:limit], _end_park)


def _end_park(loop_id: str, agent_id: int) -> bool:
    with agent_step(agent_id) as step:
        record = record_of(step, loop_id)
        loop = record.loop
        if loop.next_run_at is None or loop.next_run_at > step.now:
            return False  # another sweep was faster, or the loop ended
        decision = before_run(loop.facts(step.now))
        if isinstance(decision, Start):
            if not step.agent.running:
                return False
            record.happened(EventKind.LOOP_RUN_WAITING, run_number=decision.run_number)
        record.set(next_run_at=None)
        carry_on(record, decision)
    return True


def end_overdue_waits(now: dt.datetime, limit: int) -> int:
    """End loops whose deadline passed while their next run waited for a slot or for the model."""
    in_flight = Execution.objects.filter(status=ExecutionStatus.RUNNING).exclude(loop_id="").values("loop_id")
    overdue = (
        Loop.objects.filter(IS_ACTIVE, deadline_at__lte=now, next_run_at=None)
        .exclude(pk__in=in_flight)
        .order_by("deadline_at")
        .values_list("pk", "agent_id")[:limit]
    )
    return each_apart(overdue, _end_overdue)


def _end_overdue(loop_id: str, agent_id: int) -> bool:
    with agent_step(agent_id) as step:
        record = record_of(step, loop_id)
        return not record.loop.ended and _end_if_nothing_is_in_flight(record)
