"""The agents app: who does the work."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
