"""Which loops of an agent's list the address asks for, and the links that ask for others; reads no row."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.db.models import Q
from django.http import QueryDict

from loops.models import IS_ACTIVE
from loops.vocabulary import ACTIVE, LoopStatus
from trinity.kernel import fields
from trinity.kernel.choices import choices_of
from trinity.kernel.errors import Refused

ALL, STILL_ACTIVE = "", "active"
LISTED, MOST_LISTED = 50, 200


@dataclass(frozen=True, slots=True)
class StatusLink:
    """One status to choose; `query` is the address's."""

    words: str
    query: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """The newest loops in one status, in any that is active, or in all."""

    status: str = ALL
    older: bool = False

    @classmethod
    def of(cls, query: QueryDict) -> "Wanted":
        """From the address. Refused when there is no such status."""
        status = query.get("status", ALL)
        if status not in _STATUSES:
            known = ", ".join(name for name in _STATUSES if name)
            raise Refused(f"status: Must be one of {known}; found {fields.clip(status)!r}.")
        return cls(status, bool(query.get("older")))

    @property
    def limit(self) -> int:
        """How many of the newest are listed."""
        return MOST_LISTED if self.older else LISTED

    @property
    def condition(self) -> Q:
        """What lets a loop through."""
        if self.status == STILL_ACTIVE:
            return IS_ACTIVE
        return Q(status=self.status) if self.status else Q()

    @property
    def words(self) -> str:
        """The status in words."""
        return _STATUSES[self.status]

    @property
    def query(self) -> str:
        """As a query string with its question mark; blank when it is the plain list."""
        pairs = [("status", self.status)] * bool(self.status) + [("older", "1")] * self.older
        return f"?{urlencode(pairs)}" if pairs else ""

    @property
    def with_older(self) -> str:
        """The same with more of them."""
        return replace(self, older=True).query

    def links(self) -> list[StatusLink]:
        """All that can be chosen, this one marked."""
        return [
            StatusLink(words, Wanted(name).query or "?", chosen=name == self.status)
            for name, words in _STATUSES.items()
        ]


_ENDED = [
    (name, words) for name, words in choices_of(LoopStatus) if name not in ACTIVE and name != LoopStatus.INTERRUPTED
]
_STATUSES: dict[str, str] = {ALL: "all", STILL_ACTIVE: "active", **dict(_ENDED)}
