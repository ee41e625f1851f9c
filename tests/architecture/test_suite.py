"""script/test and script/check: what they count, what they call well, and what they refuse to call so."""

import os
import re
import subprocess
import sys
from pathlib import Path

import agent_programs
import pytest
from agent_programs import bring_agent_programs, cache_folder
from checks import Check, Verdict, command, run_all
from conclusion import conclude
from groups import GROUPS, TESTS, Database, Result, run_pytest
from packages import Unavailable
from suite import bring_chromium, main
from written import files_over_their_size, requirements_at_fault

ROOT = Path(__file__).resolve().parents[2]
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # these runs are about pytest itself; its plugins only take time
HASH = "--hash=sha256:" + "a" * 64


def run(folder: Path, source: str, *, may_be_empty: bool = False) -> Result:
    (folder / "test_it.py").write_text(source)
    return run_pytest("unit", Database.NONE, ["-pno:cacheprovider", str(folder)], BARE, may_be_empty=may_be_empty)


def test_a_test_that_fails_and_then_breaks_its_fixture_counts_once(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "import pytest\n"
        "@pytest.fixture\n"
        "def broken():\n    yield\n    assert False\n"
        "def test_fails(broken): assert False\n"
        "def test_breaks(broken): pass\n"
        "def test_passes(): pass\n"
        "def test_skips(): pytest.skip('not now')\n",
    )

    assert (result.passed, result.failed, result.skipped, result.good) == (1, 2, 1, False)


def test_a_group_that_ran_no_test_is_not_well_unless_the_caller_chose_so(tmp_path: Path) -> None:
    result = run(tmp_path, "def nothing(): pass\n")

    assert (result.note, result.good) == ("ran no test", False)
    assert run(tmp_path, "def nothing(): pass\n", may_be_empty=True).good


def test_a_group_that_only_skips_is_not_well(tmp_path: Path) -> None:
    result = run(tmp_path, "import pytest\ndef test_skips(): pytest.skip('always')\n")

    assert (result.skipped, result.good) == (1, False)


@pytest.mark.parametrize("source", ["import nothing_of_this_name\n", "import os\nos._exit(0)\n"])
def test_a_group_that_cannot_be_read_to_its_end_is_not_well(tmp_path: Path, source: str) -> None:
    assert not run(tmp_path, source).good


def test_tests_never_meet_the_databases_of_the_one_who_starts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://precious")
    source = "import os\ndef test_it(): assert 'DATABASE_URL' not in os.environ and os.environ['TRINITY_TEST_HOME']\n"

    assert run(tmp_path, source).good


def test_the_last_line_counts_plainly_and_a_fault_without_a_failed_test_is_an_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    well = Result("unit", Database.NONE, passed=3, skipped=1, seconds=0.5)
    fault = Result("check", "", note="failed", good=False)

    assert conclude([well]) == 0
    assert conclude([fault, well]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 0 failed, 1 skipped"


def test_every_folder_of_tests_belongs_to_a_group() -> None:
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}

    assert folders <= {group.name for group in GROUPS}


def test_a_program_that_is_named_but_is_none_is_told_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "no-such-browser"))

    with pytest.raises(Unavailable, match="no-such-browser"):
        bring_chromium(may_install=False)


def test_the_agents_programs_are_kept_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRINITY_TEST_AGENTS_FOLDER", str(tmp_path / "kept"))

    assert cache_folder() == tmp_path / "kept"
    assert cache_folder().is_dir()


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """What would be run to bring the agents' programs; npm and pip leave programs that answer."""
    monkeypatch.delenv("TRINITY_TEST_AGENTS", raising=False)
    monkeypatch.setenv("TRINITY_TEST_AGENTS_FOLDER", str(tmp_path))
    monkeypatch.setattr("agent_programs.shutil.which", lambda _: "npm")
    commands: list[list[str]] = []

    def bring(command: list[str]) -> None:
        commands.append(command)
        for program in agent_programs.PROGRAMS:
            path = tmp_path / program
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)

    monkeypatch.setattr("agent_programs._run", bring)
    return commands


def test_the_agents_programs_are_brought_in_pinned_versions_and_once(brought: list[list[str]], tmp_path: Path) -> None:
    assert bring_agent_programs() == {"TRINITY_TEST_AGENTS": str(tmp_path)}
    assert bring_agent_programs() == {"TRINITY_TEST_AGENTS": str(tmp_path)}

    packages = [word for command in brought for word in command if "claude" in word or "codex" in word]
    assert [command[0] for command in brought] == ["npm", sys.executable]
    assert len(packages) == 3
    assert all(re.search(r"[^@=](@|==)\d+\.\d+\.\d+$", package) for package in packages)


def test_other_pinned_versions_are_brought_anew(brought: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    bring_agent_programs()
    monkeypatch.setattr("agent_programs.NPM_PACKAGES", ("@openai/codex@0.999.0",))
    bring_agent_programs()

    assert len(brought) == 4


def test_an_agents_program_that_does_not_run_is_told_of(brought: list[list[str]], tmp_path: Path) -> None:
    bring_agent_programs()
    (tmp_path / agent_programs.PROGRAMS[0]).write_text("#!/bin/sh\necho no native binary >&2; exit 1\n")

    with pytest.raises(Unavailable, match="no native binary"):
        bring_agent_programs()


def test_every_test_with_real_agents_runs_in_its_own_group_and_in_no_other() -> None:
    groups = {group.name: group for group in GROUPS}

    assert groups["agents"].has_tests
    assert f"--ignore={groups['agents'].folder}" in groups["journeys"].arguments


Ran = list[tuple[str, str, str, dict[str, str]]]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Servers are given, nothing is run: what would be run, as (group, database, marks, variables)."""
    monkeypatch.setenv("TEST_DATABASE_URL", "postgresql://given")
    monkeypatch.setenv("TEST_REDIS_URL", "redis://given")
    monkeypatch.setattr("suite.throwaway_servers", None)  # a call would raise
    told: Ran = []

    def note(
        name: str, database: str, arguments: list[str], variables: dict[str, str], *, may_be_empty: bool
    ) -> Result:
        marks = arguments[arguments.index("-m") + 1] if "-m" in arguments else ""
        told.append((name, database, marks, variables))
        return Result(name, database, passed=1, good=not may_be_empty)

    monkeypatch.setattr("suite.run_pytest", note)
    return told


GIVEN = {"TEST_DATABASE_URL": "postgresql://given", "TEST_REDIS_URL": "redis://given"}


def test_named_tests_run_on_the_database_that_was_given(ran: Ran) -> None:
    assert main(["tests/architecture/test_suite.py"]) == 0
    assert ran == [("named tests", "PostgreSQL", "", GIVEN)]


def test_every_group_runs_without_a_server_first_and_then_on_postgresql_what_tells_more_there(ran: Ran) -> None:
    assert main(["--no-check", "--no-install"]) == 0

    databases = [database for _, database, _, _ in ran]
    assert databases == sorted(databases, key=lambda database: database == "PostgreSQL")
    assert ("services", "SQLite", "not postgres and not redis", {}) in ran
    assert ("services", "PostgreSQL", "not once", GIVEN) in ran
    assert ("architecture", "SQLite", "not postgres and not redis", {}) in ran


def test_fast_leaves_out_postgresql_and_what_runs_real_processes(ran: Ran) -> None:
    assert main(["--no-check", "--fast"]) == 0

    assert {database for _, database, _, _ in ran} <= {"none", "SQLite"}
    assert {"unit", "architecture", "services"} <= {name for name, _, _, _ in ran}
    assert not {"journeys", "browser", "agents"} & {name for name, _, _, _ in ran}


def test_a_failed_check_shows_what_it_said_and_the_others_still_run(capsys: pytest.CaptureFixture[str]) -> None:
    checks = [
        Check("breaks", command(sys.executable, "-c", "print('why'); raise SystemExit(3)")),
        Check("is well", command(sys.executable, "-c", "print('chatter')")),
        Check("raises", lambda: 1 / 0),  # type: ignore[arg-type,return-value]
    ]

    assert run_all(checks) == 1
    said = capsys.readouterr().out
    assert "why" in said
    assert "chatter" not in said
    assert "ZeroDivisionError" in said
    assert run_all([Check("is well", lambda: Verdict(good=True, remarks="a thought"))]) == 0


def test_checks_see_neither_the_callers_data_nor_its_dotenv_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRINITY_HOME", "/precious")
    monkeypatch.setenv("DATABASE_URL", "postgresql://precious")
    program = "import os; assert os.environ['TRINITY_HOME'] != '/precious' and os.environ['DATABASE_URL'] == ''"

    assert command(sys.executable, "-c", program)().good


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("--index-url https://packages.example/simple\n", "names a place to download from"),
        ("  -i https://packages.example/simple\n", "names a place to download from"),
        ("--find-links wheels\n", "names a place to download from"),
        (f"django @ https://packages.example/django.whl {HASH}\n", "names a place to download from"),
        ("django==5.2\n", "pins without a hash: django==5.2"),
        (f"django>=5.2 \\\n    {HASH}\n", "is no pin of a package: django>=5.2"),
        (f"celery==5.5 \\\n    {HASH}\n", "requirements.in names django, which requirements.txt does not pin"),
    ],
)
def test_requirements_that_are_not_sound_are_named_by_line(tmp_path: Path, written: str, fault: str) -> None:
    (tmp_path / "requirements.in").write_text("django~=5.2.0\n")
    (tmp_path / "requirements.txt").write_text(written)

    assert any(fault in sentence for sentence in requirements_at_fault(tmp_path))


def test_sound_requirements_have_no_fault_and_the_second_file_holds_all_of_the_first(tmp_path: Path) -> None:
    pins = f"django==5.2.1 ; python_full_version < '3.12' \\\n    {HASH} \\\n    {HASH}\n"
    for name in ("requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text(pins)
    (tmp_path / "requirements.in").write_text("Django[argon2]~=5.2.0\n# a remark\n\n-r other.in\n")
    assert requirements_at_fault(tmp_path) == []

    (tmp_path / "requirements-dev.txt").write_text(pins.replace("5.2.1", "5.2.2"))
    assert requirements_at_fault(tmp_path) == [
        "requirements-dev.txt does not pin django==5.2.1 as requirements.txt does"
    ]


def test_optional_packages_agree_with_what_they_are_installed_beside(tmp_path: Path) -> None:
    pin = f"pydantic==2.1 \\\n    {HASH}\n"
    (tmp_path / "requirements-dev.txt").write_text(pin)
    (tmp_path / "requirements-model.txt").write_text(pin + pin.replace("pydantic", "openai"))
    assert requirements_at_fault(tmp_path) == []

    (tmp_path / "requirements-model.txt").write_text(pin.replace("2.1", "2.2"))
    assert requirements_at_fault(tmp_path) == [
        "requirements-model.txt pins pydantic==2.2, and requirements-dev.txt 2.1"
    ]


def test_long_files_are_remarked_but_tests_and_migrations_are_not(tmp_path: Path) -> None:
    for name in ("long.py", "short.py", "long.html", "app/migrations/0001.py", "tests/long.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n" * {"short.py": 300, "long.html": 151}.get(name, 301))

    assert files_over_their_size(tmp_path) == [
        "long.html has 151 lines (think above 150)",
        "long.py has 301 lines (think above 300)",
    ]


def test_script_test_explains_itself() -> None:
    said = subprocess.run(
        [sys.executable, ROOT / "script" / "suite.py", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    ).stdout

    assert all(option in said for option in ("--fast", "--agents", "--no-check", "TEST_DATABASE_URL"))
