"""The groups of tests, and how one of them is run and counted; starts no server and decides no order."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
GROUP_SECONDS = 1500  # a group that hangs must not take the whole time that there is
# What a developer's shell may hold and a test must not meet.
NOT_FOR_TESTS = ("DATABASE_URL", "REDIS_URL", "TEST_DATABASE_URL", "TEST_REDIS_URL", "DJANGO_SETTINGS_MODULE")


class Database(StrEnum):
    """Which database a run of a group is on."""

    NONE = "none"
    SQLITE = "SQLite"
    POSTGRESQL = "PostgreSQL"


class PytestExit(IntEnum):
    """Pytest's exit codes that are told apart here."""

    PASSED = 0
    FAILED = 1
    NO_TEST = 5


@dataclass(frozen=True)
class Group:
    """A folder of tests and the databases that it is run on, one after the other."""

    name: str
    databases: Sequence[Database]
    where: str = ""  # its folder, when that is not named as the group is
    but: Sequence[str] = ()  # folders in its own that belong to other groups
    fast: bool = False
    without: Sequence[str] = ("schemathesis",)  # plugins that it does not use and that take a second to load
    needs_chromium: bool = False
    needs_agents: bool = False
    uses_bubblewrap: bool = False  # its tests of sandboxes are left out where there is none
    again: bool = False  # real processes and browsers: what fails is tried once more, alone, and the table says so

    @property
    def folder(self) -> Path:
        """Where its tests stand."""
        return TESTS / (self.where or self.name)

    @property
    def arguments(self) -> list[str]:
        """Which tests pytest runs, and without which of its plugins."""
        left_out = [f"--ignore={TESTS / folder}" for folder in self.but]
        return [str(self.folder), *left_out, *(f"-pno:{plugin}" for plugin in self.without)]

    @property
    def has_tests(self) -> bool:
        """Whether any file of tests stands there yet."""
        return any(self.folder.rglob("test_*.py"))


BOTH = (Database.SQLITE, Database.POSTGRESQL)
GROUPS = (
    Group("unit", [Database.NONE], fast=True),
    Group("architecture", [Database.SQLITE], fast=True),
    Group("services", BOTH, fast=True, uses_bubblewrap=True),
    Group("web", [Database.SQLITE], fast=True, without=()),  # `script/test --postgres tests/web` tries the other
    Group("journeys", BOTH, but=["journeys/agents"], again=True, uses_bubblewrap=True),
    Group("browser", [Database.SQLITE], needs_chromium=True, again=True),
    Group("agents", [Database.SQLITE], where="journeys/agents", needs_agents=True, again=True),
)


@dataclass(frozen=True)
class Result:
    """What came of one run of a group; `note` says why it counts nothing, or what failed besides tests."""

    name: str
    database: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    note: str = ""
    good: bool = True


def run_pytest(
    name: str,
    database: Database,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    *,
    may_be_empty: bool,
) -> Result:
    """Run pytest with its output in view, in a home that is removed afterwards, and count what it reports.

    `may_be_empty`: a run that selects no test is no failure (the caller narrowed it down by hand).
    """
    print(f"\n== {name} on {database}" if database is not Database.NONE else f"\n== {name}", flush=True)
    with tempfile.TemporaryDirectory(prefix="trinity-test-", ignore_cleanup_errors=True) as home:
        report = Path(home) / "junit.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments]
        environment = {word: text for word, text in os.environ.items() if word not in NOT_FOR_TESTS}
        environment |= {"TRINITY_TEST_HOME": home, "PYTHONUNBUFFERED": "1", **variables}
        began = time.monotonic()
        code = _run_to_the_end(command, environment)
        seconds = time.monotonic() - began
        passed, failed, skipped = _counts(report)
    fault = _fault(code, passed + failed, may_be_empty=may_be_empty)
    note = fault or ("" if passed + failed + skipped else "no test chosen")
    return Result(name, database, passed, failed, skipped, seconds, note, good=not fault and not failed)


def _run_to_the_end(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Wait for it; when this process is told to end, let pytest undo its fixtures first."""
    child = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        return child.wait(GROUP_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"\nNot done after {GROUP_SECONDS} s: ending it.", flush=True)
        _end(child)
        return -signal.SIGALRM
    except KeyboardInterrupt:
        _wait_for(child, 5)  # Ctrl-C reached it as well, and a second one would cut its clean-up off
        _end(child)
        raise
    except BaseException:
        _end(child)
        raise


def _end(child: "subprocess.Popen[bytes]") -> None:
    for sign in (signal.SIGINT, signal.SIGKILL):
        if child.poll() is None:
            child.send_signal(sign)
            _wait_for(child, 15)


def _wait_for(child: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _counts(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests in pytest's report; a test that failed twice is one."""
    if not report.is_file():
        return 0, 0, 0
    outcomes: dict[tuple[str | None, str | None], str] = {}
    # The report is our own child's.
    for test in ElementTree.parse(report).getroot().iter("testcase"):  # noqa: S314
        key = (test.get("classname"), test.get("name"))
        if test.find("failure") is not None or test.find("error") is not None:
            outcomes[key] = "failed"
        elif test.find("skipped") is not None:
            outcomes.setdefault(key, "skipped")
        else:
            outcomes.setdefault(key, "passed")
    counted = list(outcomes.values())
    return counted.count("passed"), counted.count("failed"), counted.count("skipped")


def _fault(code: int, ran: int, *, may_be_empty: bool) -> str:
    if code == -signal.SIGALRM:
        return f"ended after {GROUP_SECONDS} s"
    if code not in set(PytestExit):
        return f"pytest ended with exit code {code}"
    if not ran and not may_be_empty:
        return "ran no test"
    return ""
