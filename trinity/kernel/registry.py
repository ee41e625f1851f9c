"""A table that apps above fill at start, so that those below need not know them; never changed afterwards."""

from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Names to entries, in order of registration."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        """Register once; the same name again replaces it (a reload)."""
        self._entries[name] = entry

    def get(self, name: str) -> Entry | None:
        return self._entries.get(name)

    def entries(self) -> list[tuple[str, Entry]]:
        return list(self._entries.items())
