"""`manage.py add_agent claude FOLDER`: makes an agent on an existing folder and calls it once, for `script/agent`."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from accounts.management_viewer import operator
from accounts.viewers import Viewer
from agents.models import Agent
from agents.runtimes.claude_code import PermissionMode
from agents.runtimes.codex import Sandbox
from agents.runtimes.command import Output, PromptBy
from agents.services import create_agent
from executions.adding.check_call import Check, CheckState, start_check
from executions.adding.plans import PERMISSION_MODE, RUNTIME_OF, SANDBOX, Asked, Plan, as_typed, plan_for
from executions.adding.waiting import follow, somebody_works
from trinity import first_start
from trinity.kernel.commands import DomainCommand
from trinity.kernel.errors import Refused, refused_field
from trinity.migrated import migrations_are_missing

CHECK_FAILED, UNDECIDED = 3, 4  # 2 is bad input
FIRST_TASK = "Find one small thing to improve here, and improve it. Reply [[DONE]] when there is nothing left."
_FIELDS = ("kind", "folder", "name", "title", "model", "program", "permission_mode", "sandbox", "output", "prompt")


class Command(DomainCommand):
    help = (
        "Make an agent of Claude Code, Codex or any command on a folder that exists, call it once to see that it "
        "works, and say how a first loop is started. Works beside a running server, and without one. "
        "Exit code: 0 it answered, 2 something is missing and nothing was made, 3 the agent is there but its check "
        "call failed, 4 the check call waits."
    )
    behind: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "kind", choices=list(RUNTIME_OF), help="claude, codex, or command with -- and its argv at the end"
        )
        parser.add_argument("folder", nargs="?", default=".", help="the folder it works in; the one you stand in")
        parser.add_argument("--name", default="", help="the agent's name; from the folder unless given")
        parser.add_argument("--title", default="")
        parser.add_argument("--model", default="", help="the runtime's own unless given")
        parser.add_argument("--program", default="", help="where claude or codex lies, if it is not found")
        parser.add_argument(
            "--permission-mode", default="", choices=["", *PermissionMode], metavar="MODE",
            help=f"claude: {', '.join(PermissionMode)}; {PERMISSION_MODE} unless given",
        )  # fmt: skip
        parser.add_argument(
            "--approve", action="append", default=[], dest="approved_tools", metavar="RULE",
            help="claude: a tool that it may use unasked, such as 'Bash(git *)'; may be repeated",
        )  # fmt: skip
        parser.add_argument(
            "--sandbox", default="", choices=["", *Sandbox], metavar="MODE",
            help=f"codex: {', '.join(Sandbox)}; {SANDBOX} unless given",
        )  # fmt: skip
        parser.add_argument("--mcp-servers", metavar="FILE", help="JSON: an object of MCP servers by name")
        parser.add_argument("--output", default="", choices=["", *Output], metavar="SHAPE", help="command: its output")
        parser.add_argument(
            "--prompt", default="", choices=["", *PromptBy], metavar="BY", help="command: stdin, argument"
        )
        parser.add_argument("--env", action="append", default=[], metavar="NAME", help="a variable passed on by name")
        parser.add_argument("--timeout", type=int, dest="timeout_seconds", metavar="SECONDS", help="of one run at most")
        parser.add_argument("--no-check", dest="check", action="store_false", help="make no check call")
        parser.add_argument("--owner", metavar="USER", help="who owns it; the first admin unless named")

    def run_from_argv(self, argv: list[str]) -> None:
        """What stands behind `--` is the command's own: no option of it is ours."""
        end = argv.index("--") if "--" in argv else len(argv)
        self.behind = tuple(argv[end + 1 :])
        super().run_from_argv(argv[:end])

    def act(self, **options: Any) -> None:
        self._set_up()
        viewer = operator(options["owner"])
        try:
            plan = plan_for(self._asked(options))
            agent = plan.existing
            new = agent is None
            agent = agent or create_agent(viewer, plan.given)
        except Refused as refusal:
            raise as_typed(refusal) from refusal
        self._show_agent(agent, plan, new=new)
        code = self._check(viewer, agent) if options["check"] else 0
        if code:
            raise SystemExit(code)

    def _asked(self, options: dict[str, Any]) -> Asked:
        if self.behind and options["kind"] != "command":
            raise refused_field("argv", f"Only a command has arguments; {options['kind']} has none.")
        return Asked(
            **{name: options[name] for name in _FIELDS},
            approved_tools=tuple(options["approved_tools"]),
            argv=self.behind,
            env=tuple(options["env"]),
            mcp_servers=_servers_in(options["mcp_servers"]),
            timeout_seconds=options["timeout_seconds"],
            without_login=not options["check"],
        )

    def _set_up(self) -> None:
        """So that it may be the first thing that somebody runs."""
        if settings.DISTRIBUTED or settings.DATABASE_URL:
            return
        if migrations_are_missing():
            call_command("migrate", verbosity=0, interactive=False)
        first = first_start.set_up(Path(settings.TRINITY_HOME))
        if first is not None:
            self.stdout.write("Trinity is set up:")
            self.stdout.write(first.in_words(Path(settings.TRINITY_HOME)))

    # --- what it says ---------------------------------------------------------------------------------------

    def _show_agent(self, agent: Agent, plan: Plan, *, new: bool) -> None:
        if new:
            self.stdout.write(f"The agent {agent.name} ({agent.runtime}) is made.")
        else:
            self.stdout.write(
                f"There is an agent {agent.name} ({agent.runtime}) on this folder already; it is as it was."
            )
        self._list(plan.facts if new else plan.facts[:3])
        for remark in plan.remarks:
            self.stdout.write(f"  note: {remark}")

    def _check(self, viewer: Viewer, agent: Agent) -> int:
        execution = start_check(viewer, agent)
        self.stdout.write("Calling it once …")
        self.stdout.flush()
        with somebody_works(execution) as served:
            try:
                check = follow(execution, lambda one: self.stdout.write(f"  {one.sentence}"))
            except KeyboardInterrupt:
                self.stdout.write("No longer waiting; the call goes on.")
                return UNDECIDED
        self._show_check(check)
        match check.state:
            case CheckState.READY:
                self._show_next(agent, served=served)
                return 0
            case CheckState.FAILED:
                self.stderr.write(f"The agent {agent.name} stays; correct what is wrong and run this again.")
                return CHECK_FAILED
            case _:
                self._show_waiting(served=served)
                return UNDECIDED

    def _show_check(self, check: Check) -> None:
        (self.stderr if check.state is CheckState.FAILED else self.stdout).write(check.sentence)
        self._list(check.facts)
        for sentence in check.notes:
            self.stdout.write(f"  note: {sentence}")

    def _show_waiting(self, *, served: bool) -> None:
        who = "the server goes on with it" if served else "script/server goes on with it"
        self.stdout.write(f"The call waits; {who} by itself, and the executions page shows what comes of it.")

    def _show_next(self, agent: Agent, *, served: bool) -> None:
        if not served:
            self.stdout.write("No server runs yet. Start it in another terminal:")
            self.stdout.write(f"  {_shown(settings.BASE_DIR / 'script' / 'server')}")
        manage = f"{_shown(Path(sys.executable))} {_shown(settings.BASE_DIR / 'manage.py')}"
        self.stdout.write("Start a first loop:")
        self.stdout.write(f"  {manage} loop {agent.name} '{FIRST_TASK}' --max-runs 3 --stop-signal '[[DONE]]' --follow")
        self.stdout.write(f"or at {settings.TRINITY_URL}/agents/{agent.name}/loops/")

    def _list(self, facts: Iterable[tuple[str, str]]) -> None:
        for name, value in facts:
            if value:
                self.stdout.write(f"  {name:<14}{value}")


def _shown(path: Path) -> str:
    """As short as it can be typed where the caller stands."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _servers_in(file: str | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        servers = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"mcp-servers: {file} cannot be read: {error.strerror}.", returncode=2) from error
    except ValueError as error:
        raise CommandError(f"mcp-servers: {file} is no JSON: {error}.", returncode=2) from error
    if isinstance(servers, dict) and set(servers) == {"mcpServers"}:  # as in a .mcp.json
        servers = servers["mcpServers"]
    return servers if isinstance(servers, dict) else {"": servers}
