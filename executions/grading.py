"""Grades ended executions and keeps what the graders say; a step of its own, after the outcome stands (section 3)."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError

from agents.models import Agent
from executions import trajectory
from executions.models import Execution, Verdict
from executions.receivers import receiver_of
from executions.step import agent_step
from executions.telling import ExecutionEvent, tell
from graders.config import DEFAULT_GRADERS
from graders.grading import grade, summary
from graders.vocabulary import VerdictStatus
from trinity.kernel.errors import TrinityError
from trinity.kernel.text import clean

log = structlog.get_logger(__name__)
SUMMARY_CHARACTERS = 200


def graders_of(agent: Agent) -> list[dict[str, Any]]:
    """What grades the agent's executions: its own list, an empty one included, else the default (section 4)."""
    return DEFAULT_GRADERS if agent.graders is None else agent.graders


def grade_execution(execution_id: str) -> bool:
    """Judge an execution that is to be graded, and store the verdicts; False when there was nothing to do.

    The judging happens outside the transaction. Safe to call twice: the flag is taken down by a guarded update.
    """
    execution = Execution.objects.select_related("agent").filter(pk=execution_id, to_grade=True).first()
    if execution is None:
        return False
    results = judged(execution, graders_of(execution.agent))
    with agent_step(execution.agent_id) as step:
        if not Execution.objects.filter(pk=execution_id, to_grade=True).update(to_grade=False):
            return False
        Verdict.objects.bulk_create(
            _verdict(execution, position, result, step.now) for position, result in enumerate(results)
        )
        if results:
            receiver_of(execution).graded(step, execution)
            tell(step, execution, ExecutionEvent.EXECUTION_GRADED)
    return True


def judged(execution: Execution, graders: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The graders' results for one ended execution. What cannot be judged is an error result, never a pass."""
    try:
        results: list[dict[str, Any]] = grade(graders, trajectory.read(execution))["results"]
    except TrinityError as error:  # a list that was right when it was set, or a trajectory that cannot be read
        log.warning("an execution could not be graded", execution_id=execution.pk, why=str(error))
        results = [_not_graded(one, str(error)) for one in graders]
    return results


def grade_waiting(now: dt.datetime, limit: int) -> int:
    """What a worker that died between the outcome and its grading left over (a repair of the sweep)."""
    waiting = Execution.objects.filter(to_grade=True).order_by("pk").values_list("pk", flat=True)[:limit]
    return sum(_grade_waiting(execution_id) for execution_id in list(waiting))


def _grade_waiting(execution_id: str) -> bool:
    """One that cannot be graded does not stop the others."""
    try:
        return grade_execution(execution_id)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("an execution could not be graded; the others go on", execution_id=execution_id)
        return False


def _verdict(execution: Execution, position: int, result: Mapping[str, Any], at: dt.datetime) -> Verdict:
    return Verdict(
        execution=execution,
        position=position,
        type=result["type"],
        name=clean(result["name"] or "", SUMMARY_CHARACTERS),
        error=result["status"] != VerdictStatus.OK,
        passed=result["passed"],
        score=result["score"],
        summary=clean(summary(result), SUMMARY_CHARACTERS),
        evidence=clean(result["evidence"]),
        details=result["details"],
        at=at,
    )


def _not_graded(grader: Mapping[str, Any], why: str) -> dict[str, Any]:
    return {
        "type": str(grader.get("type", "")),
        "name": grader.get("name"),
        "status": VerdictStatus.ERROR,
        "passed": None,
        "score": None,
        "evidence": why,
        "details": {},
    }
