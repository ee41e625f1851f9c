"""Throwaway servers: they start anywhere, answer only those who know the password, and always end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from packages import Product, Unavailable
from redis.backoff import NoBackoff
from redis.retry import Retry
from servers import Redis, listens, postgres_programs, redis_program
from throwaway import Servers, throwaway_servers

SCRIPT = Path(__file__).resolve().parents[2] / "script" / "throwaway.py"
HOLDER = """
import sys, time
sys.path.insert(0, {script!r})
from throwaway import throwaway_servers
with throwaway_servers() as servers:
    print(servers.folder, flush=True)
    print(servers.postgres.port, servers.redis.port, flush=True)
    time.sleep(60)
"""


def programs_are_here() -> bool:
    try:
        return bool(postgres_programs() and redis_program())
    except Unavailable:
        return False


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not programs_are_here(), reason="PostgreSQL's or Redis's programs are not here"),
]


def comes_true(asked: Callable[[], bool], seconds: float = 15) -> bool:
    end = time.monotonic() + seconds
    while not (answer := asked()) and time.monotonic() < end:
        time.sleep(0.05)
    return answer


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Both, for all tests here; one that ends a server starts it again."""
    with throwaway_servers(folder=reachable(tmp_path_factory.mktemp("servers"))) as started:
        yield started


def reachable(folder: Path) -> Path | None:
    """Pytest's folders are its user's alone; root's servers run as another account and need one in memory."""
    return None if os.geteuid() == 0 else folder


def test_what_start_prints_leads_to_both_and_stop_ends_them(tmp_path: Path) -> None:
    folder = Path("/var/tmp" if os.geteuid() == 0 else tmp_path) / f"trinity test {os.getpid()}"
    said = subprocess.run([sys.executable, SCRIPT, "start", folder], capture_output=True, text=True, check=True).stdout
    try:
        found = dict(line.split("=", 1) for line in said.splitlines())
        with psycopg.connect(found["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT current_database(), upper('é')").fetchone() == ("trinity", "É")
        assert redis.Redis.from_url(found["REDIS_URL"]).ping()
    finally:
        subprocess.run([sys.executable, SCRIPT, "stop", folder], check=True)
    assert set(found) == {"DATABASE_URL", "REDIS_URL"}
    assert not any(listens(urlsplit(url).port or 0) for url in found.values())
    assert list(folder.iterdir()) == []
    folder.rmdir()


def test_nobody_gets_in_without_the_password(servers: Servers) -> None:
    without = servers.postgres.url.replace(servers.postgres.password, "guess")

    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(without)
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=servers.redis.port, retry=Retry(NoBackoff(), 0)).ping()


def test_a_server_that_was_ended_starts_again_at_the_same_address(servers: Servers) -> None:
    with psycopg.connect(servers.postgres.url) as connection:
        connection.execute("CREATE TABLE kept (n int)")
    redis.Redis.from_url(servers.redis.url).set("lost", 1)

    for server in servers.of([Product.POSTGRESQL, Product.REDIS]):
        server.stop()
        server.stop()  # a second time is nothing
        server.start()

    with psycopg.connect(servers.postgres.url) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    assert redis.Redis.from_url(servers.redis.url).get("lost") is None


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_they_end_when_the_process_that_holds_them_is_ended(sign: signal.Signals) -> None:
    program = HOLDER.format(script=str(SCRIPT.parent))
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as holder:
        assert holder.stdout is not None
        folder = Path(holder.stdout.readline().strip())
        ports = [int(port) for port in holder.stdout.readline().split()]
        assert all(map(listens, ports))

        holder.send_signal(sign)

    assert comes_true(lambda: not any(map(listens, ports)) and not folder.exists())


def test_a_server_that_hangs_is_ended_all_the_same(servers: Servers) -> None:
    pid = int((servers.redis.folder / "redis.pid").read_text())
    os.kill(pid, signal.SIGSTOP)

    servers.redis.stop()

    assert comes_true(lambda: not listens(servers.redis.port))
    servers.redis.start()


def test_one_that_cannot_start_says_why_and_leaves_none_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Redis, "_launch", refuse)

    with pytest.raises(Unavailable, match="no Redis today"), throwaway_servers(folder=reachable(tmp_path)) as started:
        pytest.fail(f"started in {started.folder}")

    assert not any(tmp_path.glob("trinity-servers-*"))


def refuse(*_: object) -> None:
    raise Unavailable("no Redis today")
