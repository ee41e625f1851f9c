"""Events of loops as they were written by any process, in the order of their rows; for sockets only, moves nothing."""

from executions.models import Execution
from loops.models import LoopEvent
from loops.record import live_body, live_event
from loops.vocabulary import EventKind
from trinity.kernel.live import LiveEvent

BATCH = 500


def newest_event_id() -> int:
    """Where a tail begins."""
    return LoopEvent.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def events_after(event_id: int) -> tuple[int, list[LiveEvent]]:
    """The events after this one, and the id of the last. On SQLite writers come one after another, so no row with
    a smaller id can appear later."""
    rows = list(LoopEvent.objects.filter(pk__gt=event_id).select_related("loop__agent").order_by("pk")[:BATCH])
    if not rows:
        return event_id, []
    ids = [found for row in rows if (found := row.facts.get("execution_id"))]
    executions = Execution.objects.defer("prompt", "response", "error").in_bulk(ids)
    return rows[-1].pk, [_event(row, executions.get(row.facts.get("execution_id", ""))) for row in rows]


def _event(row: LoopEvent, execution: Execution | None) -> LiveEvent:
    body = live_body(row.loop, row.loop.agent.name, EventKind(row.kind), execution, row.at)
    return live_event(row.loop, body | {"version": row.sequence})
