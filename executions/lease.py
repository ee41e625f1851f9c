"""The time limit of a claim, by the database's own clock on PostgreSQL; nobody renews here."""

import datetime as dt

from django.db import connection
from django.db.models import Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from trinity.kernel import clock
from trinity.kernel.rows import Sql


def database_now() -> dt.datetime | Combinable:
    """`now` for leases: hosts' clocks differ, so PostgreSQL's decides; SQLite is on this host anyway."""
    return Now() if connection.vendor == "postgresql" else clock.now()


def lease_end(seconds: float) -> dt.datetime | Combinable:
    """The end of a lease that begins now."""
    return database_now() + dt.timedelta(seconds=seconds)


def lease_end_sql(seconds: float) -> dt.datetime | Sql:
    """The same for a statement that is built once."""
    if connection.vendor != "postgresql":
        return clock.now() + dt.timedelta(seconds=seconds)
    return Sql("STATEMENT_TIMESTAMP() + %s", (dt.timedelta(seconds=seconds),))


def run_out(grace_seconds: float = 0) -> Q:
    """Executions whose lease ended at least `grace_seconds` ago."""
    return Q(lease_until__lte=database_now() - dt.timedelta(seconds=grace_seconds))
