"""What a reader has open on a page with loops, as it stands in the address and in each fragment's own fields.

The state lives in the page, not in a script: a fragment that is read again comes back as open as it was.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

MOST_OPEN = 50  # loops and runs each; more is a made-up address
_LOOP = re.compile(r"loop_[A-Za-z0-9_-]{16}\Z")
_EXECUTION = re.compile(r"exec_[A-Za-z0-9_-]{16}\Z")


@dataclass(frozen=True, slots=True)
class Shown:
    """Open loops, loops with all their runs, open runs, and runs whose whole response is shown; by id."""

    open: frozenset[str] = frozenset()
    all: frozenset[str] = frozenset()
    run: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()

    @classmethod
    def of(cls, query: QueryDict) -> "Shown":
        """From a query string or a form; what is no id is passed over."""
        return cls(
            open=_ids(query.getlist("open"), _LOOP),
            all=_ids(query.getlist("all"), _LOOP),
            run=_ids(query.getlist("run"), _EXECUTION),
            whole=_ids(query.getlist("whole"), _EXECUTION),
        )

    def opened(self, loop_id: str) -> "Shown":
        """With this loop open."""
        return replace(self, open=self.open | {loop_id})

    def toggled(self, name: str, one: str) -> "Shown":
        """With one id put in or taken out."""
        ids: frozenset[str] = getattr(self, name)
        return replace(self, **{name: ids ^ {one}})

    def of_loop(self, loop_id: str, executions: Iterable[str]) -> "Shown":
        """Only what belongs to one loop and its runs."""
        own = frozenset(executions)
        return Shown(self.open & {loop_id}, self.all & {loop_id}, self.run & own, self.whole & own)

    def pairs(self) -> list[tuple[str, str]]:
        """As names and values, in a steady order."""
        return [(name, one) for name in ("open", "all", "run", "whole") for one in sorted(getattr(self, name))]

    def query(self) -> str:
        """As a query string with its question mark; empty when nothing is open."""
        pairs = self.pairs()
        return f"?{urlencode(pairs)}" if pairs else ""


def _ids(given: list[str], pattern: re.Pattern[str]) -> frozenset[str]:
    return frozenset(one for one in given[:MOST_OPEN] if pattern.match(one))
