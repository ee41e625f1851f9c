"""How many executions of each category there were, and what they cost, per hour or day (UTC); writes nothing."""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import TruncDay, TruncHour

from executions.models import Execution
from executions.vocabulary import CATEGORY_OF, Category, Trigger


class Span(StrEnum):
    """How wide one bar is."""

    HOUR = "hour"
    DAY = "day"


BARS = {Span.HOUR: 48, Span.DAY: 30}
_WIDTH = {Span.HOUR: dt.timedelta(hours=1), Span.DAY: dt.timedelta(days=1)}


@dataclass(slots=True)
class Bucket:
    """One hour or day."""

    begins: dt.datetime
    counts: dict[Category, int] = field(default_factory=lambda: defaultdict(int))
    spent_nano: int = 0

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def timeline(executions: QuerySet[Execution], now: dt.datetime, span: Span, bars: int = 0) -> list[Bucket]:
    """The last buckets up to `now`, oldest first, empty ones included; one query."""
    last = now.astimezone(dt.UTC).replace(minute=0, second=0, microsecond=0)
    if span is Span.DAY:
        last = last.replace(hour=0)
    count = bars or BARS[span]
    buckets = {begins: Bucket(begins) for begins in _begins(last, span, count)}
    for begins, trigger, number, spent in _counted(executions, min(buckets), span):
        bucket = buckets.get(begins)
        if bucket is not None:
            bucket.counts[CATEGORY_OF[Trigger(trigger)]] += number
            bucket.spent_nano += spent or 0
    return list(buckets.values())


def _begins(last: dt.datetime, span: Span, count: int) -> list[dt.datetime]:
    return [last - _WIDTH[span] * back for back in range(count - 1, -1, -1)]


def _counted(
    executions: QuerySet[Execution], since: dt.datetime, span: Span
) -> Sequence[tuple[dt.datetime, str, int, int | None]]:
    trunc = TruncHour if span is Span.HOUR else TruncDay
    return list(
        executions.filter(queued_at__gte=since)
        .order_by()
        .annotate(begins=trunc("queued_at", tzinfo=dt.UTC))
        .values_list("begins", "trigger")
        .annotate(number=Count("pk"), spent=Sum("cost_nano"))
    )
