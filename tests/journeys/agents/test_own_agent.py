"""From `script/agent` to a loop that is done: the real programs under a real server, against a model of our own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.server import ROOT, EmbeddedServer, wait_for

from .conftest import CLAUDE, CODEX, each
from .model_servers import AnthropicHandler, ModelServer, OpenAIHandler, serving

pytestmark = pytest.mark.slow
COMMIT = "echo more >> log.txt; git add -A; git -c user.name=Alice -c user.email=alice@localhost commit -qm more"
WORK = "echo begun >> begun.txt; sleep 6; echo done >> done.txt"
REPEAT = "trinity loop start 'SCENARIO:commit {{run}}' --max-runs 3 --no-progress 0"
WAKE_UP = {"delaySeconds": 60, "reason": "again", "prompt": "again"}
CLAUDE_SCENARIOS: dict[str, Any] = {
    "commit": [[("Bash", {"command": COMMIT})], ["One small improvement is committed."]],
    "work": [[("Bash", {"command": WORK})], ["worked"]],
    "ask": [[("mcp__trinity__agents", {})], ["asked"]],
    "wake": [[("ScheduleWakeup", WAKE_UP)], ["scheduled"]],
    "repeat": [[("Bash", {"command": REPEAT})], ["I have asked for it three times."]],
    "forbidden": [[("Bash", {"command": "rm -rf /nothing"}), ("Write", {"file_path": "x", "content": "y"})], ["no"]],
    "login": 401,
}
CODEX_SCENARIOS: dict[str, Any] = {
    "commit": [[("exec_command", {"cmd": COMMIT})], ["One small improvement is committed."]],
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """Not started yet; its operator has a home of their own."""
    made = EmbeddedServer(tmp_path / "data")
    (tmp_path / "operator").mkdir()
    strange = ("ANTHROPIC_", "CLAUDE", "CODEX", "OPENAI_")
    kept = {name: text for name, text in made.environment.items() if not name.startswith(strange)}
    made.environment = kept | {"HOME": str(tmp_path / "operator")}
    yield made
    made.stop()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "my-repo"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.fixture
def model(server: EmbeddedServer) -> Iterator[ModelServer]:
    """A model service for Claude Code, to which the server's variables lead."""
    with serving(AnthropicHandler, dict(CLAUDE_SCENARIOS)) as service:
        server.environment |= {
            "ANTHROPIC_API_KEY": "sk-ant-test",
            "ANTHROPIC_BASE_URL": service.address,
            "CLAUDE_CODE_MAX_RETRIES": "1",  # by itself it would try for three minutes, and hold its slot
        }
        yield service


def add(server: EmbeddedServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As an operator does it."""
    return subprocess.run(
        [ROOT / "script" / "agent", *arguments],
        env=server.environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("program", each(CLAUDE, "claude"))
def test_a_new_agent_does_a_loop_of_three_runs_with_tools_and_commits(
    server: EmbeddedServer, repo: Path, model: ModelServer, program: str
) -> None:
    added = add(server, "claude", str(repo), "--program", program, "--approve", "Bash")
    assert added.returncode == 0, added.stderr
    assert "an API key (ANTHROPIC_API_KEY)" in added.stdout
    assert "a call costs  $0.00" in added.stdout
    server.start()

    loop = server.ended_loop(
        server.start_loop("my-repo", message="SCENARIO:commit", max_runs=3, no_progress_threshold=0)
    )

    assert (loop["status"], loop["stop_reason"], loop["failed_runs"]) == ("completed", "max_runs_reached", 0)
    for run in loop["runs"]:
        assert (run["tool_calls"], run["commits"], run["lines_added"]) == (1, 1, 1)
        assert run["response_preview"] == "One small improvement is committed."
        assert run["cost_usd"] > 0
    assert loop["total_cost_usd"] == pytest.approx(sum(run["cost_usd"] for run in loop["runs"]))
    assert len((repo / "log.txt").read_text().splitlines()) == 3


@pytest.mark.parametrize("program", each(CODEX, "codex"))
def test_codex_does_the_same_and_its_cost_is_an_estimate(
    server: EmbeddedServer, repo: Path, tmp_path: Path, program: str
) -> None:
    with serving(OpenAIHandler, dict(CODEX_SCENARIOS)) as service:
        configure_codex(tmp_path / "operator", service)
        server.environment["OUR_KEY"] = "sk-test"
        # Its sandbox workspace-write would keep .git read-only.
        free = ("--sandbox", "danger-full-access", "--model", "gpt-5")
        added = add(server, "codex", str(repo), "--program", program, *free)
        assert added.returncode == 0, added.stderr
        assert "the model service 'ours' of its configuration (OUR_KEY)" in added.stdout
        server.start()

        loop = server.ended_loop(
            server.start_loop("my-repo", message="SCENARIO:commit", max_runs=3, no_progress_threshold=0)
        )

    assert (loop["status"], loop["stop_reason"]) == ("completed", "max_runs_reached")
    assert [(run["tool_calls"], run["commits"], run["cost_estimated"]) for run in loop["runs"]] == [(1, 1, True)] * 3


def configure_codex(home: Path, service: ModelServer) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        f'model_provider = "ours"\n[model_providers.ours]\nname = "ours"\nbase_url = "{service.address}/v1"\n'
        'env_key = "OUR_KEY"\nwire_api = "responses"\nrequest_max_retries = 1\nstream_max_retries = 1\n'
    )


@pytest.mark.parametrize("program", each(CLAUDE, "claude")[-1:])
def test_a_minute_of_429_is_waited_out_and_no_run_fails(
    server: EmbeddedServer, repo: Path, model: ModelServer, program: str
) -> None:
    assert add(server, "claude", str(repo), "--program", program, "--approve", "Bash").returncode == 0
    server.start()
    usual, model.scenarios["commit"] = model.scenarios["commit"], 429
    began = time.monotonic()

    loop_id = server.start_loop("my-repo", message="SCENARIO:commit", max_runs=2, no_progress_threshold=0)
    waiting = wait_for(lambda: server.loop(loop_id)["waiting"], what="the loop to wait for its model")
    while waiting["reason"] != "model":
        waiting = wait_for(lambda: server.loop(loop_id)["waiting"], what="the loop to wait for its model")
    assert waiting["words"].startswith("waiting for the model until ")
    assert (waiting["why"], waiting["until"] > waiting["since"]) == ("rate_limited", True)
    assert server.get("/api/executions?agent=my-repo&status=running")[1] == [], "no slot is held"
    wait_for(lambda: time.monotonic() - began > 55, seconds=60)
    model.scenarios["commit"] = usual

    loop = server.ended_loop(loop_id, seconds=120)
    assert (loop["status"], loop["failed_runs"], len(loop["runs"])) == ("completed", 0, 2)
    assert time.monotonic() - began > 59


@pytest.mark.parametrize("program", each(CLAUDE, "claude"))
def test_a_server_that_is_killed_within_a_run_finds_it_again_and_nothing_is_done_twice(
    server: EmbeddedServer, repo: Path, model: ModelServer, program: str
) -> None:
    assert add(server, "claude", str(repo), "--program", program, "--approve", "Bash").returncode == 0
    server.start()
    loop_id = server.start_loop("my-repo", message="SCENARIO:work", max_runs=1)
    wait_for((repo / "begun.txt").exists, what="the agent to work")

    server.kill()
    server.start()

    loop = server.ended_loop(loop_id)
    assert (loop["status"], loop["runs"][0]["response_preview"]) == ("completed", "worked")
    assert loop["runs"][0]["cost_usd"] > 0
    assert (repo / "begun.txt").read_text() == "begun\n"
    assert (repo / "done.txt").read_text() == "done\n"


@pytest.mark.parametrize("program", each(CLAUDE, "claude"))
def test_an_mcp_server_of_the_agent_may_call_back_with_the_key_of_its_run(
    server: EmbeddedServer, repo: Path, model: ModelServer, tmp_path: Path, program: str
) -> None:
    servers = tmp_path / "servers.json"
    back = {"command": sys.executable, "args": [str(Path(__file__).with_name("mcp_trinity.py"))]}
    servers.write_text(json.dumps({"mcpServers": {"trinity": back}}))
    arguments = ("--program", program, "--mcp-servers", str(servers), "--approve", "mcp__trinity")
    server.start()
    added = add(server, "claude", str(repo), *arguments)
    assert added.returncode == 0, added.stderr

    loop = server.ended_loop(server.start_loop("my-repo", message="SCENARIO:ask", max_runs=1))

    execution_id = loop["runs"][0]["execution_id"]
    [[call], *_] = server.get(f"/api/executions/{execution_id}/trajectory")[1]["steps"]
    assert (call["tool"], call["result"]) == ("mcp__trinity__agents", "my-repo")


@pytest.mark.parametrize("program", each(CLAUDE, "claude"))
def test_a_program_that_stays_alive_after_its_answer_is_ended_and_counts_as_done(
    server: EmbeddedServer, repo: Path, model: ModelServer, program: str
) -> None:
    """As a plain command its wake-ups are not denied: the newer one then waits, and would answer a second time."""
    server.start()
    argv = [program, "--print", "--output-format=stream-json", "--verbose", "--allowedTools=ScheduleWakeup"]
    settings = {"argv": argv, "output": "stream-json", "env": ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]}
    given = {"name": "bare", "runtime": "command", "runtime_settings": settings, "workspace": str(repo)}
    status, said = server.post("/api/agents", given)
    assert status == 201, said

    loop = server.ended_loop(server.start_loop("bare", message="SCENARIO:wake", max_runs=1), seconds=60)

    assert (loop["status"], loop["runs"][0]["response_preview"]) == ("completed", "scheduled")
    assert loop["runs"][0]["duration_ms"] < 40_000


@pytest.mark.parametrize("program", each(CLAUDE, "claude")[-1:])
def test_refused_tools_and_what_it_does_are_told_of_the_loop(
    server: EmbeddedServer, repo: Path, model: ModelServer, program: str
) -> None:
    server.environment["TRINITY_LEASE_SECONDS"] = "3"  # what it does is noted three times a lease
    server.start()
    added = add(server, "claude", str(repo), "--program", program, "--approve", "Bash(echo *)", "--approve", "Raed")
    assert added.returncode == 0, added.stderr
    assert "note: Approved, but not among the tools of this agent: Raed." in added.stdout

    loop = server.ended_loop(
        server.start_loop("my-repo", message="SCENARIO:forbidden", max_runs=1, no_progress_threshold=0)
    )

    assert loop["refused_tools"] == {"Bash": 1}


@pytest.mark.parametrize("program", each(CLAUDE, "claude")[-1:])
def test_a_login_that_has_run_out_is_told_by_the_check_call(
    server: EmbeddedServer, repo: Path, model: ModelServer, program: str
) -> None:
    def refuse(words: str, number: int) -> int:
        return 401

    model.turn = refuse  # type: ignore[method-assign]

    added = add(server, "claude", str(repo), "--program", program)

    assert added.returncode == 3
    assert "Log in again" in added.stderr
    assert "It gets ANTHROPIC_API_KEY" in added.stderr
    assert os.environ.get("ANTHROPIC_API_KEY") != "sk-ant-test"


@pytest.mark.parametrize("program", each(CLAUDE, "claude"))
def test_asked_in_a_room_to_repeat_it_starts_a_loop_of_the_room_by_the_trinity_command(
    server: EmbeddedServer, repo: Path, model: ModelServer, program: str
) -> None:
    assert add(server, "claude", str(repo), "--program", program, "--approve", "Bash").returncode == 0
    server.start()
    status, room = server.post("/api/rooms", {"agents": ["my-repo"], "text": "Do this three times: SCENARIO:repeat"})
    assert status == 201, room
    address = f"/api/rooms/{room['room_id']}"

    def card() -> dict[str, Any] | None:
        found = [one["loop"] for one in server.get(address)[1]["messages"] if one["kind"] == "loop"]
        return found[0] if found and found[0]["words"]["tone"] != "active" else None

    ended = wait_for(card, seconds=90, what="the loop's card to say that it has ended")

    assert (ended["words"]["workspace"], ended["run_number"], ended["max_runs"]) == ("Done", 3, 3)
    assert server.get(f"{address}/loops")[1][0]["loop_id"] == ended["loop_id"]
    said = [one for one in server.get(address)[1]["messages"] if one["kind"] == "said"]
    assert said[-1]["text"] == "I have asked for it three times."
    assert said[-1]["members_only"]
    prompt = server.get(f"/api/executions/{said[-1]['execution_id']}")[1]["prompt"]
    assert "trinity loop start" in prompt, "the platform says how repetition is done here"
    assert len((repo / "log.txt").read_text().splitlines()) == 3
