"""Where the bars of a chart lie, in percent of its frame; geometry only, drawn by a template."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from executions.listing import category_class
from executions.timeline import Bucket, Span
from executions.vocabulary import Category
from trinity.kernel.money import dollars_text

HEIGHT = 96.0  # pixels of the tallest bar
BASE = 100.0  # where bars stand
LABELS = 6


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a bar."""

    css: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One bucket."""

    x: float
    width: float
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The bars, labels under some of them, the height of the tallest in words, and the same as a table."""

    bars: tuple[ChartBar, ...]
    labels: tuple[tuple[float, str], ...]
    top: str
    told: str
    legend: tuple[tuple[str, str], ...]
    table: tuple[tuple[str, str, str], ...]


def executions_chart(buckets: Sequence[Bucket], span: Span) -> Chart:
    """Executions by category, stacked in the order of the one list of categories."""
    most = max((bucket.total for bucket in buckets), default=0)
    seen = [one for one in Category if any(bucket.counts.get(one) for bucket in buckets)]
    return _chart(
        buckets,
        span,
        [_stack([(category_class(one), bucket.counts.get(one, 0)) for one in Category], most) for bucket in buckets],
        top=str(most),
        told=f"Executions per {span}, by category",
        legend=tuple((category_class(one), str(one)) for one in seen),
    )


def spend_chart(buckets: Sequence[Bucket], span: Span) -> Chart:
    """Dollars per bucket; what reported no cost counts as nothing."""
    most = max((bucket.spent_nano for bucket in buckets), default=0)
    return _chart(
        buckets,
        span,
        [_stack([("spend", bucket.spent_nano)], most) for bucket in buckets],
        top=dollars_text(most),
        told=f"Spend per {span}",
        legend=(),
    )


def _stack(amounts: Sequence[tuple[str, int]], most: int) -> tuple[Part, ...]:
    parts, y = [], BASE
    for css, amount in amounts:
        if amount:
            height = max(1.0, amount / most * HEIGHT)
            y -= height
            parts.append(Part(css, round(y, 2), round(height, 2)))
    return tuple(parts)


def _chart(
    buckets: Sequence[Bucket],
    span: Span,
    stacks: Sequence[tuple[Part, ...]],
    *,
    top: str,
    told: str,
    legend: tuple[tuple[str, str], ...],
) -> Chart:
    wide = 100 / max(1, len(buckets))
    bars = tuple(
        ChartBar(round(place * wide + wide * 0.1, 3), round(wide * 0.8, 3), _title(bucket, span), parts)
        for place, (bucket, parts) in enumerate(zip(buckets, stacks, strict=True))
    )
    step = max(1, len(buckets) // LABELS)
    labels = tuple(
        (round(place * wide, 3), _name(bucket.begins, span))
        for place, bucket in enumerate(buckets)
        if place % step == 0
    )
    table = tuple(
        (_name(bucket.begins, span), _counts(bucket), dollars_text(bucket.spent_nano or None))
        for bucket in reversed(buckets)
        if bucket.total
    )
    return Chart(bars, labels, top, told, legend, table)


def _name(begins: dt.datetime, span: Span) -> str:
    day = f"{begins.day} {begins:%b}"
    return day if span is Span.DAY else f"{day} {begins:%H}:00"


def _counts(bucket: Bucket) -> str:
    return ", ".join(f"{bucket.counts[one]} {one}" for one in Category if bucket.counts.get(one))


def _title(bucket: Bucket, span: Span) -> str:
    spent = dollars_text(bucket.spent_nano or None)
    return f"{_name(bucket.begins, span)} UTC: {_counts(bucket) or 'none'}; {spent}"
