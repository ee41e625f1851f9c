"""The workspace app: rooms in which people talk with agents."""

from django.apps import AppConfig


class WorkspaceConfig(AppConfig):
    name = "workspace"

    def ready(self) -> None:
        from workspace import receivers

        receivers.register()
