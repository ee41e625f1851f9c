"""Sends prepared statements to PostgreSQL, many in one round trip; knows no table and decides nothing.

psycopg's own pipeline costs a cursor and a generator per statement, which is more than PostgreSQL needs to carry it
out. So the step of a loop speaks to the layer below, libpq as `psycopg.pq` wraps it, on Django's own session and
within Django's own transaction (docs/adr/0005).
"""

import functools
import select
import weakref
from collections.abc import Sequence
from typing import Any

from psycopg import Connection, adapters, errors, pq
from psycopg.adapt import AdaptersMap, PyFormat, Transformer
from psycopg.types.string import TextLoader

Values = Sequence[Any]
MOST_PREPARED = 500  # per session; what comes after that many is parsed each time
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
# A plan is made once per session and kept. Made while a table was small it would read it whole, also when it has
# grown; so within these transactions PostgreSQL prefers an index, whatever its statistics say or do not say yet.
KEEP_PLANS = (
    "SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)"
)
COMMIT = "COMMIT"
_GOOD = frozenset({pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK})
_READ, _WRITE = select.POLLIN, select.POLLOUT


class _Adaption:
    """psycopg's adapters in C; Django's are Python. JSON stays text, as Django's fields expect it."""

    adapters = AdaptersMap(adapters)
    connection = None  # UTF-8 and UTC, as Django's sessions have them


for _type in ("json", "jsonb"):
    _Adaption.adapters.register_loader(_type, TextLoader)


class Session:
    """What one session of PostgreSQL has prepared. One thread at a time, as Django shares out its sessions."""

    def __init__(self, connection: "Connection[Any]") -> None:
        self._pgconn = connection.pgconn
        self._names: dict[str, bytes] = {}
        self._count = 0  # names are never used again: one that failed may or may not be there
        self._transformer = Transformer(_Adaption())
        self._poll = select.poll()
        self._poll.register(self._pgconn.socket, _READ)

    @property
    def idle(self) -> bool:
        """Whether no transaction is open."""
        return self._pgconn.transaction_status == pq.TransactionStatus.IDLE

    def carry_out(
        self, statements: Sequence[tuple[str, Values]], *, begin: bool, commit: bool
    ) -> list[pq.abc.PGresult]:
        """The results, one each, in their order. `begin` opens the transaction first that Django has announced.

        After the first error nothing else is carried out, and no commit either; raises psycopg's error of it. Its
        attribute `position` says which statement it was.
        """
        opening = [(BEGIN, ()), (KEEP_PLANS, ())] if begin else []
        asked = [*opening, *statements, *([(COMMIT, ())] if commit else [])]
        try:
            results, new = self._exchange(asked)
        except BaseException:  # in the middle of a conversation: nobody can go on with this session
            self._pgconn.finish()
            raise
        for position, result in enumerate(results):
            if result.status not in _GOOD:
                self._forget(new)
                raise _error(result, position - len(opening))
        return results[len(opening) : len(results) - commit]

    def rows(self, result: "pq.abc.PGresult") -> list[tuple[Any, ...]]:
        """The rows of a result."""
        if not result.ntuples:
            return []
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def _exchange(self, asked: Sequence[tuple[str, Values]]) -> tuple[list["pq.abc.PGresult"], list[str]]:
        pgconn = self._pgconn
        pgconn.enter_pipeline_mode()
        new: list[str] = []
        prepares: list[bool] = []
        for text, values in asked:
            self._send(text, self._dumped(values), new, prepares)
        pgconn.pipeline_sync()
        results = self._results()
        pgconn.exit_pipeline_mode()
        kept = [one for one, prepare in zip(results, prepares, strict=True) if not prepare or one.status not in _GOOD]
        return kept[: len(asked)], new

    def _send(self, text: str, values: Sequence[Any] | None, new: list[str], prepares: list[bool]) -> None:
        name = self._names.get(text)
        if name is None and len(self._names) >= MOST_PREPARED:
            self._pgconn.send_query_params(_numbered(text), values)
        else:
            if name is None:
                self._count += 1
                name = self._names[text] = b"trinity_%d" % self._count
                new.append(text)
                self._pgconn.send_prepare(name, _numbered(text))
                prepares.append(True)
            self._pgconn.send_query_prepared(name, values)
        prepares.append(False)

    def _dumped(self, values: Values) -> Sequence[Any] | None:
        """As text and without types: PostgreSQL takes the columns' own."""
        if not values:
            return None
        return self._transformer.dump_sequence(values, [PyFormat.TEXT] * len(values))

    def _results(self) -> list["pq.abc.PGresult"]:
        """Send what is queued and read until the sync; reads while it sends, or both sides would wait for ever."""
        pgconn, poll = self._pgconn, self._poll
        results: list[pq.abc.PGresult] = []
        unsent = pgconn.flush()
        while True:
            poll.modify(pgconn.socket, _READ | _WRITE if unsent else _READ)
            for _, ready in poll.poll():
                if ready & ~_WRITE:
                    pgconn.consume_input()
                if ready & _WRITE:
                    unsent = pgconn.flush()
            while not pgconn.is_busy():
                result = pgconn.get_result()
                if result is None:
                    continue  # between two statements
                if result.status == pq.ExecStatus.PIPELINE_SYNC:
                    return results
                results.append(result)

    def _forget(self, texts: list[str]) -> None:
        for text in texts:
            self._names.pop(text, None)


_sessions: "weakref.WeakKeyDictionary[Connection[Any], Session]" = weakref.WeakKeyDictionary()


def session_of(connection: "Connection[Any]") -> Session:
    """The session behind psycopg's connection, which Django's pool keeps."""
    session = _sessions.get(connection)
    if session is None:
        session = _sessions[connection] = Session(connection)
    return session


def _error(result: "pq.abc.PGresult", position: int) -> errors.Error:
    error = errors.error_from_result(result)
    error.position = position  # type: ignore[attr-defined]
    return error


@functools.lru_cache(maxsize=1_000)
def _numbered(text: str) -> bytes:
    """`%s` as PostgreSQL numbers its parameters."""
    first, *others = text.split("%s")
    return (first + "".join(f"${number}{part}" for number, part in enumerate(others, 1))).encode()
