"""Workers are told of work at once. Their sweeps would find it as well, a little later, and hide it if they were not:
here they come once an hour."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.cluster import cluster_in
from tests.journeys.server import EmbeddedServer, Installation

pytestmark = pytest.mark.slow
HARDLY_EVER = {"TRINITY_SWEEP_SECONDS": "3600"}


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(tmp_path / "home")
    server.environment |= HARDLY_EVER
    server.start()
    yield server
    server.stop()


@pytest.mark.once
def test_the_embedded_server_begins_what_it_is_asked_for_without_waiting_for_a_sweep(
    embedded: EmbeddedServer,
) -> None:
    assert_it_begins_at_once(embedded)


@pytest.mark.postgres
@pytest.mark.redis
def test_a_worker_begins_what_a_web_process_was_asked_for_without_waiting_for_a_sweep(tmp_path: Path) -> None:
    with cluster_in(tmp_path / "home", **HARDLY_EVER) as cluster:
        cluster.start()
        cluster.start_workers(1)
        assert_it_begins_at_once(cluster)


def assert_it_begins_at_once(installation: Installation) -> None:
    for _ in range(2):
        loop = installation.ended_loop(installation.start_loop("practice", message="say a number", max_runs=2))
        assert (loop["status"], loop["runs_completed"]) == ("completed", 2)
