"""System checks: refuse unsafe mixes of settings with a sentence (design, section 1). Change nothing.

Django runs them before its commands. A worker and a web server are started by others' programs, which do not:
`refuse_unsafe_settings` is for them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

LONGEST_RUN_SECONDS = 7200
SHORTEST_LEASE_SECONDS = 1.0
THREADS_BESIDE_THE_POOL = 4  # sweep, renewer, and Celery's own that take nudges
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "[::1]", ".localhost"})


@register(Tags.compatibility)
def settings_fit_together(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """The two ways to run are not mixed, nothing secret is shown, and claims and messages last long enough."""
    checks = (_both_servers_or_none, _one_secret_key, _message_outlives_run, _nothing_shown, _leases_are_kept)
    return [Error(sentence, id=f"trinity.E{number:03}") for check in checks for number, sentence in check()]


def refuse_unsafe_settings() -> None:
    """End this process with the sentences of all errors; nothing happens when there is none."""
    sentences = [f"  {error.msg} ({error.id})" for error in settings_fit_together(None)]
    if sentences:
        raise SystemExit("\n".join(["Trinity does not start with these settings:", *sentences]))


Found = Iterator[tuple[int, str]]


def _both_servers_or_none() -> Found:
    on_postgres = str(settings.DATABASES["default"]["ENGINE"]).endswith("postgresql")
    if on_postgres and not settings.REDIS_URL and not getattr(settings, "IN_TESTS", False):
        yield 1, "DATABASE_URL is set without REDIS_URL: workers would hear of nothing."
    if settings.REDIS_URL and not on_postgres:
        yield 2, "REDIS_URL is set without DATABASE_URL: SQLite serves one server only, which needs no Redis."


def _message_outlives_run() -> Found:
    if not settings.REDIS_URL:
        return
    timeout = settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"]
    if timeout <= LONGEST_RUN_SECONDS:
        yield (
            3,
            f"TRINITY_VISIBILITY_TIMEOUT is {timeout} s; it must be above the longest run, {LONGEST_RUN_SECONDS} s.",
        )


def _nothing_shown() -> Found:
    if not settings.DEBUG:
        return
    public = [name for name in (settings.HOST, *settings.ALLOWED_HOSTS) if name not in LOOPBACK]
    if public:
        yield 4, f"DEBUG is on, and HOST or ALLOWED_HOSTS lets {public[0]} in: secrets would be shown."


def _one_secret_key() -> Found:
    if settings.DISTRIBUTED and not settings.SECRET_KEY_IS_GIVEN:
        yield 5, "SECRET_KEY is not set: each host would make its own, and not believe the others' sessions and tokens."


def _leases_are_kept() -> Found:
    lease = settings.TRINITY_LEASE_SECONDS
    if lease < SHORTEST_LEASE_SECONDS:
        yield 6, f"TRINITY_LEASE_SECONDS is {lease:g} s; below {SHORTEST_LEASE_SECONDS:g} s no worker keeps its runs."
    database: Mapping[str, Any] = settings.DATABASES["default"]
    pool = database.get("OPTIONS", {}).get("pool")
    needed = settings.TRINITY_WORKER_THREADS + THREADS_BESIDE_THE_POOL
    if pool and pool["max_size"] < needed:
        yield (
            7,
            f"TRINITY_DB_POOL is {pool['max_size']}; a worker's threads need {needed} sessions, or they wait in turn.",
        )
