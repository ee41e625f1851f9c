"""One PostgreSQL and one Redis in a folder, from the system's own programs; touches no other server.

Each listens on a free loopback port behind a random password. `throwaway.py` decides when they start and end.
"""

import json
import locale
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from account import Account
from packages import Product, Unavailable

WAIT_SECONDS = 20.0
OLDEST_POSTGRESQL = 15
POSTGRESQL_PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/libexec/postgresql*",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
)


class Server:
    """One server in a folder of its own, where its port and password stand: another process may end it."""

    product: ClassVar[Product]

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.note = folder / "server.json"
        known = json.loads(self.note.read_text()) if self.note.is_file() else {}
        self.port: int = known.get("port") or free_port()
        self.password: str = known.get("password") or secrets.token_hex(16)

    @property
    def url(self) -> str:
        """Its address with user and password."""
        raise NotImplementedError

    def start(self) -> None:
        """Start it, and wait until it answers. The same object starts again on the same port.

        Raises Unavailable when its programs are missing or it does not start.
        """
        account = Account.for_servers()
        if not self.note.is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            account.own(self.folder)
            self.note.write_text(json.dumps({"port": self.port, "password": self.password}))
            self.note.chmod(0o600)
        self._launch(account)

    def stop(self) -> None:
        """End it at once; nothing happens when it does not run."""
        raise NotImplementedError

    def _launch(self, account: Account) -> None:
        raise NotImplementedError


class Postgres(Server):
    """A PostgreSQL cluster of its own, with one database and one superuser, both called `trinity`."""

    product = Product.POSTGRESQL

    def __init__(self, folder: Path, *, safe_on_disk: bool = False) -> None:
        """`safe_on_disk` waits for the disk at each commit, as a real server does."""
        super().__init__(folder)
        self.cluster = folder / "cluster"
        self.safe_on_disk = safe_on_disk

    @property
    def url(self) -> str:
        return f"postgresql://trinity:{self.password}@127.0.0.1:{self.port}/trinity"

    def _launch(self, account: Account) -> None:
        programs = postgres_programs()
        if not (self.cluster / "PG_VERSION").is_file():
            self._make_cluster(account, programs)
        log = self.folder / "postgresql.log"
        options = ("-D", self.cluster, "-w", "-t", str(int(WAIT_SECONDS)), "-l", log)
        account.run([programs / "pg_ctl", "start", *options], self.folder)

    def stop(self) -> None:
        pid_file = self.cluster / "postmaster.pid"
        if not pid_file.is_file():
            return
        pid = int(pid_file.read_text().splitlines()[0])
        options = ("-D", self.cluster, "-m", "immediate", "-w", "-t", "10")
        try:
            Account.for_servers().run([postgres_programs() / "pg_ctl", "stop", *options], self.folder)
        except Unavailable:
            kill_if_named(pid, str(self.cluster))

    def _make_cluster(self, account: Account, programs: Path) -> None:
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        password_file.chmod(0o600)
        account.own(password_file)
        initdb: list[str | Path] = [programs / "initdb", "-D", self.cluster, "-U", "trinity", "--no-sync"]
        initdb += [
            "-A",
            "scram-sha-256",
            "--pwfile",
            password_file,
            "-E",
            "UTF8",
            f"--locale={utf8_locale()}",
        ]
        account.run(initdb, self.folder)
        password_file.unlink()
        with (self.cluster / "postgresql.conf").open("a") as conf:
            conf.writelines(f"{name} = {setting}\n" for name, setting in self._settings().items())
        single: list[str | Path] = [programs / "postgres", "--single", "-D", self.cluster, "postgres"]
        account.run(single, self.folder, written="CREATE DATABASE trinity\n")

    def _settings(self) -> dict[str, str]:
        durable = "on" if self.safe_on_disk else "off"
        return {
            "listen_addresses": "'127.0.0.1'",
            "port": str(self.port),
            "unix_socket_directories": "''",  # a socket's path may be too long in a deep folder
            "max_connections": "300",
            "fsync": durable,
            "full_page_writes": durable,
        }


class Redis(Server):
    """A Redis that saves nothing; started again, it is empty."""

    product = Product.REDIS

    @property
    def url(self) -> str:
        return f"redis://default:{self.password}@127.0.0.1:{self.port}/0"

    def _launch(self, account: Account) -> None:
        conf = self.folder / "redis.conf"
        conf.write_text(
            f'bind 127.0.0.1\nport {self.port}\nrequirepass {self.password}\nsave ""\nappendonly no\n'
            f'daemonize yes\ndir "{self.folder}"\nlogfile "{self.folder}/redis.log"\n'
            f'pidfile "{self.folder}/redis.pid"\n'
        )
        conf.chmod(0o600)
        account.own(conf)
        account.run([redis_program(), conf], self.folder)
        if not wait_until(lambda: self._answers("PING") == "+PONG"):
            raise Unavailable(f"Redis did not answer on port {self.port} within {WAIT_SECONDS:.0f} s")

    def stop(self) -> None:
        pid_file = self.folder / "redis.pid"
        self._answers("SHUTDOWN NOSAVE")
        if not wait_until(lambda: not listens(self.port), seconds=1) and pid_file.is_file():
            kill_if_named(int(pid_file.read_text()), str(self.port))

    def _answers(self, command: str) -> str | None:
        """What it says to a command; None when it refuses the connection or ends instead of answering."""
        try:
            with (
                socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection,
                connection.makefile("rw") as lines,
            ):
                lines.write(f"AUTH {self.password}\r\n{command}\r\n")
                lines.flush()
                welcomed = lines.readline() == "+OK\n"
                return lines.readline().strip() if welcomed else None
        except OSError:
            return None


def postgres_programs() -> Path:
    """The folder with the newest initdb, pg_ctl and postgres of this machine. Raises Unavailable."""
    on_path = shutil.which("pg_ctl")
    folders = {Path(on_path).resolve().parent} if on_path else set()
    for place in POSTGRESQL_PLACES:
        folders.update(Path("/").glob(place.lstrip("/")))
    whole = [folder for folder in folders if all((folder / name).is_file() for name in ("initdb", "postgres"))]
    newest = max(((_postgres_version(folder), folder) for folder in whole), default=None)
    if newest is None:
        raise Unavailable("PostgreSQL's initdb and pg_ctl are not here")
    if newest[0] < OLDEST_POSTGRESQL:
        raise Unavailable(f"PostgreSQL {OLDEST_POSTGRESQL} or newer is needed; here is {newest[0]} in {newest[1]}")
    return newest[1]


def _postgres_version(programs: Path) -> int:
    said = subprocess.run([programs / "pg_ctl", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\d+", said)
    return int(found[0]) if found else 0


def redis_program() -> Path:
    """Redis, or Valkey, which speaks the same. Raises Unavailable."""
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found is None:
        raise Unavailable("redis-server is not here")
    return Path(found)


def utf8_locale() -> str:
    """A locale that knows Unicode's letters, so that `É` is found as on a real server; C at the worst."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        for name in ("C.UTF-8", "en_US.UTF-8"):
            with suppress(locale.Error):
                locale.setlocale(locale.LC_CTYPE, name)
                return name
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    return "C"


def free_port() -> int:
    """A free loopback port below those that systems give to outgoing connections.

    One of theirs could be taken by a client while the server that lives there is being started again.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def listens(port: int) -> bool:
    """Whether anything takes connections on a loopback port."""
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(came_true: Callable[[], bool], seconds: float = WAIT_SECONDS) -> bool:
    """Ask every 20 ms; False when the time ran out."""
    end = time.monotonic() + seconds
    while not came_true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def kill_if_named(pid: int, word: str) -> None:
    """End a program that does not end by itself, unless its number has gone to another one meanwhile."""
    if word in _command_line(pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _command_line(pid: int) -> str:
    listed = Path(f"/proc/{pid}/cmdline")
    if listed.parent.parent.is_dir():  # Linux; a small container has no `ps`
        return listed.read_text(errors="replace") if listed.is_file() else ""
    return subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
