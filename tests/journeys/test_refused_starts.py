"""Processes that would start on settings that do not fit end at once and say why, whoever starts them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.server import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.once]
WORKER = ("celery", "-A", "trinity", "worker", "-P", "threads")
WEB = ("daphne", "--port", "0", "trinity.asgi:application")
NOWHERE = {"DATABASE_URL": "postgresql://trinity@127.0.0.1:1/trinity", "REDIS_URL": "redis://127.0.0.1:1/0"}


def said_by(command: tuple[str, ...], home: Path, variables: dict[str, str]) -> str:
    """What it prints; it must have ended, and not well."""
    known = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "DEBUG")
    kept = {name: value for name, value in os.environ.items() if name not in known}
    program = str(Path(sys.executable).with_name(command[0]))
    ended = subprocess.run(
        [program, *command[1:]],
        cwd=ROOT,
        env=kept | {"TRINITY_HOME": str(home), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode, ended.stdout
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("command", [WORKER, WEB])
@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({}, "DATABASE_URL and REDIS_URL are not set"),
        (NOWHERE, "SECRET_KEY is not set"),
        ({"DATABASE_URL": NOWHERE["DATABASE_URL"], "SECRET_KEY": "x" * 50}, "without REDIS_URL"),
    ],
    ids=["on SQLite", "without a key", "without Redis"],
)
def test_it_ends_with_a_sentence(
    tmp_path: Path, command: tuple[str, ...], variables: dict[str, str], sentence: str
) -> None:
    said = said_by(command, tmp_path, variables)

    assert sentence in said
    assert "Traceback" not in said
