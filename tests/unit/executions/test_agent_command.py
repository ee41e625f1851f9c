"""The `trinity` command as an agent calls it: a program on the PATH, against a server that notes what it was asked."""

import ast
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from executions.worker import agent_command
from executions.worker.environment import COMMANDS

PROGRAM = Path(agent_command.__file__)
STARTED = {"loop_id": "loop_0123456789abcdef", "status": "queued", "agent_name": "scribe", "max_runs": 3}


class Server(HTTPServer):
    """Answers each request with what the test says, and keeps it."""

    answers: list[tuple[int, Any]]
    asked: list[tuple[str, str, dict[str, str], Any]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        status, said = self.server.answers.pop(0)
        if status == 0:  # the line is cut
            self.close_connection = True
            self.connection.close()
            return
        sent = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = _answer

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server(("127.0.0.1", 0), Handler)
    found.answers, found.asked = [(202, STARTED)], []
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()


def trinity(server: Server | None, *words: str, stdin: str = "", **variables: str) -> tuple[int, Any, str]:
    """Exit code, parsed stdout, stderr of one call."""
    environment = {"PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}", "TRINITY_PYTHON": sys.executable}
    if server is not None:
        environment |= {
            "TRINITY_URL": f"http://127.0.0.1:{server.server_port}/",
            "TRINITY_API_KEY": "trx_secret",
            "TRINITY_AGENT": "scribe",
        }
    done = subprocess.run(
        ["trinity", *words],
        env=environment | variables,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def test_a_loop_is_started_on_the_agent_itself_with_its_own_key(server: Server) -> None:
    code, said, _ = trinity(server, "loop", "start", "Say a number", "--max-runs", "3")

    assert (code, said) == (0, STARTED)
    method, path, headers, body = server.asked[0]
    assert (method, path, headers["Authorization"]) == ("POST", "/api/agents/scribe/loops", "Bearer trx_secret")
    assert body == {"message": "Say a number", "max_runs": 3}
    assert headers["Idempotency-Key"]


def test_every_word_of_a_loop_can_be_said(server: Server) -> None:
    limits = ["--every", "2m", "--timeout-per-run", "60s", "--max-duration", "1h", "--max-cost", "0.5"]
    ends = ["--stop-signal", "[[DONE]]", "--no-progress", "4", "--on-failure", "continue"]
    rest = ["--max-consecutive-failures", "2", "--model", "small", "--allow-tool", "Bash", "--allow-tool", "Read"]
    words = [*limits, *ends, *rest]

    trinity(server, "loop", "start", "-", "--max-runs", "5", *words, "--agent", "a/b", stdin="From stdin\n")

    assert server.asked[0][1] == "/api/agents/a%2Fb/loops"
    assert server.asked[0][3] == {
        "message": "From stdin\n",
        "max_runs": 5,
        "stop_signal": "[[DONE]]",
        "delay_seconds": 120.0,
        "timeout_per_run": 60.0,
        "max_duration_seconds": 3600.0,
        "no_progress_threshold": 4,
        "max_cost_usd": 0.5,
        "on_failure": "continue",
        "max_consecutive_failures": 2,
        "model": "small",
        "allowed_tools": ["Bash", "Read"],
    }


def test_a_poll_may_repeat_itself(server: Server) -> None:
    trinity(server, "loop", "start", "Look", "--max-runs", "5", "--every", "120")

    assert server.asked[0][3]["no_progress_threshold"] == 0


@pytest.mark.parametrize(
    ("word", "seconds"), [("120", 120), ("90s", 90), ("2m", 120), ("2 minutes", 120), ("1.5 h", 5400)]
)
def test_a_time_is_read_as_people_write_it(word: str, seconds: float) -> None:
    assert agent_command.seconds(word) == seconds


@pytest.mark.parametrize("every", ["3601", "2h", "1 day"])
def test_a_pace_slower_than_an_hour_is_refused_with_a_hint_and_nothing_is_asked(server: Server, every: str) -> None:
    code, said, stderr = trinity(server, "loop", "start", "Look", "--max-runs", "5", "--every", every)

    assert code == 1
    assert "schedule" in said["refused"]
    assert said["errors"]["delay_seconds"]
    assert "an hour" in stderr
    assert server.asked == []


def test_a_loop_is_read_and_stopped(server: Server) -> None:
    server.answers = [(200, {"status": "running"}), (200, {"status": "stopping"})]

    assert trinity(server, "loop", "status", "loop_x")[:2] == (0, {"status": "running"})
    assert trinity(server, "loop", "stop", "loop_x")[:2] == (0, {"status": "stopping"})
    assert [(method, path) for method, path, _, _ in server.asked] == [
        ("GET", "/api/loops/loop_x"),
        ("POST", "/api/loops/loop_x/stop"),
    ]


def test_a_refusal_is_said_in_the_servers_words_and_by_field(server: Server) -> None:
    server.answers = [
        (400, {"detail": "max_runs: Must be at most 100.", "code": "invalid", "errors": {"max_runs": ["x"]}})
    ]

    code, said, stderr = trinity(server, "loop", "start", "Look", "--max-runs", "101")

    assert code == 1
    assert said == {"refused": "max_runs: Must be at most 100.", "code": "invalid", "errors": {"max_runs": ["x"]}}
    assert stderr == "trinity: max_runs: Must be at most 100.\n"


@pytest.mark.parametrize("said", [b"<html>", b"[]", b"{}", b""])
def test_an_error_that_is_no_problem_is_a_refusal_too(server: Server, said: bytes) -> None:
    server.answers = [(502, said)]

    code, found, _ = trinity(server, "loop", "stop", "loop_x")

    assert (code, found["status"]) == (1, 502)


def test_a_line_that_is_cut_is_tried_again_as_the_same_start(server: Server) -> None:
    server.answers = [(0, None), (202, STARTED)]

    code, said, _ = trinity(server, "loop", "start", "Say a number", "--max-runs", "3")

    assert (code, said) == (0, STARTED)
    first, second = (headers["Idempotency-Key"] for _, _, headers, _ in server.asked)
    assert first == second


def test_a_server_that_is_away_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said, _ = trinity(None, "loop", "stop", "x", TRINITY_URL="http://127.0.0.1:9", TRINITY_API_KEY="k")

    assert (code, said["code"]) == (3, "unavailable")


@pytest.mark.parametrize(
    "words",
    [(), ("loop",), ("loop", "start"), ("loop", "start", "x"), ("loop", "start", "x", "--max-runs", "many"),
     ("loop", "start", "x", "--max-runs", "2", "--every", "soon"), ("loop", "begin"), ("loops",)],
)  # fmt: skip
def test_what_is_not_understood_is_said_as_json_too(words: tuple[str, ...]) -> None:
    code, said, stderr = trinity(None, *words)

    assert (code, said["code"]) == (2, "malformed")
    assert "usage: trinity" in stderr


def test_outside_a_run_it_says_what_is_missing() -> None:
    code, said, _ = trinity(None, "loop", "stop", "loop_x")

    assert code == 1
    assert "within a run of an agent" in said["refused"]


def test_it_runs_with_whatever_python_is_there(server: Server) -> None:
    code, said, _ = trinity(server, "loop", "start", "x", "--max-runs", "3", TRINITY_PYTHON="/nowhere/python")

    assert (code, said) == (0, STARTED)


def test_it_imports_the_standard_library_alone() -> None:
    tree = ast.parse(PROGRAM.read_text())
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert {name.partition(".")[0] for name in modules} <= set(sys.stdlib_module_names)
    assert os.access(COMMANDS / "trinity", os.X_OK)
