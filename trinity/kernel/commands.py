"""The door of management commands: one translation of refusals into sentences and exit codes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from trinity.kernel.errors import Refused, TrinityError

BAD_INPUT = 2


class DomainCommand(BaseCommand):
    """Subclasses write `act`; what it refuses is printed field by field, and the exit code is 2."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.act(**options)
        except TrinityError as error:
            raise CommandError(sentences_of(error), returncode=BAD_INPUT) from error

    def act(self, **options: Any) -> None:
        raise NotImplementedError


def sentences_of(error: TrinityError) -> str:
    """All that was refused, a field a line."""
    if isinstance(error, Refused) and error.errors:
        return "\n".join(f"{name}: {text}" for name, texts in error.errors.items() for text in texts)
    return str(error)
