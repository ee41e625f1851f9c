"""The executions app: one call of an agent, carried out once."""

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    name = "executions"
