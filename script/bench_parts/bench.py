"""What all sections share: servers, folders, how long to measure; decides no figure."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql
from throwaway import Servers

from bench_parts.report import Figure

REDIS_DATABASES = 16


@dataclass
class Bench:
    """One run of the benchmark. What its sections start ends with `until_the_end`, or earlier."""

    servers: Servers
    folder: Path
    quick: bool
    rounds: int
    only: frozenset[str] = frozenset()  # contenders; empty: all
    soak_seconds: int = 0  # in `live`: only the sockets, for so long
    not_measured: list[str] = field(default_factory=list)
    _made: int = 0

    def short_or_long(self, short: int, long: int) -> int:
        """A number of rows, requests or seconds, by the form that was asked for."""
        return short if self.quick else long

    def say(self, sentence: str) -> None:
        """What goes on, for who waits."""
        print(sentence, file=sys.stderr, flush=True)

    def leave_out(self, what: str, why: object) -> None:
        """Say plainly that something was not measured; the table says it again."""
        self.not_measured.append(f"{what}: {why}")
        self.say(f"Not measured — {what}: {why}")

    def new_folder(self, name: str) -> Path:
        """An empty folder beside the servers' own: in memory, or on the disk with them."""
        self._made += 1
        made = self.folder / f"{self._made}-{name}"
        made.mkdir()
        return made

    def new_database(self, name: str) -> str:
        """The address of an empty database of its own."""
        self._made += 1
        unique = f"{name}_{self._made}"
        with psycopg.connect(self.servers.postgres.url, autocommit=True) as connection:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(unique)))
        return _with_path(self.servers.postgres.url, unique)

    def new_redis(self) -> str:
        """The address of a Redis database that nobody else uses now."""
        self._made += 1
        return _with_path(self.servers.redis.url, str(self._made % REDIS_DATABASES))


Section = Callable[[Bench, ExitStack], Iterator[Figure]]


def _with_path(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
