"""`manage.py check_loops`: prints every broken invariant, also beside working workers; repairs nothing."""

import sys
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand

from loops.invariants import check_agents, check_executions, check_loops
from loops.models import Loop
from loops.snapshot import snapshot

BATCH = 200  # loops in one view of the database: neither memory nor the age of a view grows with their number


class Command(BaseCommand):
    help = "Print every broken invariant of loops and executions. Exit code: 0 there is none, 1 there are some."

    def handle(self, *args: Any, **options: Any) -> None:
        loops, broken = self._check_all_loops()
        broken += self._print(_seen_at_once(check_executions))
        for sentence in _seen_at_once(check_agents):
            self.stdout.write(f"note: {sentence} (right after its limit was lowered)")
        self.stderr.write(f"{loops:,} loops checked, {broken:,} broken invariants.")
        if broken:
            sys.exit(1)

    def _check_all_loops(self) -> tuple[int, int]:
        checked = broken = 0
        last = ""
        while True:
            with snapshot():
                loop_ids = list(Loop.objects.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH])
                sentences = check_loops(loop_ids)
            if not loop_ids:
                return checked, broken
            broken += self._print(sentences)
            checked, last = checked + len(loop_ids), loop_ids[-1]

    def _print(self, sentences: list[str]) -> int:
        for sentence in sentences:
            self.stdout.write(sentence)
        return len(sentences)


def _seen_at_once(check: Callable[[], list[str]]) -> list[str]:
    with snapshot():
        return check()
