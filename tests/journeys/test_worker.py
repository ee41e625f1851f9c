"""A worker on real processes: whatever an agent does, the outcome is clear and nothing is left running."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.models import Agent
from executions.models import Execution
from executions.services import queue_execution
from executions.step import agent_step
from executions.vocabulary import ENDED, Trigger
from executions.worker.carrier import Carrier
from loops.invariants import check_loop
from loops.parameters import read_parameters
from loops.services import start_loop
from tests.bubblewrap import needs_bubblewrap
from tests.journeys.server import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def carrier(tmp_path: Path, settings: Any) -> Iterator[Carrier]:
    settings.TRINITY_SWEEP_SECONDS = 0.2
    carrier = Carrier(tmp_path / "home")
    carrier.start()
    yield carrier
    carrier.stop()


@pytest.fixture
def program(make_agent: Callable[..., Agent], tmp_path: Path) -> Callable[..., Agent]:
    """An agent whose command is a Python program."""

    def make(source: str, **columns: Any) -> Agent:
        settings = {"argv": [sys.executable, "-c", source], "output": columns.pop("output", "text")}
        return make_agent("programmer", runtime="command", runtime_settings=settings, **columns)

    return make


def call(agent: Agent, prompt: str = "go", timeout_seconds: int = 30) -> Execution:
    with agent_step(agent.pk) as step:
        return queue_execution(step, trigger=Trigger.API, prompt=prompt, timeout_seconds=timeout_seconds)


def ended(execution: Execution, seconds: float = 30) -> Execution:
    def look() -> bool:
        execution.refresh_from_db()
        return execution.status in ENDED

    wait_for(look, seconds=seconds, what=f"{execution.pk} to end")
    return execution


def marked_processes(home: Path) -> list[int]:
    """Processes of agents that were started from this home."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{process}/environ").read_bytes()
        except OSError:
            continue
        if f"TRINITY_SPOOL={home}".encode() in environment:
            found.append(int(process))
    return found


def test_the_reply_is_what_the_program_printed(carrier: Carrier, program: Callable[..., Agent]) -> None:
    agent = program("import sys; print('you said', sys.stdin.read())")

    execution = ended(call(agent, "héllo"))

    assert (execution.status, execution.response.strip()) == ("completed", "you said héllo")
    assert execution.duration_ms is not None


def test_a_prompt_longer_than_an_argument_may_be_arrives_whole(carrier: Carrier, program: Callable[..., Agent]) -> None:
    agent = program("import sys; print(len(sys.stdin.read()))")

    execution = ended(call(agent, "é" * 300_000))

    assert execution.response.strip() == "300000"


def test_a_run_beyond_its_time_is_ended_with_all_that_it_started(
    carrier: Carrier, program: Callable[..., Agent]
) -> None:
    agent = program(
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
        "print('so far', flush=True); time.sleep(300)\n"
    )

    execution = ended(call(agent, timeout_seconds=1), seconds=40)

    assert (execution.status, execution.error_kind) == ("timed_out", "timeout")
    assert "1 s" in execution.error
    wait_for(lambda: not marked_processes(carrier.home.root), what="an empty house")


def test_a_program_that_answers_and_hangs_is_done(carrier: Carrier, program: Callable[..., Agent]) -> None:
    agent = program(
        'import time\nprint(\'{"type":"result","is_error":false,"result":"here","total_cost_usd":0.5}\', flush=True)\n'
        "time.sleep(300)\n",
        output="stream-json",
    )

    execution = ended(call(agent, timeout_seconds=60), seconds=40)

    assert (execution.status, execution.response) == ("completed", "here")
    assert execution.cost_nano == 500_000_000


@pytest.mark.parametrize(
    ("source", "status", "kind"),
    [
        ("", "completed", ""),
        ("raise SystemExit(3)", "failed", "crashed"),
        ("import os; os.kill(os.getpid(), 9)", "failed", "crashed"),
    ],
)
def test_each_way_to_end_is_a_clear_outcome(
    carrier: Carrier, program: Callable[..., Agent], source: str, status: str, kind: str
) -> None:
    execution = ended(call(program(source)))

    assert (execution.status, execution.error_kind) == (status, kind)
    assert bool(execution.error) == (status == "failed")


def test_bytes_that_are_no_text_are_replaced(carrier: Carrier, program: Callable[..., Agent]) -> None:
    agent = program("import os; os.write(1, b'a\\xff\\x00b\\xed\\xa0\\x80c')")

    execution = ended(call(agent))

    assert execution.status == "completed"
    assert "\x00" not in execution.response
    assert execution.response.startswith("a")
    assert execution.response.rstrip().endswith("c")


def test_the_end_of_a_huge_output_is_kept(carrier: Carrier, program: Callable[..., Agent]) -> None:
    agent = program("import sys\nfor _ in range(300000): sys.stdout.write('x' * 99 + '\\n')\nprint('THE LAST LINE')")

    execution = ended(call(agent), seconds=60)

    assert execution.status == "completed"
    assert execution.response.rstrip().endswith("THE LAST LINE")
    assert len(execution.response) <= 1_000_000


def test_a_missing_program_and_a_missing_folder_say_so(
    carrier: Carrier, make_agent: Callable[..., Agent], tmp_path: Path
) -> None:
    settings = {"argv": ["/no/such/program"], "output": "text"}
    missing = ended(call(make_agent("nobody", runtime="command", runtime_settings=settings)))
    homeless = make_agent("homeless", runtime="command", runtime_settings={"argv": ["true"], "output": "text"})
    Agent.objects.filter(pk=homeless.pk).update(workspace=str(tmp_path / "gone"))
    nowhere = ended(call(homeless))

    assert (missing.status, missing.error_kind) == ("failed", "not_started")
    assert "/no/such/program" in missing.error
    assert (nowhere.status, nowhere.error_kind) == ("failed", "not_started")
    assert str(tmp_path / "gone") in nowhere.error


def test_an_abandoned_run_is_ended_and_says_so(carrier: Carrier, program: Callable[..., Agent]) -> None:
    execution = call(program("import time; print('up', flush=True); time.sleep(300)"))
    wait_for(lambda: Execution.objects.get(pk=execution.pk).in_flight and carrier.carried, what="the run")

    Execution.objects.filter(pk=execution.pk).update(abandon_requested_at=execution.queued_at)
    carrier.look_for_abandoned()
    ended(execution, seconds=20)

    assert (execution.status, execution.error_kind) == ("failed", "abandoned")
    wait_for(lambda: not marked_processes(carrier.home.root), what="an empty house")


def test_the_agent_sees_no_secret_of_the_server(
    carrier: Carrier, program: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "ADMIN_TOKEN"):
        monkeypatch.setenv(name, "hush")
    monkeypatch.setenv("MAY_PASS", "yes")
    agent = program("import os, json; print(json.dumps(dict(os.environ)))")
    Agent.objects.filter(pk=agent.pk).update(runtime_settings=agent.runtime_settings | {"env": ["MAY_PASS"]})

    printed = ended(call(agent)).response

    assert "hush" not in printed
    assert '"MAY_PASS": "yes"' in printed
    assert "TRINITY_API_KEY" in printed


def test_an_agent_whose_runner_was_killed_is_lost_and_not_started_again(
    carrier: Carrier, program: Callable[..., Agent], alice: Any, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    agent = program(f"open({str(count)!r}, 'a').write('x'); print('begun', flush=True); import time; time.sleep(300)")
    loop = start_loop(Viewer(user=alice), agent, read_parameters({"message": "go", "max_runs": 3}))
    wait_for(lambda: count.exists() and count.read_text(), what="the agent")
    execution = Execution.objects.get(loop_id=loop.pk)
    spool = carrier.home.spool(execution)
    runner = int((spool / "started").read_text().split()[0])

    os.kill(runner, 9)
    ended(execution)

    loop.refresh_from_db()
    assert (execution.status, execution.error_kind) == ("failed", "lost")
    assert (loop.status, loop.stop_reason) == ("failed", "error")
    assert count.read_text() == "x"
    assert check_loop(loop) == []
    wait_for(lambda: not marked_processes(carrier.home.root), what="an empty house")


# --- isolation --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("isolation", "source", "kind", "words"),
    [
        (
            {"memory_mb": 150},
            "held = []\nwhile True: held.append(bytearray(b'x' * (8 << 20)))",
            "memory_limit",
            "150 MiB",
        ),
        (
            {"processes": 3},
            "import subprocess, time\nfor n in range(5): subprocess.Popen(['sleep', '60'])\ntime.sleep(60)",
            "process_limit",
            "3 processes",
        ),
    ],
)
def test_an_agent_over_its_limits_is_ended_and_told_why(
    carrier: Carrier, make_agent: Callable[..., Agent], isolation: Any, source: str, kind: str, words: str
) -> None:
    argv = [sys.executable, "-c", f"print('so far', flush=True)\n{source}"]
    agent = make_agent("hog", runtime="command", runtime_settings={"argv": argv, "isolation": isolation})

    execution = ended(call(agent))

    assert (execution.status, execution.error_kind) == ("failed", kind)
    assert words in execution.error
    assert execution.response == "so far\n"
    assert not marked_processes(carrier.home.root)


@needs_bubblewrap
def test_an_agent_in_a_sandbox_works_in_its_folder_and_has_the_trinity_command(
    carrier: Carrier, make_agent: Callable[..., Agent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = (
        "import os, shutil; open('made', 'w').close()\n"
        "print(os.getcwd(), os.environ['HOME'], os.path.exists(os.environ['SEEN']), bool(shutil.which('trinity')))"
    )
    monkeypatch.setenv("SEEN", str(carrier.home.root / "spool"))
    read = [sys.prefix, sys.base_prefix]
    chosen = {"argv": [sys.executable, "-c", look], "env": ["SEEN"], "isolation": {"bwrap": {"read": read}}}
    agent = make_agent("boxed", runtime="command", runtime_settings=chosen)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    Agent.objects.filter(pk=agent.pk).update(workspace=str(workspace))

    execution = ended(call(agent))

    home = carrier.home.root / "agents" / "boxed" / "home"
    assert (execution.status, execution.error) == ("completed", "")
    assert execution.response.split() == [str(workspace), str(home), "False", "True"]
    assert (workspace / "made").exists()
