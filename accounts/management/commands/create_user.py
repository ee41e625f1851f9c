"""`manage.py create_user NAME --kind member|client|admin`: prints the password once."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.services import create_user
from accounts.vocabulary import UserKind
from trinity.kernel.commands import DomainCommand


class Command(DomainCommand):
    help = "Create a user with a random password, which is printed once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--kind", choices=list(UserKind), default=str(UserKind.MEMBER))

    def act(self, **options: Any) -> None:
        user, password = create_user(options["username"], kind=UserKind(options["kind"]))
        self.stdout.write(f"{user.username} ({user.kind})  password: {password}")
