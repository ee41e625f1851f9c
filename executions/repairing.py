"""Moves rows that a repair of the sweep found due, each by itself; finds none."""

from collections.abc import Callable, Iterable
from typing import TypeVarTuple

import structlog
from django.db import InterfaceError, OperationalError

log = structlog.get_logger(__name__)
Row = TypeVarTuple("Row")


def each_apart(found: Iterable[tuple[*Row]], move: Callable[[*Row], bool]) -> int:
    """Move each in a transaction of its own, so that one bad row does not stop the others; a database that is away
    does. Returns how many moved."""
    moved = 0
    for row in found:
        try:
            moved += move(*row)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            log.exception("a row could not be moved; the others go on", row=row)
    return moved
