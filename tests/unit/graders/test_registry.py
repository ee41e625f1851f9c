"""One new module is one new grader: the how-to is followed word for word, and nothing else is touched."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders import catalogue, kinds
from graders.config import check_graders
from graders.grading import grade, summary
from graders.registry import kinds as known_kinds
from tests.unit.graders.making import DATA, EDIT, MAKE, own
from trinity.kernel.errors import Refused

HOW_TO = DATA.parents[1] / "docs" / "how-to" / "add-a-grader.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that stands for `graders/kinds/` of somebody who adds a module."""
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("graders.kinds."):
            del sys.modules[name]


def test_the_how_to_adds_a_grader_with_one_module(folder: Path) -> None:
    page = HOW_TO.read_text(encoding="utf-8")
    [path] = re.findall(r"^`graders/kinds/(\w+\.py)`:$", page, re.MULTILINE)
    [code] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    (folder / path).write_text(code, encoding="utf-8")

    assert {entry["type"] for entry in catalogue()} == {"loop-outcome", "max-calls"}
    graders = [{"type": "max-calls", "config": {"most": 2}}, {"type": "max-calls", "config": {"most": 1.0}}]
    results = grade(graders, own([MAKE, EDIT]))["results"]
    assert [result["passed"] for result in results] == [True, False]
    assert results[1]["evidence"] == "The agent made 2 tool calls; at most 1 were wanted."
    assert summary(results[1]) == "2 calls"
    with pytest.raises(Refused) as refused:
        check_graders([{"type": "max-calls", "config": {"mots": 2}}])
    assert list(refused.value.errors) == ["graders[0].config.mots", "graders[0].config.most"]
    assert 'the nearest known key is "most"' in refused.value.errors["graders[0].config.mots"][0]


def test_a_module_that_is_taken_away_is_known_no_more() -> None:
    assert list(known_kinds()) == ["loop-outcome"]


def test_a_module_without_a_grader_is_named(folder: Path) -> None:
    (folder / "empty.py").write_text("")

    with pytest.raises(RuntimeError, match=r"graders\.kinds\.empty has no KIND"):
        known_kinds()


def test_two_graders_cannot_have_one_type(folder: Path) -> None:
    (folder / "second.py").write_text("from graders.kinds.loop_outcome import KIND as KIND\n")

    with pytest.raises(RuntimeError, match="claims the type 'loop-outcome', which another grader has"):
        known_kinds()
