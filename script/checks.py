"""Runs every check that needs no test run, two at a time, and shows what failed ones said; changes no file.

`script/check` calls it with the environment made.
"""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from written import files_over_their_size, requirements_at_fault

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent  # not resolved: the venv's, not those beside the Python that it is made of
OPENAPI = ROOT / "docs" / "openapi.yaml"
AT_A_TIME = 2


@dataclass(frozen=True)
class Verdict:
    """What a check found; `remarks` of a good one are shown too, and are for thought only."""

    good: bool
    remarks: str = ""


@dataclass(frozen=True)
class Check:
    """One line of the output."""

    name: str
    ask: Callable[[], Verdict]


def tool(name: str, *arguments: str) -> list[str]:
    """An installed tool's command; through Python, since a tool's first line breaks when a venv is moved."""
    return [sys.executable, str(TOOLS / name), *arguments]


def command(*words: str, **variables: str) -> Callable[[], Verdict]:
    """A check that is a command's exit code; it runs on a home of its own, without the caller's settings."""

    def ask() -> Verdict:
        with tempfile.TemporaryDirectory(prefix="trinity-check-") as home:
            finished = subprocess.run(
                words,
                cwd=ROOT,
                env=environment(home) | variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
        return Verdict(finished.returncode == 0, "" if finished.returncode == 0 else finished.stdout.strip())

    return ask


def environment(home: str) -> dict[str, str]:
    """An embedded Trinity on an empty home; empty variables also stand before those of a `.env` file."""
    return os.environ | {
        "TRINITY_HOME": home,
        "SECRET_KEY": secrets.token_urlsafe(64),
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "DEBUG": "0",
        "DJANGO_SETTINGS_MODULE": "trinity.settings",
        "PYTHONUNBUFFERED": "1",
    }


# What a public installation sets. Nothing connects to these addresses.
PRODUCTION = {
    "DATABASE_URL": "postgresql://trinity@database.invalid/trinity",
    "REDIS_URL": "redis://redis.invalid/0",
    "ALLOWED_HOSTS": "trinity.invalid",
    "CSRF_TRUSTED_ORIGINS": "https://trinity.invalid",
    "TRINITY_URL": "https://trinity.invalid",
    "HOST": "0.0.0.0",  # noqa: S104 - as in a container
    "HTTPS": "1",
    "BEHIND_PROXY": "1",
}


def openapi_is_fresh() -> Verdict:
    """Whether docs/openapi.yaml is what the code describes now."""
    with tempfile.TemporaryDirectory(prefix="trinity-check-") as folder:
        fresh = Path(folder) / "openapi.yaml"
        written = command(
            *(
                sys.executable,
                "manage.py",
                "spectacular",
                "--validate",
                "--fail-on-warn",
                "--file",
                str(fresh),
            )
        )()
        if not written.good:
            return written
        if OPENAPI.is_file() and OPENAPI.read_bytes() == fresh.read_bytes():
            return Verdict(good=True)
        shown = command("diff", "-u", str(OPENAPI), str(fresh))().remarks
    return Verdict(
        good=False,
        remarks=f"{shown}\nTo write it anew: .venv/bin/python manage.py spectacular --file docs/openapi.yaml",
    )


def requirements_are_sound() -> Verdict:
    """Whether every pin is whole and hashed, names no download address, and the two files agree."""
    at_fault = requirements_at_fault(ROOT)
    return Verdict(not at_fault, "\n".join(at_fault))


def sizes_are_thought_of() -> Verdict:
    """Never fails: the sizes of section 6 of the design are those that make one stop and think."""
    return Verdict(good=True, remarks="\n".join(files_over_their_size(ROOT)))


# The longest first: the rest passes beside them.
CHECKS: Sequence[Check] = (
    Check("types (mypy --strict)", command(sys.executable, "-m", "mypy", "--show-traceback", ".")),
    Check("templates: rules (djlint)", command(*tool("djlint", "templates", "--lint", "--quiet"))),
    Check("API description is fresh", openapi_is_fresh),
    Check(
        "migrations are complete",
        command(sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"),
    ),
    Check(
        "safe to deploy",
        command(sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION),
    ),
    Check("imports run one way", command(*tool("lint-imports", "--no-logo"))),
    Check("packages fit together", command(sys.executable, "-m", "pip", "check")),
    Check("format (ruff)", command(sys.executable, "-m", "ruff", "format", "--check", ".")),
    Check("lint (ruff)", command(sys.executable, "-m", "ruff", "check", "--output-format=concise", ".")),
    Check("requirements are pinned", requirements_are_sound),
    Check("sizes", sizes_are_thought_of),
)


def run_all(checks: Sequence[Check]) -> int:
    """Run them all, and print a line for each; the exit code is 0 only if each is well."""
    all_good = True
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        asked = [threads.submit(_timed, check) for check in checks]
        for answer in as_completed(asked):
            check, verdict, seconds = answer.result()
            all_good = all_good and verdict.good
            print(f"{'ok' if verdict.good else 'FAILED':<7} {check.name:<28} {seconds:>5.1f} s", flush=True)
            if verdict.remarks:
                print("\n".join(f"        {line}" for line in verdict.remarks.splitlines()), flush=True)
    return 0 if all_good else 1


def _timed(check: Check) -> tuple[Check, Verdict, float]:
    began = time.monotonic()
    try:
        verdict = check.ask()
    except Exception as error:  # the outermost edge: the other checks still run, and this one is told of
        verdict = Verdict(good=False, remarks=f"{type(error).__name__}: {error}")
    return check, verdict, time.monotonic() - began


if __name__ == "__main__":
    sys.exit(run_all(CHECKS))
