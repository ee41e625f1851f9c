"""The cursor over JSON text: in whatever blocks it is read, values and places of faults are the same."""

import json
from collections.abc import Iterator
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.errors import UnreadableTrajectory
from graders.importers import json_stream
from graders.importers.json_stream import JsonStream


@pytest.fixture(params=[1, 3, 64, json_stream.BLOCK_BYTES])
def stream_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Streams that are read in blocks of so many bytes."""
    monkeypatch.setattr(json_stream, "BLOCK_BYTES", request.param)
    return lambda text: JsonStream(BytesIO(text if isinstance(text, bytes) else text.encode()))


@pytest.mark.parametrize(
    "values",
    [
        [{"a": [1, 2.5, "é😀\u0000", None, True]}, [], {}, "", 0],
        [1, 2.5, -1.5e10, 12345678901234567890, "12"],
        [True, False, None, [[[]]]],
        [{"long": "x" * 500}],
    ],
)
def test_values_are_read_one_after_another(stream_of: Any, values: list) -> None:
    text = "\ufeff \r\n" + "\n".join(json.dumps(value) for value in values) + "\n\n"

    assert list(stream_of(text).values()) == values


def test_the_elements_of_an_array_are_read_one_after_another(stream_of: Any) -> None:
    stream = stream_of(' [ 1 , [2] , {"a" : 3},"x" ] ')

    assert list(stream.elements()) == [1, [2], {"a": 3}, "x"]
    assert stream.peek() == ""


def test_an_empty_array_has_no_elements(stream_of: Any) -> None:
    assert list(stream_of("[ ]").elements()) == []


def members(stream: JsonStream) -> Iterator[tuple[str, object]]:
    stream.take("{")
    while (key := stream.key()) is not None:
        yield key, stream.value()
        stream.after_member()


def test_the_members_of_an_object_are_read_one_after_another(stream_of: Any) -> None:
    assert dict(members(stream_of('{ "a" : 1.5 , "b":[2],"c" : true}'))) == {"a": 1.5, "b": [2], "c": True}
    assert dict(members(stream_of("{}"))) == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1}\n{"a": tru}\n{"a": 2}', 2),
        ('{"a": 1}\n\n{"a": "x\ny"}', 3),
        ('{"a": 1}\n{"a": ', 2),
        ('{"a": 1}\n{"a": "unfinished', 2),
        ('{"a": 1}\n{"a": NaN}', 2),
        ('{"a": 1}\n{"a": -Infinity}', 2),
        ('{"a": 1}\n{"a" 2}', 2),
        ("{'a': 1}", 1),
        ('{"a": 1}\n{"a": 01}', 2),
        ('{"a": "\\x"}', 1),
        ("[1,\n2,\n,3]", 3),
        ('{"a": 1e99999999999999999999}', 1),
    ],
)
def test_a_fault_is_named_by_its_line(stream_of: Any, text: str, line: int) -> None:
    with pytest.raises(UnreadableTrajectory, match=f"^line {line}: "):
        list(stream_of(text).values())


def test_text_that_is_no_utf8_is_named_by_its_line(stream_of: Any) -> None:
    with pytest.raises(UnreadableTrajectory, match=r"^line 3: is no UTF-8 text"):
        list(stream_of(b'{"a": 1}\n{"b": 2}\n{"c": "\xff"}\n').values())


@pytest.mark.parametrize("text", ["[1 2]", "[1,]", "[1,2", "[,1]"])
def test_an_array_that_is_badly_punctuated_is_refused(stream_of: Any, text: str) -> None:
    with pytest.raises(UnreadableTrajectory):
        list(stream_of(text).elements())


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": 1 "b": 2}', "{1: 2}", '{"a" 1}', '{"a": 1', "{,}"])
def test_an_object_that_is_badly_punctuated_is_refused(stream_of: Any, text: str) -> None:
    with pytest.raises(UnreadableTrajectory):
        list(members(stream_of(text)))


def test_nesting_without_end_is_refused_and_does_not_crash() -> None:
    with pytest.raises(UnreadableTrajectory, match=r"line 1: a value is nested too deeply"):
        list(JsonStream(BytesIO(b"[" * 300_000)).values())


def test_numbers_beyond_what_python_reads_are_kept_exactly(stream_of: Any) -> None:
    digits = "1" + "0" * 5000

    [huge, small] = stream_of(f'{{"n": {digits}}} {{"n": 1e400}}').values()

    assert huge["n"] == Decimal(digits)
    assert small["n"] == 10**400


def test_a_fault_far_from_the_end_is_told_before_the_rest_is_read() -> None:
    class Counting(BytesIO):
        given = 0

        def read(self, size: int | None = -1) -> bytes:
            block = super().read(size)
            self.given += len(block)
            return block

    source = Counting(b'{"a": 1}\n{"a": oops}\n' + b'{"a": 1}\n' * 1_000_000)

    with pytest.raises(UnreadableTrajectory, match="line 2"):
        list(JsonStream(source).values())

    assert source.given <= json_stream.BLOCK_BYTES


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=3), parts, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.lists(json_values, max_size=5), st.integers(1, 40), st.sampled_from(["\n", " ", "\r\n\t"]))
def test_whatever_json_writes_is_read_in_whatever_blocks(values: list, block: int, between: str) -> None:
    before, json_stream.BLOCK_BYTES = json_stream.BLOCK_BYTES, block
    try:
        text = between.join(json.dumps(value, ensure_ascii=False) for value in values)
        stream = JsonStream(BytesIO(text.encode("utf-8", "surrogatepass")))
        if "\ud800" <= max(text, default="") <= "\udfff":
            return
        assert list(stream.values()) == values
    finally:
        json_stream.BLOCK_BYTES = before
