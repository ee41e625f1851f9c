"""What an operator should look at: what went wrong since they last looked, what stands still; writes nothing."""

import datetime as dt
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet

from executions.models import Execution, Verdict
from executions.vocabulary import ExecutionStatus, WaitReason
from executions.waiting import Wait, waits_of
from loops.board import title_of
from loops.models import Loop
from loops.vocabulary import LoopStatus
from loops.words import loop_words
from trinity.kernel.durations import duration_text
from trinity.kernel.vocabulary import Tone

LONG_WAIT = dt.timedelta(minutes=10)
NO_WORKER_AFTER = dt.timedelta(seconds=30)
LEAST_DISK_BYTES = 1_000_000_000
MOST_OF_A_KIND = 5


@dataclass(frozen=True, slots=True)
class Link:
    """One thing to open."""

    kind: str  # loop or execution, as the addresses are named
    id: str
    words: str


@dataclass(frozen=True, slots=True)
class Concern:
    """One line of the list."""

    tone: Tone
    badge: str
    words: str
    links: tuple[Link, ...] = ()


def concerns(
    ended: Iterable[Loop], executions: QuerySet[Execution], *, since: dt.datetime, now: dt.datetime
) -> list[Concern]:
    """Worst first: `ended` are the loops that ended since then, `executions` all that may be seen."""
    found = [*_disk(), *_of_loops(ended), *_standing_still(executions, now), *_of_runs(executions, since)]
    return sorted(found, key=lambda one: one.tone is not Tone.BAD)


def _of_loops(ended: Iterable[Loop]) -> list[Concern]:
    by_tone: dict[Tone, list[Link]] = {Tone.BAD: [], Tone.WARN: []}
    for loop in ended:
        words = loop_words(loop.status, loop.stop_reason)
        if words.tone in by_tone and loop.status != LoopStatus.COMPLETED_WITH_ERRORS:  # it did all that it was to do
            by_tone[words.tone].append(Link("loop", loop.pk, f"{title_of(loop)} ({words.reason})"))
    badges = {Tone.BAD: "failed", Tone.WARN: "ended early"}
    return [_many(tone, badges[tone], "loop", links) for tone, links in by_tone.items() if links]


def _of_runs(executions: QuerySet[Execution], since: dt.datetime) -> list[Concern]:
    recent = executions.filter(ended_at__gt=since)
    spun = Verdict.objects.filter(at__gt=since, error=False, passed=False, execution__in=recent.values("pk"))
    verdicts = list(spun.order_by("-at").values_list("execution_id", "summary")[: MOST_OF_A_KIND + 1])
    refused = list(
        recent.exclude(permission_denials=[])
        .order_by("-ended_at")
        .values_list("pk", "permission_denials")[: MOST_OF_A_KIND + 1]
    )
    found = []
    if verdicts:
        links = [Link("execution", pk, summary) for pk, summary in verdicts]
        found.append(_many(Tone.WARN, "spun", "run", links))
    if refused:
        links = [Link("execution", pk, ", ".join(tools)) for pk, tools in refused]
        found.append(_many(Tone.WARN, "tools refused", "run", links))
    return found


def _standing_still(executions: QuerySet[Execution], now: dt.datetime) -> list[Concern]:
    waiting = list(
        executions.filter(status=ExecutionStatus.QUEUED, queued_at__lte=now - NO_WORKER_AFTER)
        .select_related("agent")
        .defer("prompt", "response", "error", "allowed_tools", "notes", "permission_denials")
        .order_by("queued_at")[:100]
    )
    waits = waits_of(waiting, now)
    orphaned = [one for one in waiting if waits[one.pk].reason is WaitReason.WORKER]
    found = []
    if orphaned:
        places = ", ".join(sorted({one.agent.place for one in orphaned}))
        words = f"{len(orphaned)} waiting, and no worker takes them: does one run at place {places}?"
        found.append(
            Concern(
                Tone.BAD,
                "no worker",
                words,
                tuple(_waiting(one, waits[one.pk], since=one.queued_at, now=now) for one in orphaned[:3]),
            )
        )
    away = [one for one in waiting if waits[one.pk].reason is WaitReason.MODEL]
    if away:
        links = [_waiting(one, waits[one.pk], since=one.away_since or one.queued_at, now=now) for one in away]
        found.append(_many(Tone.WARN, "model away", "run", links))
    slow = [one for one in waiting if one not in orphaned + away and now - one.queued_at >= LONG_WAIT]
    if slow:
        links = [_waiting(one, waits[one.pk], since=one.queued_at, now=now) for one in slow]
        found.append(_many(Tone.WARN, "waiting", "run", links))
    return found


def _waiting(execution: Execution, wait: Wait, *, since: dt.datetime, now: dt.datetime) -> Link:
    why = f" ({wait.why.replace('_', ' ')})" if wait.why else ""
    words = f"{execution.agent.name}: {wait.words}{why}, for {duration_text((now - since).total_seconds())}"
    return Link("execution", execution.pk, words)


def _disk() -> list[Concern]:
    free = shutil.disk_usage(Path(settings.TRINITY_HOME)).free
    if free >= LEAST_DISK_BYTES:
        return []
    return [
        Concern(Tone.BAD, "disk", f"{free // 1_000_000:,} MB are free in {settings.TRINITY_HOME}; runs write there.")
    ]


def _many(tone: Tone, badge: str, noun: str, links: list[Link]) -> Concern:
    count = f"{len(links)}" if len(links) <= MOST_OF_A_KIND else f"more than {MOST_OF_A_KIND}"
    words = f"{count} {noun}{'s' if len(links) != 1 else ''}"
    return Concern(tone, badge, words, tuple(links[:MOST_OF_A_KIND]))
