"""System checks: refuse unsafe mixes of settings with a sentence (design, section 1). Change nothing."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

LONGEST_RUN_SECONDS = 7200


@register(Tags.compatibility)
def settings_fit_together(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """The two ways to run are not mixed, and a message outlives the longest run."""
    found: list[CheckMessage] = []
    on_postgres = str(settings.DATABASES["default"]["ENGINE"]).endswith("postgresql")
    if on_postgres and not settings.REDIS_URL and not getattr(settings, "IN_TESTS", False):
        found.append(Error("DATABASE_URL is set without REDIS_URL: workers would hear of nothing.", id="trinity.E001"))
    if settings.REDIS_URL and not on_postgres:
        found.append(
            Error(
                "REDIS_URL is set without DATABASE_URL: SQLite serves one server only, which needs no Redis.",
                id="trinity.E002",
            )
        )
    if settings.REDIS_URL:
        timeout = settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"]
        if timeout <= LONGEST_RUN_SECONDS:
            found.append(
                Error(
                    f"TRINITY_VISIBILITY_TIMEOUT is {timeout} s; it must be above the longest run, "
                    f"{LONGEST_RUN_SECONDS} s.",
                    id="trinity.E003",
                )
            )
    if settings.DEBUG and settings.HOST not in ("127.0.0.1", "localhost", "::1"):
        found.append(Error(f"DEBUG is on and HOST is {settings.HOST}: secrets would be shown.", id="trinity.E004"))
    return found
