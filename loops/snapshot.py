"""One unchanging, read-only view of the database for a few queries; takes no lock that a worker waits for."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """All queries inside see the same moment; keep it short, since PostgreSQL cleans nothing up meanwhile.

    READ COMMITTED sees a new moment in each statement, so that a loop and its runs would not fit together.
    """
    if connection.vendor == "sqlite":
        with _deferred():
            yield
    else:
        with transaction.atomic(durable=True):
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield


@contextmanager
def _deferred() -> Iterator[None]:
    """Django would begin IMMEDIATE, which keeps every writer out."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")
