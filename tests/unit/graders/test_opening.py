"""Formats are told apart by content; streams stay streams; what is damaged is named by place and reason."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from graders.errors import UnreadableTrajectory
from graders.importers.opening import importers, open_trajectory, trajectory_from
from tests.unit.graders.making import EDIT, FIXTURES, MAKE, READ, jsonl, opened, own, steps_in, tools_of

FIRST_ROWS = [
    json.loads(path.read_text().splitlines()[0])
    for path in sorted(FIXTURES.glob("*/*.out"))
    if path.name != "hello_text.out"
]


@pytest.mark.parametrize("row", FIRST_ROWS, ids=lambda row: row.get("type"))
def test_exactly_one_importer_recognises_a_recorded_file(row: dict[str, Any]) -> None:
    assert sum(importer.recognises(row) for importer in importers()) == 1


def test_every_format_of_the_design_has_an_importer() -> None:
    titles = " ".join(importer.title for importer in importers())

    for name in ("stream-json", "transcript", "Codex", "OpenAI", "Vally", "trinity-trajectory/1"):
        assert name in titles


def test_our_own_json_is_read_in_whatever_order_its_members_stand() -> None:
    text = json.dumps({"note": [1], "end_reason": "x", "steps": [[MAKE], []], "simulation": {"max_iterations": 4.0}})

    trajectory = opened(text + "\n")
    steps = list(trajectory.steps)

    assert tools_of(steps) == [["bash"], []]
    assert (trajectory.end_reason, trajectory.max_iterations) == ("x", 4)


def test_members_behind_the_steps_are_known_when_the_steps_were_walked() -> None:
    trajectory = opened(json.dumps(own(MAKE, end_reason="simulation_cap", simulation={"max_iterations": 9})))
    assert trajectory.end_reason is None

    list(trajectory.steps)

    assert (trajectory.end_reason, trajectory.max_iterations) == ("simulation_cap", 9)


def test_pretty_printed_json_is_read_and_its_faults_are_named_by_line() -> None:
    text = json.dumps(own(MAKE, [{**EDIT, "tool": 5}]), indent=1)
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "edit" in one or '"tool": 5' in one)

    with pytest.raises(UnreadableTrajectory) as damaged:
        steps_in(text)

    assert str(damaged.value) == f"line {line - 2}, step 2: call 1: tool must be text, found 5 (a number)"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "line 1: the file is empty"),
        ("  \n\n ", "line 1: the file is empty"),
        ("Hello from the model.", "is no JSON object or list"),
        ('"text"', "is no JSON object or list"),
        ("{}", "line 1: is of no known trajectory format"),
        ("[]", "the list is empty, so that nobody can tell its format"),
        ("[1, 2]", "line 1: is of no known trajectory format"),
        ('{"type": "unheard of"}\n{"type": "of it"}\n', "line 1: is of no known trajectory format"),
        ('{"steps": 3}', "steps must be a list, found 3 (a number)"),
        ('{"steps": []} {"steps": []}', "line 1: something follows the end of the trajectory"),
        ('{"steps": []}\nx', "line 2: something follows the end of the trajectory"),
        ('{"steps": [[]', "line 1: expected ',' or ']', but the file ends"),
        ('{"steps": [[{"tool": "a"}], [{"tool": "b"', "line 1: is no JSON: the file ends inside a value"),
        ('{"format": "trinity-trajectory/9", "steps": []}', 'line 1: format must be "trinity-trajectory/1"'),
        ('{"steps": [],\n"format": "trinity-trajectory/9"}', 'line 2: format must be "trinity-trajectory/1"'),
        ('{"steps": [],\n\n"end_reason": 5}', "line 3: end_reason must be text, found 5 (a number)"),
        ('{"steps": [],}', "a comma stands before '}'"),
        (b"\xff\xfe{\x00}\x00", "line 1: is no UTF-8 text"),
        (b"\x1f\x8b\x08\x00", "is no UTF-8 text"),
    ],
)
def test_a_damaged_or_unknown_file_is_named_by_line_and_reason(content: str | bytes, said: str) -> None:
    with pytest.raises(UnreadableTrajectory) as damaged:
        steps_in(content)

    assert said in str(damaged.value)


def test_a_recorded_file_cut_in_the_middle_of_a_line_is_damaged_there() -> None:
    text = (FIXTURES / "claude" / "two_stream.out").read_text()
    lines = text.splitlines(keepends=True)
    cut = "".join(lines[:4]) + lines[4][:200]

    with pytest.raises(UnreadableTrajectory, match=r"^line 5: is no JSON: the file ends inside a value"):
        steps_in(cut)


def test_a_line_that_breaks_its_format_is_named() -> None:
    rows = [json.loads(line) for line in (FIXTURES / "claude" / "two_stream.out").read_text().splitlines()]
    rows[3]["message"]["content"] = 7

    with pytest.raises(UnreadableTrajectory, match=r"^line 4: message.content must be a list, found 7 \(a number\)"):
        steps_in(jsonl(rows))


def test_rows_that_say_little_may_stand_first() -> None:
    rows = [{"type": "file-history-snapshot"}, {"type": "other"}]
    rows += [json.loads(line) for line in (FIXTURES / "codex" / "two_json.out").read_text().splitlines()]

    assert len(steps_in(jsonl(rows))) == 2


def test_the_rows_of_a_file_may_stand_in_one_list() -> None:
    rows = [json.loads(line) for line in (FIXTURES / "claude" / "two_stream.out").read_text().splitlines()]

    assert steps_in(json.dumps(rows)) == steps_in(jsonl(rows)) == list(trajectory_from(rows).steps)


class Endless:
    """A file of our own JSON whose steps never end; it counts what was read of it."""

    def __init__(self) -> None:
        self.given = 0
        self._parts = self._write()

    def _write(self) -> Iterator[bytes]:
        yield b'{"format": "trinity-trajectory/1", "steps": ['
        step = json.dumps([MAKE, READ]).encode()
        while True:
            yield (step + b",") * 1000

    def read(self, size: int = -1) -> bytes:
        part = next(self._parts)
        self.given += len(part)
        return part


def test_steps_are_handed_out_while_the_file_is_read() -> None:
    source = Endless()

    steps = iter(open_trajectory(source).steps)  # type: ignore[arg-type]
    first = [next(steps) for _ in range(10)]

    assert tools_of(first) == [["bash", "read_file"]] * 10
    assert source.given < 1_000_000
