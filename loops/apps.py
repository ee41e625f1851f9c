"""The loops app: the same task, run after run, until a guardrail ends it."""

from django.apps import AppConfig


class LoopsConfig(AppConfig):
    name = "loops"

    def ready(self) -> None:
        from loops import receivers

        receivers.register()
