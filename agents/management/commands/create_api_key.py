"""`manage.py create_api_key USER` or `--agent NAME`: prints the key once."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.management_viewer import operator
from accounts.services import create_key
from agents.queries import agent_for
from trinity.kernel.commands import DomainCommand
from trinity.kernel.errors import refused_field


class Command(DomainCommand):
    help = "Create an API key of a user or of an agent; the key is printed once and kept only as a hash."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", nargs="?", help="the user whom the key acts as")
        parser.add_argument("--agent", metavar="NAME", help="the agent that the key acts as")
        parser.add_argument("--name", default="", help="a note to tell keys apart")

    def act(self, **options: Any) -> None:
        if bool(options["user"]) == bool(options["agent"]):
            raise refused_field("user", "Name a user, or an agent with --agent; one of the two.")
        if options["agent"]:
            agent = agent_for(operator(), options["agent"])
            new = create_key(agent_id=agent.pk, name=options["name"])
        else:
            new = create_key(user=operator(options["user"]).user, name=options["name"])
        self.stdout.write(new.secret)
