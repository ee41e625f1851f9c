"""What the practice agent must know of earlier calls, in one small file of its folder; keeps no prompt."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILE = Path(".practice.json")
LOCK = Path(".practice.lock")
MOST_KEPT = 200  # of each kind; the oldest are forgotten first


def count_call(key: str, call: str) -> int:
    """How often `key` has been asked, this call included; one call that is tried again counts once."""
    with _memory() as memory:
        counts = memory["counts"]
        seen = counts.get(key)
        before, last_call = seen if isinstance(seen, list) and len(seen) == 2 else (0, "")
        number = int(before) if call and call == last_call else int(before) + 1
        _keep(counts, key, [number, call])
        return number


def seconds_since_first(key: str, *, start_again_after: float | None = None) -> float:
    """Seconds since `key` was first asked, 0 for the first time.

    With `start_again_after`, a first time that lies longer back is forgotten once it has been reported.
    """
    with _memory() as memory:
        firsts = memory["first_asked"]
        first = firsts.get(key)
        # The wall clock, for calls are different processes; one that was set back must not make it for ever.
        if not isinstance(first, int | float) or first > time.time():
            first = time.time()
            _keep(firsts, key, first)
        since = time.time() - first
        if start_again_after is not None and since >= start_again_after:
            del firsts[key]
        return since


@contextmanager
def _memory() -> Iterator[dict[str, dict[str, Any]]]:
    """The memory for this process alone; written whole, so that a kill leaves the old or the new one."""
    with LOCK.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        memory = _read()
        yield memory
        aside = FILE.with_suffix(".unfinished")
        aside.write_text(json.dumps(memory))
        os.replace(aside, FILE)


def _read() -> dict[str, dict[str, Any]]:
    try:
        stored = json.loads(FILE.read_bytes())
    except (FileNotFoundError, ValueError):
        stored = {}
    found = stored if isinstance(stored, dict) else {}
    return {name: dict(part) if isinstance(part := found.get(name), dict) else {} for name in ("counts", "first_asked")}


def _keep(part: dict[str, Any], key: str, value: Any) -> None:
    part.pop(key, None)
    part[key] = value
    while len(part) > MOST_KEPT:
        del part[next(iter(part))]
