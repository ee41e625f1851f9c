"""Makes the graders' management commands known to Django; there are no models."""

from django.apps import AppConfig


class GradersConfig(AppConfig):
    name = "graders"
