"""The loops app: the same task, run after run, until a guardrail ends it."""

from django.apps import AppConfig


class LoopsConfig(AppConfig):
    name = "loops"

    def ready(self) -> None:
        from agents import hooks
        from loops import receivers, services

        receivers.register()
        hooks.archived.add("loops", services.stop_loops_of)
