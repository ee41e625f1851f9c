"""Joins the project's own parts at start: system checks. Imports no app's models."""

from django.apps import AppConfig


class TrinityConfig(AppConfig):
    name = "trinity"
    verbose_name = "Trinity"

    def ready(self) -> None:
        from trinity import checks  # noqa: F401 — importing registers the checks
