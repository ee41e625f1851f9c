"""Whatever stands in a file: it is read, or it is refused with a place and a reason; nothing else happens."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.errors import UnreadableTrajectory
from graders.grading import grade
from tests.unit.graders.making import FIXTURES, jsonl, loop_outcome, own, steps_in
from trinity.kernel.errors import Refused


def refusal(read: Callable[[], object]) -> UnreadableTrajectory | Refused | None:
    """How it was refused; None when it was read. Anything else is a crash."""
    try:
        read()
    except (UnreadableTrajectory, Refused) as refused:
        return refused
    return None


FILES = ["claude/two_stream", "claude/denied_default", "codex/two_json", "gemini/two_stream"]
odd = st.sampled_from([None, True, 0, 1.5, "", "x", [], [1], {}, {"a": 1}, [{}], [[]], ["type"], {"type": []}])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of everything inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inside for place in places(part, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=40)
@given(data=st.data())
def test_a_recorded_file_with_one_odd_value_is_read_or_refused(name: str, data: st.DataObject) -> None:
    rows = [json.loads(line) for line in (FIXTURES / f"{name}.out").read_text().splitlines()]
    rows = [{key: row[key] for key in row if key not in ("tools", "usage", "modelUsage")} for row in rows]
    number = data.draw(st.integers(0, len(rows) - 1))
    path = data.draw(st.sampled_from(places(rows[number])))

    rows[number] = replaced(rows[number], path, data.draw(odd))

    damaged = refusal(lambda: steps_in(jsonl(rows)))

    assert damaged is None or str(damaged).startswith("line ")


@settings(max_examples=40)
@given(
    st.recursive(odd, lambda parts: st.lists(parts, max_size=3), max_leaves=6),
    st.sampled_from(["steps", "messages", "events", "end_reason", "simulation", "format", "metadata", "stimulus"]),
)
def test_a_document_with_odd_members_is_graded_or_refused(value: Any, key: str) -> None:
    for document in ({key: value}, own(**{key: value}), {"events": [], key: value}, value):
        refused = refusal(lambda document=document: json.dumps(grade([loop_outcome()], document)))

        assert refused is None or list(refused.errors) == ["trajectory"]


@settings(max_examples=40)
@given(st.recursive(odd, lambda parts: st.lists(parts, max_size=3), max_leaves=6))
def test_an_odd_config_is_taken_or_refused_by_path(value: Any) -> None:
    for graders in (value, [value], [{"type": "loop-outcome", "config": value}], [loop_outcome(1, tools=value)]):
        refused = refusal(lambda graders=graders: grade(graders, own()))

        assert refused is None or all(path.startswith("graders") for path in refused.errors)


@settings(max_examples=60)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    damaged = refusal(lambda: steps_in(content))

    assert damaged is None or str(damaged).startswith(("line ", "the list is empty"))


@settings(max_examples=60)
@given(st.data(), st.sampled_from(FILES))
def test_a_recorded_file_that_is_cut_anywhere_is_read_or_refused(data: st.DataObject, name: str) -> None:
    content = (FIXTURES / f"{name}.out").read_bytes()
    cut = data.draw(st.integers(0, len(content)))

    damaged = refusal(lambda: steps_in(content[:cut]))

    assert damaged is None or str(damaged).startswith("line ")
