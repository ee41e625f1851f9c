"""The two commands: what they print, and with which code they end. They need Django, but no database."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.unit.graders.making import DATA, FIXTURES, LIST, MAKE, own

EXAMPLE = str(DATA.parents[1] / "examples" / "graders.yaml")


class Ran:
    """What one call of a command came to."""

    def __init__(self, *argv: str) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = 0
        try:
            call_command(*argv, stdout=out, stderr=err)
        except SystemExit as end:
            self.code = int(end.code or 0)
        except CommandError as error:
            self.code = error.returncode
            err.write(str(error))
        self.out, self.err = out.getvalue(), err.getvalue()


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Writes a file and answers its name."""

    def write(name: str, content: Any) -> str:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    return write


def config(limit: Any, **more: Any) -> dict[str, Any]:
    return {"graders": [{"type": "loop-outcome", "config": {"max_acceptable_retries": limit}}], **more}


@pytest.mark.parametrize("name", ["claude/two_stream.out", "codex/two_json.out", "gemini/two_stream.out"])
def test_a_recorded_run_gets_a_verdict_with_its_sentence(name: str) -> None:
    ran = Ran("grade", str(FIXTURES / name), "--config", EXAMPLE)

    assert ran.code == 0
    [first, second] = ran.out.splitlines()
    assert first.endswith(
        "passed: loop-outcome: No action was repeated in a row (2 watched calls were made); no looping was expected."
    )
    assert ": passed: shell commands do not go in circles: " in second


def test_one_failed_verdict_among_many_files_makes_the_code_1(written: Any) -> None:
    good, bad = written("good.json", own(LIST)), written("bad.json", own(MAKE, MAKE))

    ran = Ran("grade", good, bad, "--config", written("graders.yaml", config(0)))

    assert ran.code == 1
    assert [line.split(": ")[1] for line in ran.out.splitlines()] == ["passed", "FAILED"]


def test_a_bad_file_makes_the_code_2_and_the_others_are_graded_all_the_same(written: Any) -> None:
    files = [written("cut.json", '{"steps": [[]'), written("bad.json", own(MAKE, MAKE)), "no such file"]

    ran = Ran("grade", *files, "--config", written("graders.yaml", config(0)))

    assert ran.code == 2
    assert "FAILED" in ran.out
    assert "cut.json: error: line 1: expected ',' or ']', but the file ends" in ran.err
    assert "no such file: error: No such file or directory" in ran.err


def test_json_holds_everything_that_text_says(written: Any) -> None:
    files = [written("a.json", own(MAKE, MAKE, simulation={"max_iterations": 1})), "no such file"]

    ran = Ran("grade", *files, "--config", written("graders.yaml", config(0)), "--format", "json")

    answer = json.loads(ran.out)
    assert (ran.code, answer["passed"]) == (2, False)
    [graded, missing] = answer["files"]
    assert graded["results"][0]["details"]["retries"] == 1
    assert graded["lint"][0]["code"] == "retry-signal-unreachable"
    assert (missing["error"], missing["results"]) == ("No such file or directory", [])


def test_standard_input_is_a_file_too(written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(own(MAKE, MAKE)).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)

    assert Ran("grade", "-", "--config", written("graders.yaml", config(0))).code == 1


def test_warnings_do_not_change_the_code(written: Any) -> None:
    graders = written("graders.yaml", config(5, stimulus={"simulation": {"max_iterations": 3}}))

    ran = Ran("grade", written("a.json", own(LIST)), "--config", graders)

    assert ran.code == 0
    assert "warning: graders[0] retry-signal-unreachable" in ran.err


@pytest.mark.parametrize(
    ("graders", "said"),
    [
        (config("3"), "graders[0].config.max_acceptable_retries: loop-outcome: max_acceptable_retries must be"),
        ("graders: [", "config: line 1"),
        ("graders:\n\t- x", "config: line 2: a tab"),
        ({"graders": []}, "graders: graders: must be a list of at least one grader"[9:]),
    ],
)
def test_a_wrong_config_makes_the_code_2_and_grades_nothing(written: Any, graders: Any, said: str) -> None:
    ran = Ran("grade", written("a.json", own(LIST)), "--config", written("graders.yaml", graders))

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_config_that_is_not_there_makes_the_code_2(written: Any) -> None:
    ran = Ran("grade", written("a.json", own(LIST)), "--config", "no such file")

    assert (ran.code, ran.err) == (2, "no such file: No such file or directory")


class TestLint:
    def test_a_good_config_ends_with_0(self) -> None:
        ran = Ran("lint_graders", EXAMPLE)

        assert (ran.code, ran.out) == (0, f"{EXAMPLE}: no fault found\n")

    @pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 1)])
    def test_a_warning_is_an_error_only_when_asked_for(self, written: Any, strict: list[str], code: int) -> None:
        graders = written("graders.yaml", config(5, stimulus={"simulation": {"max_iterations": 3}}))

        ran = Ran("lint_graders", graders, *strict)

        assert ran.code == code
        assert "warning: graders[0] retry-signal-unreachable: loop-outcome: max_acceptable_retries is 5" in ran.out

    @pytest.mark.parametrize("graders", ["", "graders: no", config(True), {"graders": [{"type": "x"}]}])
    def test_an_error_ends_with_1(self, written: Any, graders: Any) -> None:
        ran = Ran("lint_graders", written("graders.yaml", graders))

        assert ran.code == 1
        assert "graders.yaml: error: " in ran.err

    def test_a_config_that_is_not_there_is_an_error(self) -> None:
        ran = Ran("lint_graders", "no such file")

        assert (ran.code, ran.err) == (1, "no such file: error: No such file or directory\n")
