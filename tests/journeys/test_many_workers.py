"""Several workers on PostgreSQL and Redis: whatever dies or is cut off, nothing is lost and nothing runs twice."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from celery import Celery

from tests.journeys.cluster import LEASE_SECONDS, Cluster, Worker, cluster_in
from tests.journeys.conftest import Witness
from tests.journeys.server import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.redis]
GRACE_SECONDS = 2  # TRINITY_LOST_GRACE_SECONDS of the cluster
A_MOMENT = 5  # within which another worker goes on with what a dead one carried


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_in(tmp_path_factory.mktemp("cluster") / "home") as cluster:
        cluster.start()
        yield cluster
        found = cluster.manage("check_loops")
        assert found.returncode == 0, found.stdout + found.stderr


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    """The web process and two workers that carry out runs."""
    missing = 2 - len(shared_cluster.living_workers())
    shared_cluster.start_workers(max(0, missing))
    return shared_cluster


@pytest.fixture
def add_agent(cluster: Cluster, witness: Witness, request: pytest.FixtureRequest) -> Callable[..., str]:
    """An agent whose runs take so many seconds and leave a line each."""

    def add(seconds: float, **more: object) -> str:
        name = f"agent-{abs(hash((request.node.name, seconds, len(more))))}"
        cluster.add_agent(name, witness.argv(seconds), **more)
        return name

    return add


def start(cluster: Cluster, agent: str, max_runs: int, **parameters: object) -> str:
    return cluster.start_loop(agent, message="Go", max_runs=max_runs, no_progress_threshold=0, **parameters)


def in_flight(cluster: Cluster, loop_id: str) -> tuple[str, str, str]:
    """Id, worker and claim of the loop's run, as soon as its agent works."""

    def look() -> list[tuple[object, ...]]:
        found = cluster.rows(
            "SELECT id, worker, claim_token, attempt FROM executions_execution"
            " WHERE loop_id = %s AND status = 'running'",
            loop_id,
        )
        return [row for row in found if cluster.has_started(str(row[0]), int(str(row[3])))]

    execution_id, worker, token, _ = wait_for(look, what="a run in flight")[0]
    return str(execution_id), str(worker), str(token)


def assert_each_run_once(cluster: Cluster, witness: Witness, loop_id: str, runs: int) -> None:
    loop = cluster.ended_loop(loop_id)
    assert (loop["status"], loop["runs_completed"], loop["failed_runs"]) == ("completed", runs, 0)
    assert witness.runs_of(loop_id) == list(range(1, runs + 1))
    ended = cluster.rows(
        "SELECT count(*) FROM loops_loopevent WHERE loop_id = %s AND kind = 'loop_run_completed'", loop_id
    )
    assert ended == [(runs,)]


# --- workers --------------------------------------------------------------------------------------------


def test_a_killed_workers_run_brings_its_real_outcome_through_another(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str], tmp_path: Path
) -> None:
    """Its lease still holds for half a minute: that it is dead shows in its lock file."""
    pair = [cluster.start_worker(TRINITY_PLACE="loft", TRINITY_LEASE_SECONDS="30") for _ in range(2)]
    for one in pair:
        cluster.ready(one)
    loop_id = start(cluster, add_agent(4, place="loft", workspace=str(tmp_path)), max_runs=2)
    execution_id, worker, _ = in_flight(cluster, loop_id)

    cluster.worker_named(worker).kill()
    wait_for(lambda: in_flight(cluster, loop_id)[1] != worker, seconds=A_MOMENT, what="a takeover")

    assert_each_run_once(cluster, witness, loop_id, 2)
    _, execution = cluster.get(f"/api/executions/{execution_id}")
    assert (execution["status"], execution["response"].strip()) == ("completed", "run 1 is done")
    for one in pair:
        one.kill()


def test_a_worker_that_is_told_to_end_does_so_at_once_and_releases_its_runs(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    loop_id = start(cluster, add_agent(4), max_runs=1)
    _, worker, _ = in_flight(cluster, loop_id)

    leaving = cluster.worker_named(worker)
    leaving.terminate()
    seconds = leaving.wait(15)

    assert seconds < A_MOMENT
    assert leaving.process.returncode == 0
    assert in_flight(cluster, loop_id)[1] != worker or wait_for(lambda: in_flight(cluster, loop_id)[1] != worker)
    assert_each_run_once(cluster, witness, loop_id, 1)


def test_a_worker_ends_in_time_though_neither_database_nor_redis_answers(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    loop_id = start(cluster, add_agent(3), max_runs=1)
    _, worker, _ = in_flight(cluster, loop_id)
    leaving = cluster.worker_named(worker)

    with postgres_hangs(cluster), redis_hangs(cluster):
        leaving.terminate()
        seconds = leaving.wait(15)

    assert seconds < A_MOMENT
    assert_each_run_once(cluster, witness, loop_id, 1)


def test_a_worker_that_comes_back_after_its_lease_ran_out_writes_nothing_twice(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    """It lives and holds its lock, so only its lease says that it is cut off."""
    loop_id = start(cluster, add_agent(LEASE_SECONDS + 4), max_runs=2)
    _, worker, token = in_flight(cluster, loop_id)
    cut_off = cluster.worker_named(worker)

    cut_off.freeze()
    try:
        wait_for(lambda: in_flight(cluster, loop_id)[2] != token, seconds=LEASE_SECONDS + A_MOMENT, what="a takeover")
    finally:
        cut_off.thaw()

    assert_each_run_once(cluster, witness, loop_id, 2)
    assert cut_off.lives


# --- hosts and places -----------------------------------------------------------------------------------


@contextmanager
def other_host(cluster: Cluster, folder: Path, place: str) -> Iterator[Worker]:
    """A worker with files of its own: it stands for another host."""
    worker = cluster.start_worker(TRINITY_HOME=str(folder), TRINITY_PLACE=place)
    try:
        cluster.ready(worker)
        yield worker
    finally:
        worker.kill()
        cluster.workers.remove(worker)


def test_a_run_of_a_host_that_is_cut_off_is_lost_and_a_late_outcome_brings_its_text(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str], tmp_path: Path
) -> None:
    agent = add_agent(2, place="attic", workspace=str(tmp_path))
    loop_id = start(cluster, agent, max_runs=2, on_failure="continue")
    assert cluster.loop(loop_id)["status"] == "queued"

    with other_host(cluster, tmp_path / "first", "attic") as first:
        execution_id, _, _ = in_flight(cluster, loop_id)
        first.freeze()
        frozen_at = time.monotonic()
        with other_host(cluster, tmp_path / "second", "attic"):
            wait_for(lambda: cluster.loop(loop_id)["failed_runs"], what="the run to be lost")
            seconds = time.monotonic() - frozen_at
            _, lost = cluster.get(f"/api/executions/{execution_id}")
            first.thaw()
            loop = cluster.ended_loop(loop_id)

            def late() -> dict[str, str] | None:
                _, found = cluster.get(f"/api/executions/{execution_id}")
                return found if found["response"] else None

            after = wait_for(late, what="the late outcome")

    assert (lost["status"], lost["error_kind"], lost["response"]) == ("failed", "lost", "")
    assert seconds > GRACE_SECONDS + LEASE_SECONDS * 2 / 3 - 1
    assert (after["status"], after["error_kind"], after["response"].strip()) == ("failed", "lost", "run 1 is done")
    assert (loop["status"], loop["runs_completed"], loop["failed_runs"]) == ("completed_with_errors", 2, 1)
    assert witness.runs_of(loop_id) == [1, 2]


def test_a_place_carries_out_its_own_agents_and_no_others(
    cluster: Cluster, add_agent: Callable[..., str], tmp_path: Path
) -> None:
    here = start(cluster, add_agent(0), max_runs=3)
    there = start(cluster, add_agent(0, place="cellar", workspace=str(tmp_path)), max_runs=3)

    assert cluster.ended_loop(here)["status"] == "completed"
    assert cluster.loop(there)["status"] == "queued"
    with other_host(cluster, tmp_path / "cellar", "cellar"):
        assert cluster.ended_loop(there)["status"] == "completed"

    hosts = "SELECT loop_id, count(DISTINCT spool_id) FROM executions_execution WHERE loop_id IN (%s, %s) GROUP BY 1"
    assert dict(cluster.rows(hosts, here, there)) == {here: 1, there: 1}
    spools = "SELECT count(DISTINCT spool_id) FROM executions_execution WHERE loop_id IN (%s, %s)"
    assert cluster.rows(spools, here, there) == [(2,)]


# --- fairness and cost ----------------------------------------------------------------------------------


def test_the_long_queue_of_one_agent_delays_no_other(cluster: Cluster, add_agent: Callable[..., str]) -> None:
    busy = add_agent(0.5, max_parallel_tasks=1)
    for _ in range(30):
        assert cluster.post(f"/api/agents/{busy}/executions", {"prompt": "one of many"})[0] == 202

    began = time.monotonic()
    free = start(cluster, add_agent(0), max_runs=1)
    cluster.ended_loop(free)
    seconds = time.monotonic() - began

    left = cluster.rows(
        "SELECT count(*) FROM executions_execution e JOIN agents_agent a ON a.id = e.agent_id"
        " WHERE a.name = %s AND e.status = 'queued'",
        busy,
    )[0][0]
    assert int(str(left)) > 0
    assert seconds < A_MOMENT
    assert cluster.post(f"/api/agents/{busy}/stop")[0] == 200


def test_a_run_that_works_costs_no_thread_and_no_connection(cluster: Cluster, add_agent: Callable[..., str]) -> None:
    crowd = add_agent(6, max_parallel_tasks=20)

    def costs() -> tuple[int, int]:
        sessions = cluster.rows("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")[0][0]
        workers = [worker.process.pid for worker in cluster.living_workers()]
        return sum(len(os.listdir(f"/proc/{pid}/task")) for pid in workers), int(str(sessions))

    for _ in range(20):
        assert cluster.post(f"/api/agents/{crowd}/executions", {"prompt": "work"})[0] == 202
    running = "SELECT count(*) FROM executions_execution e JOIN agents_agent a ON a.id = e.agent_id WHERE a.name = %s"
    wait_for(
        lambda: cluster.rows(f"{running} AND e.status = 'running'", crowd) == [(20,)],
        seconds=15,
        what="twenty runs at once",
    )
    threads, sessions = costs()

    # Per worker: the pool's eight, sweep, renewer, watcher, Celery's own; none of it grows with the runs.
    assert threads <= len(cluster.living_workers()) * 20
    assert sessions <= len(cluster.living_workers()) * 12 + 12
    wait_for(
        lambda: cluster.rows(f"{running} AND e.status = 'completed'", crowd) == [(20,)], seconds=30, what="all to end"
    )


# --- messages -------------------------------------------------------------------------------------------


def nudges(cluster: Cluster, agent: str, times: int) -> None:
    """Tell the workers so many times of an agent, as a broker that delivers again and again would."""
    agent_id = cluster.rows("SELECT id FROM agents_agent WHERE name = %s", agent)[0][0]
    with Celery(broker=cluster.redis.url).connection_for_write() as connection:
        producer = Celery(broker=cluster.redis.url)
        for _ in range(times):
            producer.send_task("executions.take_work", (agent_id,), queue="place.default", connection=connection)


def test_the_same_message_five_times_begins_one_run(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    agent = add_agent(0.3, max_parallel_tasks=3)
    loop_id = start(cluster, agent, max_runs=4)
    for _ in range(4):
        nudges(cluster, agent, 5)

    assert_each_run_once(cluster, witness, loop_id, 4)


def test_many_sweeps_at_once_move_each_park_once(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    third = cluster.start_worker(TRINITY_SWEEP_SECONDS="0.05")
    cluster.ready(third)
    agent = add_agent(0, max_parallel_tasks=8)
    loops = [start(cluster, agent, max_runs=3, delay_seconds=1) for _ in range(6)]

    for loop_id in loops:
        assert_each_run_once(cluster, witness, loop_id, 3)
    third.kill()


# --- Redis ----------------------------------------------------------------------------------------------


@contextmanager
def redis_hangs(cluster: Cluster) -> Iterator[None]:
    """It accepts, and never answers."""
    pid = int((cluster.redis.folder / "redis.pid").read_text())
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def redis_refuses(cluster: Cluster) -> Iterator[None]:
    """It is gone, and comes back empty."""
    cluster.redis.stop()
    try:
        yield
    finally:
        cluster.redis.start()


@pytest.mark.parametrize("fault", [redis_refuses, redis_hangs])
def test_without_redis_a_loop_is_started_within_seconds_and_runs_to_its_end(
    cluster: Cluster,
    witness: Witness,
    add_agent: Callable[..., str],
    fault: Callable[[Cluster], "contextmanager[None]"],
) -> None:
    agent = add_agent(0.1)
    with fault(cluster):
        began = time.monotonic()
        loop_id = start(cluster, agent, max_runs=3)
        seconds = time.monotonic() - began
        assert_each_run_once(cluster, witness, loop_id, 3)

    assert seconds < 6  # one nudge and one live event, two seconds of patience each
    assert_each_run_once(cluster, witness, start(cluster, agent, max_runs=2), 2)


def test_a_worker_whose_redis_is_away_at_its_start_works_all_the_same(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    for worker in cluster.living_workers():
        worker.kill()
    agent = add_agent(0.1)
    with redis_refuses(cluster):
        loop_id = start(cluster, agent, max_runs=3)
        newcomer = cluster.start_worker()
        cluster.ready(newcomer)
        assert_each_run_once(cluster, witness, loop_id, 3)
        newcomer.terminate()
        assert newcomer.wait(15) < A_MOMENT


def test_what_is_queued_when_redis_forgets_everything_is_carried_out(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    for worker in cluster.living_workers():
        worker.kill()
    agent = add_agent(0.1)
    loops = [start(cluster, agent, max_runs=2) for _ in range(3)]
    cluster.redis.stop()
    cluster.redis.start()
    cluster.start_workers(2)

    for loop_id in loops:
        assert_each_run_once(cluster, witness, loop_id, 2)


# --- PostgreSQL -----------------------------------------------------------------------------------------


@contextmanager
def postgres_hangs(cluster: Cluster) -> Iterator[None]:
    """Neither its old sessions nor new ones are answered."""
    postmaster = int((cluster.postgres.cluster / "postmaster.pid").read_text().splitlines()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    processes = [postmaster, *map(int, children)]
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in processes:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def test_an_outcome_that_comes_while_the_database_is_away_is_settled_when_it_is_back(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    loop_id = start(cluster, add_agent(1.5), max_runs=3)
    in_flight(cluster, loop_id)

    cluster.postgres.stop()
    time.sleep(2.5)  # the run ends meanwhile: that is the case
    cluster.postgres.start()

    assert_each_run_once(cluster, witness, loop_id, 3)
    assert all(worker.lives for worker in cluster.workers[-2:])


def test_sessions_that_are_cut_again_and_again_lose_nothing(
    cluster: Cluster, witness: Witness, add_agent: Callable[..., str]
) -> None:
    agent = add_agent(0.2)
    loops = [start(cluster, agent, max_runs=6) for _ in range(3)]
    for _ in range(6):
        in_flight(cluster, loops[-1]) if cluster.loop(loops[-1])["status"] == "running" else None
        cluster.cut_connections()

    for loop_id in loops:
        assert_each_run_once(cluster, witness, loop_id, 6)
