"""Goes on with one execution whose agent is a process: start it, watch it, or read what came of it."""

import errno
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import structlog

from agents.isolation.accounts import account_of
from agents.isolation.bubblewrap import wrapped
from agents.runtimes.base import CommandSpec, ErrorKind, Outcome
from agents.runtimes.isolation import isolation_of
from agents.runtimes.registry import runtime
from executions.models import Execution
from executions.runner import launch, state
from executions.runner.launch import Account, RunnerNotStarted, RunnerSpec
from executions.runner.vocabulary import RunnerState
from executions.worker import outcomes
from executions.worker.calls import call_of
from executions.worker.environment import OUR_COMMAND, agent_environment
from executions.worker.home import Home
from trinity.kernel.crashpoints import CrashPoint, reached
from trinity.kernel.errors import Refused

log = structlog.get_logger(__name__)
Watch = Callable[[Execution, int], None]


def go_on(execution: Execution, home: Home, watch: Watch) -> Outcome | None:
    """The outcome, when there is one now; None when the runner lives and `watch` was told of it.

    The spool folder decides (section 3): no start mark on the same spool means never started, so it is started; with
    one, it is watched, read, or lost. A lost one is never started again.
    """
    if execution.spool_id != home.spool_id:
        return outcomes.lost(None, "its files lie on a host that did not come back.")
    folder = home.spool(execution)
    if state.state(folder) is RunnerState.NEW:
        failed = _start(execution, folder, home)
        if failed is not None:
            return failed
    return _watch_or_read(execution, folder, watch)


def end(execution: Execution, home: Home) -> None:
    """Leave nothing of a run that cannot be gone on with."""
    if execution.spool_id == home.spool_id:
        state.terminate(home.spool(execution))


def _start(execution: Execution, folder: Path, home: Home) -> Outcome | None:
    """Start the runner; an outcome when it could not be started."""
    agent = execution.agent
    try:
        command = runtime(agent.runtime).command(call_of(execution), agent.runtime_settings)
        environment = agent_environment(execution, home, command.env_names) | dict(command.env)
        reached(CrashPoint.BEFORE_START)
        launch.start(folder, _spec_of(execution, command, environment), stdin=command.stdin, env=environment)
        reached(CrashPoint.AFTER_START)
    except Refused as error:
        return outcomes.not_started(error.detail)
    except (RunnerNotStarted, OSError) as error:
        log.warning("runner not started", execution_id=execution.pk, error=str(error))
        full = f"[Errno {errno.ENOSPC}]" in str(error)  # a runner says it in words only
        kind = ErrorKind.DISK_FULL if full else ErrorKind.NOT_STARTED
        return outcomes.not_started(f"The run could not be started: {error}", kind)
    return None


def _watch_or_read(execution: Execution, folder: Path, watch: Watch) -> Outcome | None:
    if state.state(folder) is RunnerState.RUNNING:
        pidfd = state.open_pidfd(folder)
        if pidfd is not None:
            watch(execution, pidfd)
            return None
    match state.state(folder):
        case RunnerState.FINISHED:
            return outcomes.finished(execution, folder, state.outcome(folder))
        case RunnerState.RUNNING:  # it was between its lock and its mark; look again
            return _watch_or_read(execution, folder, watch)
        case _:
            state.reap_lost(folder)
            return outcomes.lost(folder, "the process that carried it out was ended from outside.")


def _spec_of(execution: Execution, command: CommandSpec, environment: Mapping[str, str]) -> RunnerSpec:
    wanted = isolation_of(execution.agent.runtime_settings)
    account = account_of(wanted.user) if wanted.user else None
    shown = replace(command, reads=(*command.reads, *OUR_COMMAND))
    return RunnerSpec(
        argv=wrapped(shown, wanted.bwrap, workspace=execution.agent.workspace, environment=environment),
        cwd=Path(execution.agent.workspace),
        timeout_seconds=execution.timeout_seconds,
        final_types=command.final_types,
        interrupt_first=command.interrupt_first,
        git=True,
        account=Account(account.uid, account.gid, account.groups) if account else None,
        memory_bytes=wanted.memory_bytes,
        processes=wanted.processes,
        limits={"RLIMIT_NPROC": wanted.processes} if account and wanted.processes else {},
        wrapped=wanted.bwrap is not None,
    )
