"""Joins the project's own parts at start: system checks, how live events travel. Imports no app's models."""

from django.apps import AppConfig


class TrinityConfig(AppConfig):
    name = "trinity"
    verbose_name = "Trinity"

    def ready(self) -> None:
        from django.conf import settings

        from trinity import checks  # noqa: F401 — importing registers the checks
        from trinity.kernel import live

        if settings.DISTRIBUTED:  # embedded, the server chooses for itself once somebody listens
            from trinity.live_redis import Publisher

            live.travel_by(Publisher(settings.REDIS_URL))
