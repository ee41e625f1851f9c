"""Reads that pages with many loops need, each in a number of queries that does not grow with them; writes nothing.

Whether the reader may see the agents is asked before: these functions are handed rows or ids that may be seen.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Substr

from executions.models import Execution, Trajectory, Verdict
from loops.models import IS_ACTIVE, Loop
from trinity.kernel.text import first_line

TITLE_CHARACTERS = 400  # enough of a message for its first line
PREVIEW_CHARACTERS = 500
_PEOPLE = ("agent", "started_by", "source_agent", "stop_requested_by", "stop_requested_by_agent")
_LONG = ("message", "last_response", "allowed_tools")


def slim(loops: QuerySet[Loop]) -> QuerySet[Loop]:
    """Without the long texts, and with the beginning of the message for the title."""
    beginning = Substr("message", 1, TITLE_CHARACTERS)
    return loops.defer(None).defer(*_LONG).annotate(message_start=beginning).select_related(*_PEOPLE)


def title_of(loop: Loop) -> str:
    """The first line of its message, whether or not the row was loaded slim."""
    return first_line(getattr(loop, "message_start", None) or loop.message) or "untitled"


def newest(loops: QuerySet[Loop], limit: int) -> list[Loop]:
    """The `limit` newest and every active one besides, most recent first, slim."""
    return list(slim(loops).filter(Q(pk__in=_newest_ids(loops, limit)) | IS_ACTIVE).order_by("-created_at", "-id"))


def _newest_ids(loops: QuerySet[Loop], limit: int) -> list[str]:
    return list(loops.order_by("-created_at", "-id").values_list("pk", flat=True)[:limit])


@dataclass(slots=True)
class Insides:
    """What opened loops hold besides their own rows."""

    loops: dict[str, Loop] = field(default_factory=dict)
    runs: dict[str, list[Execution]] = field(default_factory=lambda: defaultdict(list))  # by loop, ascending
    verdicts: dict[str, list[Verdict]] = field(default_factory=lambda: defaultdict(list))  # by execution
    replies: dict[str, str] = field(default_factory=dict)  # whole responses, by execution
    trajectories: dict[str, Trajectory] = field(default_factory=dict)


def insides_of(loop_ids: Iterable[str], opened_runs: Iterable[str]) -> Insides:
    """Everything of these loops, previews instead of responses; whole responses of the opened runs and of the runs
    before them. Five queries, however many loops and runs."""
    ids = list(loop_ids)
    found = Insides()
    if not ids:
        return found
    loops = Loop.objects.filter(pk__in=ids).select_related(*_PEOPLE)
    found.loops = {loop.pk: loop for loop in loops}
    for execution in _runs(ids):
        found.runs[execution.loop_id].append(execution)
    _read_details(found, set(opened_runs))
    return found


def _runs(loop_ids: Sequence[str]) -> QuerySet[Execution]:
    return (
        Execution.objects.filter(run__loop__in=loop_ids)
        .defer("prompt", "response", "error", "allowed_tools")
        .annotate(
            preview=Substr("response", 1, PREVIEW_CHARACTERS),
            error_start=Substr("error", 1, PREVIEW_CHARACTERS),
            number=F("run__run_number"),
        )
        .order_by("run__loop", "run__run_number")
    )


def _read_details(found: Insides, opened: set[str]) -> None:
    runs = [one for row in found.runs.values() for one in row]
    for verdict in Verdict.objects.filter(execution__in=[one.pk for one in runs]):
        found.verdicts[verdict.execution_id].append(verdict)
    shown = [one for one in runs if one.pk in opened]
    if not shown:
        return
    wanted = {one.pk for one in shown} | {
        before.pk for one in shown if (before := run_before(one, found.runs[one.loop_id])) is not None
    }
    found.replies = dict(Execution.objects.filter(pk__in=wanted).values_list("pk", "response"))
    trajectories = Trajectory.objects.filter(execution__in=[one.pk for one in shown])
    found.trajectories = {one.execution_id: one for one in trajectories}


def run_before(execution: Execution, runs: Sequence[Execution]) -> Execution | None:
    """The nearest earlier run of the loop that replied something."""
    earlier = [one for one in runs if (one.run_number or 0) < (execution.run_number or 0) and one.preview]  # type: ignore[attr-defined]
    return earlier[-1] if earlier else None
