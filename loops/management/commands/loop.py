"""`manage.py loop AGENT "message" --max-runs N … --follow`: starts a loop, and prints each run as it ends."""

import time
from argparse import Action
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from accounts.management_viewer import operator
from agents.queries import agent_for
from executions.worker.home import OneServer
from loops.models import Loop, Run
from loops.parameters import PARAMETER_NAMES, read_parameters
from loops.services import start_loop
from loops.vocabulary import LoopStatus, OnFailure
from loops.words import loop_words
from trinity.kernel.commands import DomainCommand
from trinity.kernel.money import dollars_text
from trinity.kernel.text import first_line

LOOK_SECONDS = 0.5
NOBODY_WORKS_AFTER = 5.0
# 1 and 2 are a crash and bad input.
EXIT_CODE_OF = {
    LoopStatus.COMPLETED: 0,
    LoopStatus.COMPLETED_WITH_ERRORS: 3,
    LoopStatus.STOPPED: 4,
    LoopStatus.FAILED: 5,
    LoopStatus.INTERRUPTED: 6,
}


class Command(DomainCommand):
    help = (
        "Start a loop. With --follow each run is printed as it ends, and the exit code says how the loop ended: "
        "0 completed, 3 completed with errors, 4 stopped, 5 failed. Ctrl-C stops following, not the loop."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent")
        parser.add_argument("message")
        parser.add_argument("--max-runs", type=int, required=True)
        parser.add_argument("--stop-signal")
        parser.add_argument("--delay-seconds", type=int)
        parser.add_argument("--timeout-per-run", type=int)
        parser.add_argument("--max-duration-seconds", type=int)
        parser.add_argument("--no-progress-threshold", type=int)
        parser.add_argument("--max-cost-usd", type=float)
        parser.add_argument("--on-failure", choices=list(OnFailure))
        parser.add_argument("--max-consecutive-failures", type=int)
        parser.add_argument("--model")
        parser.add_argument("--allowed-tools", nargs="+", metavar="TOOL")
        parser.add_argument("--user", help="who starts it; the first admin unless named")
        parser.add_argument("--follow", action="store_true")
        self._own = {action.dest for action in parser._actions if _is_parameter(action)}

    def act(self, **options: Any) -> None:
        viewer = operator(options["user"])
        given = {name: options[name] for name in self._own if options[name] is not None}
        loop = start_loop(viewer, agent_for(viewer, options["agent"]), read_parameters(given))
        self.stdout.write(f"{loop.pk} is {loop.status}: {loop.title}")
        self.stdout.write(f"  {settings.TRINITY_URL}/loops/{loop.pk}/")
        if options["follow"]:
            raise SystemExit(self._follow(loop))

    def _follow(self, loop: Loop) -> int:
        shown, began, warned = 0, time.monotonic(), False
        try:
            while True:
                loop.refresh_from_db()
                shown = self._show_new_runs(loop, shown)
                if loop.ended:
                    self._show_end(loop)
                    return EXIT_CODE_OF[LoopStatus(loop.status)]
                if not warned and loop.started_at is None and time.monotonic() - began > NOBODY_WORKS_AFTER:
                    warned = True
                    self._say_when_nobody_works()
                time.sleep(LOOK_SECONDS)
        except KeyboardInterrupt:
            self.stdout.write(f"No longer following; {loop.pk} goes on.")
            return 130

    def _show_new_runs(self, loop: Loop, shown: int) -> int:
        new = Run.objects.filter(loop=loop, run_number__gt=shown, run_number__lte=loop.runs_completed)
        for run in new.select_related("execution").order_by("run_number"):
            execution = run.execution
            said = first_line(execution.response if not execution.error else execution.error, 100)
            seconds = (execution.duration_ms or 0) / 1000
            self.stdout.write(
                f"  run {run.run_number:>3} / {loop.max_runs}  {execution.status:<10} {seconds:>7.1f} s  "
                f"{dollars_text(execution.cost_nano):>8}  {said}"
            )
            self.stdout.flush()
            shown = run.run_number
        return shown

    def _show_end(self, loop: Loop) -> None:
        words = loop_words(loop.status, loop.stop_reason)
        failed = f", {loop.failed_runs} failed" if loop.failed_runs else ""
        self.stdout.write(
            f"{words.badge} · {words.reason}: {loop.runs_completed} runs{failed}, {dollars_text(loop.spent_nano)}"
        )
        if loop.error:
            self.stdout.write(loop.error)

    def _say_when_nobody_works(self) -> None:
        if not settings.DISTRIBUTED and OneServer(settings.TRINITY_HOME).take():
            self.stderr.write("No server works on this installation; start script/server, and the loop begins.")


def _is_parameter(action: Action) -> bool:
    return action.dest in PARAMETER_NAMES
