"""The workspace app: rooms in which people talk with agents."""

from django.apps import AppConfig


class WorkspaceConfig(AppConfig):
    name = "workspace"

    def ready(self) -> None:
        from loops import hooks
        from workspace import looping, receivers

        receivers.register()
        hooks.started_in_room.add("cards", looping.card_of)
