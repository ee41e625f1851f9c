"""A page of executions as plain values, newest first; writes nothing."""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr
from django.http import QueryDict

from accounts.viewers import Viewer
from agents.models import Agent
from agents.queries import usable_agents
from executions.filters import ExecutionFilter
from executions.models import Execution
from executions.queries import visible_executions
from executions.vocabulary import CATEGORY_OF, TONES, Category, ExecutionStatus, Trigger
from executions.waiting import waits_of
from trinity.kernel import clock
from trinity.kernel.errors import Refused
from trinity.kernel.money import dollars_text
from trinity.kernel.text import first_line
from trinity.kernel.vocabulary import Tone

PAGE = 50
_EXECUTION = re.compile(r"exec_[A-Za-z0-9_-]{16}\Z")


@dataclass(frozen=True, slots=True)
class ListedExecution:
    """One line of the list."""

    id: str
    agent_name: str
    title: str
    trigger: str
    category: str
    category_class: str
    badge: str
    tone: Tone
    note: str
    run_number: int | None
    loop_id: str
    queued_at: dt.datetime
    since: dt.datetime | None
    duration_ms: int | None
    cost: str
    estimated: bool
    said: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """One page, its filter form, and the address of the next."""

    filter: ExecutionFilter
    lines: list[ListedExecution]
    older: str  # the query of the next page, blank on the last one
    valid: bool
    unended: bool


def listing(viewer: Viewer, query: QueryDict, *, agent: Agent | None = None) -> Listing:
    """The page that an address asks for. Refused when it begins at what is no execution."""
    visible = visible_executions(viewer) if agent is None else Execution.objects.filter(agent=agent)
    names = [agent.name] if agent is not None else list(usable_agents(viewer).values_list("name", flat=True))
    chosen = ExecutionFilter(query, queryset=visible, agent_names=names)
    if not chosen.is_valid():
        return Listing(chosen, [], "", valid=False, unended=False)
    found = list(_page(_beginning_at(chosen.qs, query.get("before", "")))[: PAGE + 1])
    older = ""
    if len(found) > PAGE:
        found = found[:PAGE]
        following = query.copy()
        following["before"] = found[-1].pk
        older = f"?{following.urlencode()}"
    return Listing(chosen, listed(found), older, valid=True, unended=any(not one.ended for one in found))


def listed(executions: Iterable[Execution]) -> list[ListedExecution]:
    """Lines of executions that `_page` has read."""
    rows = list(executions)
    waits = waits_of(rows, clock.now())
    return [_line(one, waits[one.pk].words if one.pk in waits else "") for one in rows]


def category_class(category: Category) -> str:
    """The category's class in the style sheet; its colour stands there once."""
    return f"cat-{category.name.lower()}"


def _page(executions: QuerySet[Execution]) -> QuerySet[Execution]:
    return (
        executions.select_related("agent")
        .defer("prompt", "response", "error", "allowed_tools")
        .annotate(
            prompt_start=Substr("prompt", 1, 400),
            response_start=Substr("response", 1, 300),
            error_start=Substr("error", 1, 300),
        )
        .order_by("-queued_at", "-id")
    )


def _beginning_at(executions: QuerySet[Execution], before: str) -> QuerySet[Execution]:
    if not before:
        return executions
    last = Execution.objects.filter(pk=before).only("queued_at").first() if _EXECUTION.match(before) else None
    if last is None:
        raise Refused("before: Must be the id of an execution.")
    return executions.filter(Q(queued_at__lt=last.queued_at) | Q(queued_at=last.queued_at, pk__lt=last.pk))


def _line(execution: Execution, note: str) -> ListedExecution:
    status = ExecutionStatus(execution.status)
    category = CATEGORY_OF[Trigger(execution.trigger)]
    error, reply = execution.error_start, execution.response_start  # type: ignore[attr-defined]
    return ListedExecution(
        id=execution.pk,
        agent_name=execution.agent.name,
        title=first_line(execution.prompt_start) or "untitled",  # type: ignore[attr-defined]
        trigger=str(execution.trigger),
        category=str(category),
        category_class=category_class(category),
        badge=str(status).replace("_", " "),
        tone=TONES[status],
        note=note,
        run_number=execution.run_number,
        loop_id=execution.loop_id,
        queued_at=execution.queued_at,
        since=execution.started_at if execution.in_flight else None,
        duration_ms=execution.duration_ms,
        cost=dollars_text(execution.cost_nano),
        estimated=execution.cost_estimated,
        said=" ".join((error or reply or execution.activity).split()),
        failed=bool(error),
    )
