"""Small pure things that pages are made of: durations, what is open, tool calls, charts."""

import datetime as dt

import pytest
from django.http import QueryDict

from executions.calls import shown_calls
from executions.charts import executions_chart, spend_chart
from executions.timeline import Bucket, Span
from executions.vocabulary import CATEGORY_OF, Category, Trigger
from loops.pages.shown import Shown
from tests.conftest import NOON
from trinity.kernel.durations import duration_text, limit_text, milliseconds_text

LOOP, OTHER = "loop_0123456789abcdef", "loop_fedcba9876543210"
RUN, OTHER_RUN = "exec_0123456789abcdef", "exec_fedcba9876543210"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "0 s"),
        (0.9, "0 s"),
        (59.9, "59 s"),
        (60, "1 m 00 s"),
        (860, "14 m 20 s"),
        (3600, "1 h 00 m"),
        (47.9 * 3600, "47 h 54 m"),
        (51 * 3600, "2 d 3 h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, words: str) -> None:
    assert duration_text(seconds) == words


def test_short_measures_have_a_tenth_and_unknown_ones_a_dash() -> None:
    assert milliseconds_text(412) == "0.4 s"
    assert milliseconds_text(9_960) == "9 s"
    assert milliseconds_text(None) == "—"


def test_a_limit_is_told_as_somebody_set_it() -> None:
    assert [limit_text(one) for one in (10, 90, 600, 3600, 86_400)] == ["10 s", "1 m 30 s", "10 m", "1 h", "1 d"]


def test_what_is_open_comes_back_from_its_own_address() -> None:
    shown = Shown.of(QueryDict(f"open={LOOP}&all={LOOP}&run={RUN}&whole={RUN}"))

    assert Shown.of(QueryDict(shown.query().removeprefix("?"))) == shown


@pytest.mark.parametrize("rubbish", ["", "loop_short", f"{LOOP}\x00", f"{LOOP}/..", "%00", "exec_0123456789abcde'"])
def test_rubbish_in_the_address_opens_nothing(rubbish: str) -> None:
    query = QueryDict(mutable=True)
    query.setlist("open", [rubbish])
    query.setlist("run", [rubbish])

    assert Shown.of(query) == Shown()


def test_a_made_up_address_opens_a_bounded_number() -> None:
    many = "&".join(f"open=loop_{number:016d}" for number in range(1000))

    assert len(Shown.of(QueryDict(many)).open) <= 50


def test_toggling_twice_changes_nothing() -> None:
    shown = Shown(open=frozenset({LOOP}))

    assert shown.toggled("run", RUN).toggled("run", RUN) == shown


def test_a_card_keeps_only_what_is_its_own() -> None:
    shown = Shown(open=frozenset({LOOP, OTHER}), run=frozenset({RUN, OTHER_RUN}))

    assert shown.of_loop(LOOP, [RUN]) == Shown(open=frozenset({LOOP}), run=frozenset({RUN}))


def test_calls_are_numbered_on_and_cut() -> None:
    steps = [
        [{"tool": "bash", "args": {"command": "ls\n-la", "timeout": 3}, "result": "x" * 5000}],
        [],
        [{"tool": "read"}],
    ]

    first, second = shown_calls(steps, 10)

    assert (first.number, first.tool, first.argument) == (1, "bash", "ls -la")
    assert first.result is not None
    assert len(first.result) < 2100
    assert (second.number, second.result) == (2, None)


def test_what_is_no_step_of_a_model_is_passed_over() -> None:
    assert shown_calls([{"event": "user"}, ["text"], [{"no": "tool"}], [{"tool": "x"}]], 10)[0].tool == "x"  # type: ignore[list-item]


def a_bucket(hour: int, spent: int = 0, **counts: int) -> Bucket:
    bucket = Bucket(NOON + dt.timedelta(hours=hour), spent_nano=spent)
    bucket.counts.update({Category[name.upper()]: number for name, number in counts.items()})
    return bucket


def test_bars_stand_on_one_line_and_the_tallest_fills_the_frame() -> None:
    chart = executions_chart([a_bucket(0, loops=2, chat=2), a_bucket(1, loops=1), a_bucket(2)], Span.HOUR)

    tallest, small, empty = chart.bars
    assert sum(part.height for part in tallest.parts) == pytest.approx(96)
    assert sum(part.height for part in small.parts) == pytest.approx(24)
    assert tallest.parts[0].y + tallest.parts[0].height == pytest.approx(100)
    assert empty.parts == ()
    assert chart.table == (
        ("30 Nov 13:00", "1 Loops", "—"),
        ("30 Nov 12:00", "2 Loops, 2 Chat", "—"),
    )


def test_a_chart_of_nothing_is_drawn_all_the_same() -> None:
    assert spend_chart([a_bucket(0)], Span.DAY).table == ()


def test_loops_have_a_category_and_a_colour_of_their_own() -> None:
    assert [trigger for trigger, category in CATEGORY_OF.items() if category is Category.LOOPS] == [Trigger.LOOP]
    assert set(CATEGORY_OF) == set(Trigger)


def test_every_category_has_its_colour_in_the_style_sheet() -> None:
    from django.conf import settings

    sheet = (settings.BASE_DIR / "static/css/trinity.css").read_text(encoding="utf-8")

    assert all(f".cat-{category.name.lower()} {{" in sheet for category in Category)
