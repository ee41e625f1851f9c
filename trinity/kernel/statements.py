"""Carries out statements in the transaction that is open, in one round trip where it can; builds and decides nothing.

On PostgreSQL they are prepared and travel together, without Django's cursor; wrappers that want to see each statement,
and a pooler that keeps no session (TRINITY_PREPARED_STATEMENTS=false), get them one by one, as SQLite does.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.utils import DataError

from trinity.kernel.errors import Broken

DIVISION_BY_ZERO = "22012"


class Statement(NamedTuple):
    """SQL with `%s` for its values."""

    text: str
    values: Sequence[Any] = ()
    must_move: str = ""  # what is wrong when it changes no row; the whole transaction is undone then


class Answer(NamedTuple):
    """What came of a statement: how many rows it changed, or the rows that it read."""

    moved: int
    rows: Sequence[tuple[Any, ...]]


def carry_out(*statements: Statement, commit: bool = False) -> list[Answer]:
    """Their answers, in their order. With `commit` they are the transaction's last ones, where they travel together.

    Outside a transaction, where only reads belong, none is opened.
    Raises Broken when one that must change a row changes none, and Django's database errors.
    """
    if not statements and not commit:
        return []
    if _together():
        return _carry_out_together(statements, commit)
    return [_carry_out(one) for one in statements]


def _together() -> bool:
    return (
        connection.vendor == "postgresql" and settings.TRINITY_PREPARED_STATEMENTS and not connection.execute_wrappers
    )


def _carry_out(statement: Statement) -> Answer:
    with connection.cursor() as cursor:
        cursor.execute(statement.text, statement.values)
        if cursor.description is not None:
            return Answer(0, cursor.fetchall())
        if statement.must_move and not cursor.rowcount:
            raise Broken(statement.must_move)
        return Answer(cursor.rowcount, ())


def _carry_out_together(statements: Sequence[Statement], commit: bool) -> list[Answer]:
    from trinity.kernel.pipeline import KEEP_PLANS, session_of  # needs psycopg, which SQLite does not

    connection.ensure_connection()
    session = session_of(connection.connection)
    texts = [(_guarded(one) if one.must_move else one.text, one.values) for one in statements]
    begins = connection.in_atomic_block and session.idle
    sent = [KEEP_PLANS] * begins + [text for text, _ in texts]
    began = time.monotonic()
    try:
        with connection.wrap_database_errors:
            results = session.carry_out(texts, begin=begins, commit=commit)
    except DataError as error:
        raise _broken(error, statements) from error
    finally:
        if connection.queries_logged:
            _log(sent, time.monotonic() - began)
    return [Answer(result.command_tuples or 0, session.rows(result)) for result in results]


def _guarded(statement: Statement) -> str:
    """Divides by zero when no row changed, so that PostgreSQL itself undoes what comes after it in the same trip."""
    return f"WITH moved AS ({statement.text} RETURNING 1) SELECT 1 / COUNT(*) FROM moved"  # noqa: S608


def _broken(error: DataError, statements: Sequence[Statement]) -> Exception:
    cause = error.__cause__
    position = getattr(cause, "position", -1)
    wrong = statements[position].must_move if 0 <= position < len(statements) else ""
    return Broken(wrong) if wrong and getattr(cause, "sqlstate", "") == DIVISION_BY_ZERO else error


def _log(texts: Sequence[str], seconds: float) -> None:
    """For DEBUG and for tests that count: as Django's cursor logs, the time being that of the whole trip.

    Django itself logs BEGIN and COMMIT, when it would have sent them.
    """
    for text in texts:
        connection.queries_log.append({"sql": text, "time": f"{seconds:.3f}"})
