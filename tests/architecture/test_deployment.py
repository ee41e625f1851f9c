"""The files that say how Trinity is deployed agree with one another and with the settings."""

import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
READ_BY_SETTINGS = re.compile(r"""\benv(?:\.\w+)?\(\s*["']([A-Z_]+)["']""")
EXPLAINED = re.compile(r"^#?([A-Z_]+)=", re.MULTILINE)
ONLY_FOR_COMPOSE = {"POSTGRES_PASSWORD", "PUBLISH"}


def procfile() -> dict[str, str]:
    lines = (ROOT / "Procfile").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return read


def dockerfile() -> list[str]:
    return (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()


def test_the_example_explains_every_variable_that_the_settings_read_and_no_other() -> None:
    read = set(READ_BY_SETTINGS.findall((ROOT / "trinity" / "settings.py").read_text()))
    explained = EXPLAINED.findall((ROOT / ".env.example").read_text())

    assert len(explained) == len(set(explained))
    assert set(explained) - ONLY_FOR_COMPOSE == read


def test_the_example_sets_nothing_by_itself() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()

    assert [line for line in lines if line and not line.startswith("#")] == []


def test_compose_passes_on_only_variables_that_are_explained() -> None:
    explained = set(EXPLAINED.findall((ROOT / ".env.example").read_text()))
    text = (ROOT / "compose.yaml").read_text()

    assert set(re.findall(r"\$\{([A-Z_]+)", text)) <= explained
    assert set(compose()["x-trinity"]["environment"]) <= explained


def test_compose_starts_the_processes_of_the_procfile() -> None:
    services, processes = compose()["services"], procfile()

    assert set(processes) == {"release", "web", "worker"}
    assert services["setup"]["command"] == ["sh", "-c", processes["release"]]
    assert services["worker"]["command"] == shlex.split(processes["worker"])
    # The web service runs what the image runs by default; there the addresses come from the image's environment.
    started = next(line for line in dockerfile() if line.startswith("CMD"))
    options = processes["web"].split("}", 2)[2].strip()
    assert f'{options}"]' in started


def test_no_process_serves_before_the_database_is_migrated() -> None:
    services = compose()["services"]

    for name in ("web", "worker"):
        assert services[name]["depends_on"]["setup"]["condition"] == "service_completed_successfully"


def test_the_image_runs_as_an_account_without_rights_and_is_asked_how_it_is() -> None:
    lines = dockerfile()
    users = [line.split()[1] for line in lines if line.startswith("USER")]

    assert users == ["trinity"]
    assert lines.index("USER trinity") < next(n for n, line in enumerate(lines) if line.startswith("CMD"))
    assert any(line.startswith("HEALTHCHECK") and "script/healthy.py" in line for line in lines)


def test_neither_image_nor_compose_holds_a_secret() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()

    assert ".*" in ignored  # .env among them
    assert "var/" in ignored
    for word in ("POSTGRES_PASSWORD", "SECRET_KEY"):
        values = re.findall(rf"{word}: (.*)", (ROOT / "compose.yaml").read_text())
        assert values
        assert all(value.startswith(f"${{{word}:") for value in values)
    assert not re.search(r"PASSWORD|SECRET", "\n".join(dockerfile()))


@contextmanager
def answering(status: int) -> Iterator[tuple[int, list[tuple[str, str | None, str | None]]]]:
    """A web server that answers everything with one status, and what it was asked."""
    asked: list[tuple[str, str | None, str | None]] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Host"], self.headers["X-Forwarded-Proto"]))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


def health(port: int, allowed_hosts: str = "") -> int:
    environment = {"PATH": os.environ["PATH"], "PORT": str(port), "ALLOWED_HOSTS": allowed_hosts}
    command = [sys.executable, ROOT / "script" / "healthy.py"]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (301, 1), (400, 1)])
def test_a_container_is_well_only_when_healthz_answers_200(status: int, code: int) -> None:
    with answering(status) as (port, _):
        assert health(port) == code


def test_a_container_that_does_not_answer_is_not_well() -> None:
    with answering(200) as (port, _):
        pass

    assert health(port) == 1


@pytest.mark.parametrize(
    ("allowed", "host"),
    [("", "localhost"), ("*", "localhost"), ("trinity.example, web", "trinity.example"), (".example", "example")],
)
def test_health_is_asked_for_by_a_name_that_is_allowed_and_as_if_over_https(allowed: str, host: str) -> None:
    with answering(200) as (port, asked):
        health(port, allowed)

    assert asked == [("/healthz", host, "https")]
