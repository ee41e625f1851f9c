"""`add_agent` from an empty folder: beside a server and without one, with what real programs printed."""

import os
from pathlib import Path

import pytest

from tests.conftest import DATA
from tests.journeys.server import EmbeddedServer

pytestmark = pytest.mark.once
RECORDINGS = DATA / "fixtures" / "claude"
LOGGED_IN = '{"loggedIn": true, "email": "alice@example.com", "subscriptionType": "max"}'


@pytest.fixture
def installation(tmp_path: Path) -> EmbeddedServer:
    """Not started; with a home of the operator's and a PATH of its own."""
    made = EmbeddedServer(tmp_path / "data")
    (tmp_path / "bin").mkdir()
    (tmp_path / "operator").mkdir()
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    kept = {name: text for name, text in made.environment.items() if not name.startswith(("ANTHROPIC_", "CLAUDE"))}
    made.environment = kept | {"PATH": path, "HOME": str(tmp_path / "operator")}
    yield made
    made.stop()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "my-repo"
    folder.mkdir()
    return folder


def claude(folder: Path, recording: str) -> None:
    """A program that answers every call as the recording does."""
    path = folder / "bin" / "claude"
    path.write_text(
        f"#!/bin/sh\ncase \"$1\" in --version) echo 2.1.332;; auth) echo '{LOGGED_IN}';; "
        f"*) cat >/dev/null; cat {RECORDINGS / recording};; esac\n"
    )
    path.chmod(0o755)


def test_it_may_be_the_first_thing_that_somebody_runs(installation: EmbeddedServer, repo: Path, tmp_path: Path) -> None:
    claude(tmp_path, "hello_stream.out")

    done = installation.manage("add_agent", "claude", str(repo))

    assert done.returncode == 0, done.stderr
    for said in (
        "log in as   admin /",
        "The agent my-repo (claude-code) is made.",
        "alice@example.com, Claude max",
        "It answered in",
        "Hello from the fake model.",
        "a call costs  $0.0046",
        "No server runs yet.",
        "manage.py loop my-repo ",
        f"{installation.address}/agents/my-repo/loops/",
    ):
        assert said in done.stdout


def test_beside_a_server_the_server_makes_the_call(installation: EmbeddedServer, repo: Path, tmp_path: Path) -> None:
    claude(tmp_path, "hello_stream.out")
    installation.start()

    done = installation.manage("add_agent", "claude", str(repo), "--name", "mine")
    again = installation.manage("add_agent", "claude", str(repo))

    assert (done.returncode, again.returncode) == (0, 0), done.stderr + again.stderr
    assert "No server runs yet." not in done.stdout
    assert "There is an agent mine (claude-code) on this folder already" in again.stdout
    assert len(installation.get("/api/agents/mine")[1]["name"]) == 4
    assert installation.get("/api/executions?agent=mine")[1][0]["status"] == "completed"


def test_a_server_goes_on_with_a_check_whose_model_is_away(
    installation: EmbeddedServer, repo: Path, tmp_path: Path
) -> None:
    claude(tmp_path, "err429.out")

    done = installation.manage("add_agent", "claude", str(repo))

    assert done.returncode == 4, done.stderr
    assert "Waiting for the model until" in done.stdout
    assert "script/server goes on with it by itself" in done.stdout
    installation.start()
    assert installation.get("/api/executions?agent=my-repo")[1][0]["waiting"]["why"] == "rate_limited"


def test_an_expired_login_is_told_by_the_call_and_the_agent_stays(
    installation: EmbeddedServer, repo: Path, tmp_path: Path
) -> None:
    claude(tmp_path, "err401.out")

    done = installation.manage("add_agent", "claude", str(repo))

    assert done.returncode == 3
    assert "Log in again" in done.stderr
    assert "correct what is wrong and run this again" in done.stderr


def test_a_command_is_whatever_stands_behind_the_dashes(installation: EmbeddedServer, repo: Path) -> None:
    program = "import sys; print('heard', len(sys.stdin.read()) > 9, sys.argv[1:])"

    done = installation.manage("add_agent", "command", str(repo), "--", "python3", "-c", program, "--name", "its own")

    assert done.returncode == 0, done.stderr
    assert "heard True ['--name', 'its own']" in done.stdout
    assert "a call costs  unknown" in done.stdout


ODD = [
    (["claude", "nowhere"], "folder: There is no folder at "),
    (["claude", "."], "kind: Claude Code is not on this machine."),
    (["claude", ".", "--", "x"], "argv: Only a command has arguments"),
    (["command", "."], "argv: Must name a program"),
    (["command", ".", "--mcp-servers", "none.json", "--", "cat"], "mcp-servers: none.json cannot be read"),
    (["emacs", "."], "invalid choice: 'emacs'"),
]


def test_what_is_missing_is_named_and_nothing_is_made(installation: EmbeddedServer) -> None:
    installation.environment["PATH"] = "/usr/bin:/bin"

    for arguments, said in ODD:
        done = installation.manage("add_agent", *arguments)

        assert (done.returncode, said in done.stderr) == (2, True), (arguments, done.stderr)
    installation.start()
    assert [one["name"] for one in installation.get("/api/agents")[1]] == ["inbox", "practice"]
