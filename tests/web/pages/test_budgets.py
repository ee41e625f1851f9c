"""How many queries a page may make, and that they do not grow with its rows; how heavy the heaviest page is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from executions.models import Execution
from tests.engine import success
from tests.web.pages.conftest import Stage

LOOPS_TAB = "/agents/scribe/loops/"


def queries(client: Client, path: str, data: Any = None) -> int:
    client.get(path, data)  # what is loaded once per process is not the page's
    with CaptureQueriesContext(connection) as caught:
        assert client.get(path, data).status_code == 200
    return len(caught)


def many_loops(stage: Stage, count: int) -> list[str]:
    """Loops that have ended, each with a run, and some that wait."""
    ids = [
        stage.ended(success(f"reply {number}", 0.1), max_runs=1, message=f"Task {number}").pk for number in range(count)
    ]
    stage.agent.max_parallel_tasks = 1
    stage.agent.save()
    waiting = [stage.loop(message=f"Waits {number}").pk for number in range(max(2, count // 10))]
    return waiting + ids


def test_the_loops_tab_with_a_hundred_loops_makes_twelve_queries_at_most(as_alice: Client, stage: Stage) -> None:
    many_loops(stage, 100)

    assert queries(as_alice, LOOPS_TAB, {"older": 1}) <= 12


@pytest.mark.parametrize(
    ("path", "budget"),
    [
        (LOOPS_TAB, 12),
        ("/agents/scribe/loops/rows/", 12),
        ("/", 16),
        ("/executions/", 8),
        ("/agents/scribe/", 14),
        ("/agents/scribe/executions/", 9),
    ],
)
def test_queries_do_not_grow_with_rows(as_alice: Client, stage: Stage, path: str, budget: int) -> None:
    many_loops(stage, 3)
    few = queries(as_alice, path)
    many_loops(stage, 20)

    assert few <= budget
    assert queries(as_alice, path) <= few + 1  # the reasons to wait are asked once somebody waits


def test_opened_loops_and_runs_cost_the_same_however_many(as_alice: Client, stage: Stage) -> None:
    ids = many_loops(stage, 12)
    ended = ids[-12:]
    runs = list(Execution.objects.filter(loop_id__in=ended).values_list("pk", flat=True))
    one = queries(as_alice, LOOPS_TAB, {"open": ended[:1], "run": [one for one in runs if one][:1] or runs})
    all_of_them = queries(as_alice, LOOPS_TAB, {"open": ended, "run": runs})

    assert all_of_them <= one + 2


def test_a_loop_of_a_hundred_runs_costs_no_more_than_one_of_two(as_alice: Client, stage: Stage) -> None:
    short = stage.ended(success("a"), success("b"), max_runs=2)
    long = stage.ended(*[success(f"reply {number}") for number in range(100)], max_runs=100)

    assert queries(as_alice, f"/loops/{long.pk}/", {"all": long.pk}) <= queries(as_alice, f"/loops/{short.pk}/") <= 12


def test_the_loops_tab_with_a_hundred_loops_weighs_less_than_150_kilobytes_with_everything(
    as_alice: Client, stage: Stage
) -> None:
    import gzip
    import re

    many_loops(stage, 100)
    page = as_alice.get(LOOPS_TAB, {"older": 1}, headers={"Accept-Encoding": "gzip"})
    urls = re.findall(rb'(?:src|href)="/static/([^"]+)"', gzip.decompress(page.content))

    assert len(urls) >= 8
    assets = sum(Path(finders.find(url.decode())).stat().st_size for url in set(urls))  # not compressed
    assert len(page.content) + assets < 150_000


def test_rendering_makes_no_query(as_alice: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Templates get plain values: whatever a page reads, it has read before it is drawn."""
    from django.template import Template

    loop = stage.completed()
    draw: Callable[..., Any] = Template.render
    caught: list[Any] = []

    def watched(template: Template, context: Any) -> Any:
        before = len(connection.queries_log)
        drawn = draw(template, context)
        caught.extend(list(connection.queries_log)[before:])
        return drawn

    monkeypatch.setattr(Template, "render", watched)
    connection.force_debug_cursor = True
    try:
        for path in (
            "/",
            LOOPS_TAB,
            "/executions/",
            f"/loops/{loop.pk}/",
            "/agents/scribe/",
            "/agents/scribe/settings/",
        ):
            as_alice.get(path, {"open": loop.pk})
    finally:
        connection.force_debug_cursor = False

    assert [query["sql"] for query in caught if "django_session" not in query["sql"]] == []
    assert settings.DEBUG is False
