"""Runs the tests, group by group and database by database, and says what ran where; tests nothing itself.

`script/test` calls it with the environment made. Arguments that it does not know go to pytest.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import FrameType

from agent_programs import bring_agent_programs
from conclusion import conclude
from groups import GROUPS, ROOT, TESTS, Database, Group, Result, run_pytest
from packages import Product, Unavailable, install
from throwaway import bring_programs, throwaway_servers

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MOST_TRIED_AGAIN = 5  # more than a few is no coincidence
GIVEN_BY = {Product.POSTGRESQL: "TEST_DATABASE_URL", Product.REDIS: "TEST_REDIS_URL"}


class Ended(BaseException):
    """A signal told us to end: everything that was started is ended on the way out."""


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for; the exit code is 0 only if all of it is well."""
    chosen, for_pytest = _options().parse_known_args(arguments)
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, _end)
    # A shell starts what runs in its background with SIGINT ignored, and pytest would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for_pytest = [_test_path(word) or word for word in for_pytest]
    paths_given = any(map(_test_path, for_pytest))
    results: list[Result] = []
    try:
        with ExitStack() as until_the_end:
            suite = Suite(chosen, for_pytest, until_the_end)
            for result in suite.run_paths() if paths_given else suite.run_groups():
                results.append(result)
    except (KeyboardInterrupt, Ended):
        results.append(Result("(the rest)", "", note="not run: told to end", good=False))
    return conclude(results)


class Suite:
    """One run of the tests. What it starts ends with `until_the_end`."""

    def __init__(self, chosen: argparse.Namespace, for_pytest: list[str], until_the_end: ExitStack) -> None:
        self.chosen = chosen
        self.for_pytest = for_pytest
        self.until_the_end = until_the_end
        self.services: dict[str, str] | None = None

    def run_paths(self) -> Iterator[Result]:
        """Run only the tests that were named."""
        on_postgresql = self.chosen.postgres or bool(os.environ.get(GIVEN_BY[Product.POSTGRESQL]))
        database = Database.POSTGRESQL if on_postgresql else Database.SQLITE
        try:
            variables = self._variables(database)
        except Unavailable as reason:
            yield self._not_run("named tests", database, reason)
            return
        yield run_pytest("named tests", database, self.for_pytest, variables, may_be_empty=False)

    def run_groups(self) -> Iterator[Result]:
        """Run the checks, then every group: first without a server, then on PostgreSQL."""
        if self.chosen.check:
            yield run_check()
        groups = [group for group in GROUPS if group.fast or not self.chosen.fast]
        for group in groups:
            for database in group.databases:
                if database is not Database.POSTGRESQL:
                    yield from self._run(group, database)
        if self.chosen.fast:
            return
        for group in groups:
            if Database.POSTGRESQL in group.databases:
                yield from self._run(group, Database.POSTGRESQL)

    def _run(self, group: Group, database: Database) -> Iterator[Result]:
        if group.needs_agents and not self.chosen.agents:
            return
        if not group.has_tests:
            yield Result(group.name, database, note="none yet")
            return
        try:
            variables = self._variables(database)
            if group.needs_chromium:
                variables["CHROMIUM"] = str(bring_chromium(may_install=self.chosen.install))
            if group.needs_agents:
                variables |= bring_agent_programs()
            if group.uses_bubblewrap:
                want_bubblewrap(may_install=self.chosen.install)
        except Unavailable as reason:
            yield self._not_run(group.name, database, reason)
            return
        arguments = [*group.arguments, *self._markers(database, variables)]
        may_be_empty = bool(self.for_pytest)  # the caller chose tests by other means than folders
        arguments += self.for_pytest
        result = run_pytest(group.name, database, arguments, variables, may_be_empty=may_be_empty)
        if group.again and 0 < result.failed <= MOST_TRIED_AGAIN:
            result = _tried_again(result, run_pytest, [*arguments, "--last-failed"], variables)
        yield result

    def _not_run(self, name: str, database: Database, reason: Unavailable) -> Result:
        print(f"\n== {name} on {database}: not run. {reason}", flush=True)
        return Result(name, database, note=f"not run: {reason}".splitlines()[0], good=not self.chosen.strict)

    def _markers(self, database: Database, variables: dict[str, str]) -> list[str]:
        """Leave out what the run cannot carry, and on the second database what the first one has told already."""
        left_out = ["once"] if database is Database.POSTGRESQL else ["postgres"]
        if GIVEN_BY[Product.REDIS] not in variables:
            left_out.append("redis")
        return ["-m", " and ".join(f"not {mark}" for mark in left_out)]

    def _variables(self, database: Database) -> dict[str, str]:
        """The environment of a run; PostgreSQL and Redis are started when the first run needs them."""
        if database is not Database.POSTGRESQL:
            return {}
        if self.services is None:
            self.services = self._start_services()
        if GIVEN_BY[Product.POSTGRESQL] not in self.services:
            raise Unavailable("PostgreSQL could not be had (see above)")
        return dict(self.services)

    def _start_services(self) -> dict[str, str]:
        given = {word: os.environ[word] for word in GIVEN_BY.values() if os.environ.get(word)}
        wanted = [product for product, word in GIVEN_BY.items() if word not in given and self._can_run(product)]
        if not wanted:
            return given
        servers = self.until_the_end.enter_context(throwaway_servers(wanted))
        print(f"\nStarted {' and '.join(wanted)} in {servers.folder}", flush=True)
        return given | {f"TEST_{word}": url for word, url in servers.environment(wanted).items()}

    def _can_run(self, product: Product) -> bool:
        try:
            bring_programs([product], may_install=self.chosen.install)
        except Unavailable as reason:
            print(f"\n{product}: {reason}", flush=True)
            return False
        return True


def _tried_again(first: Result, run: Callable[..., Result], arguments: list[str], variables: dict[str, str]) -> Result:
    """What failed once more, alone: a machine that is busy keeps real processes waiting; a fault fails again."""
    second = run(first.name, Database(first.database), arguments, variables, may_be_empty=False)
    told = f"{first.failed} failed at first, {second.failed} again, alone"
    return replace(
        second,
        passed=first.passed + second.passed,
        skipped=first.skipped,
        seconds=first.seconds + second.seconds,
        note="; ".join(filter(None, (second.note, told))),
    )


def run_check() -> Result:
    """Run script/check; it says by itself what is wrong."""
    print("== check", flush=True)
    finished = subprocess.run([sys.executable, ROOT / "script" / "checks.py"], check=False)
    return Result("check", "", note="" if finished.returncode == 0 else "failed", good=finished.returncode == 0)


def bring_chromium(*, may_install: bool) -> Path:
    """Chromium's program: the one that the variable CHROMIUM names, one on the PATH, or one installed now.

    Raises Unavailable.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        if not os.access(named, os.X_OK):
            raise Unavailable(f"CHROMIUM names {named}, which is no program")
        return Path(named)
    found = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if found is None and may_install:
        install(Product.CHROMIUM)
        found = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if found is None:
        raise Unavailable("Chromium is not here; the variable CHROMIUM can name one")
    return Path(found)


def want_bubblewrap(*, may_install: bool) -> None:
    """Install bubblewrap where it is missing and can be had; say so where not, and go on."""
    if shutil.which("bwrap") is not None or not may_install or not sys.platform.startswith("linux"):
        return
    try:
        install(Product.BUBBLEWRAP)
    except Unavailable as reason:
        print(f"\n{Product.BUBBLEWRAP}: {reason}", flush=True)


def _test_path(word: str) -> str | None:
    """The whole path of an argument that names tests, seen from the caller's folder or from the project's."""
    name, colons, test = word.partition("::")
    for path in (Path(name).resolve(), (ROOT / name).resolve()):
        if not word.startswith("-") and path.exists() and path.is_relative_to(TESTS):
            return f"{path}{colons}{test}"
    return None


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="script/test",
        allow_abbrev=False,
        description="Runs script/check and all tests, on SQLite and on PostgreSQL. Paths of tests run only "
        "those; what is not listed here goes to pytest. TEST_DATABASE_URL and TEST_REDIS_URL name "
        "servers to use in place of throwaway ones, CHROMIUM a browser.",
    )
    add = parser.add_argument
    add("--fast", action="store_true", help="only unit, architecture, services and web, only on SQLite")
    add("--agents", action="store_true", help="also with the real command-line agents (installs them by npm)")
    add("--postgres", action="store_true", help="run the named tests on PostgreSQL")
    add("--strict", action="store_true", help="a group that cannot run here is a failure")
    add("--no-check", dest="check", action="store_false", help="leave script/check out")
    add("--no-install", dest="install", action="store_false", help="install no program of the system")
    return parser


def _end(_sign: int, _frame: FrameType | None) -> None:
    raise Ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
