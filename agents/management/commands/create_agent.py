"""`manage.py create_agent NAME --runtime … [--settings JSON]`: makes an agent as the first admin."""

import json
from typing import Any

from django.core.management.base import CommandParser

from accounts.management_viewer import operator
from agents.runtimes.registry import RuntimeName
from agents.services import create_agent
from trinity.kernel.commands import DomainCommand
from trinity.kernel.errors import refused_field


class Command(DomainCommand):
    help = "Create an agent; it is running at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--runtime", required=True, choices=list(RuntimeName))
        parser.add_argument("--settings", dest="runtime_settings", metavar="JSON", default="{}")
        parser.add_argument("--title", default="")
        parser.add_argument("--workspace", metavar="FOLDER")
        parser.add_argument("--execution-timeout-seconds", type=int)
        parser.add_argument("--max-parallel-tasks", type=int)
        parser.add_argument("--model")
        parser.add_argument("--owner", metavar="USER", help="who owns it; the first admin unless named")

    def act(self, **options: Any) -> None:
        try:
            settings = json.loads(options["runtime_settings"])
        except json.JSONDecodeError as error:
            raise refused_field("settings", f"No JSON: {error}.") from error
        names = ("name", "title", "runtime", "workspace", "execution_timeout_seconds", "max_parallel_tasks", "model")
        given = {name: options[name] for name in names if options[name] is not None}
        agent = create_agent(operator(options["owner"]), given | {"runtime_settings": settings})
        self.stdout.write(f"{agent.name} ({agent.runtime}) is {agent.status}; its folder is {agent.workspace}")
