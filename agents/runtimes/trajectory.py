"""Puts the tool calls that a runtime reads into the steps of our own JSON (section 4); knows no format."""

from collections.abc import Hashable
from typing import Any, Final

from agents.runtimes.base import Step
from agents.runtimes.keeping import json_size, kept_json, name_of

MOST_CALLS = 5_000
MOST_STEPS = 10_000
MOST_CHARACTERS = 4 * 1024 * 1024
MOST_EARLY_RESULTS = 1_000
NO_RESULT: Final = object()  # the call ended, and nothing was recorded of what came of it


class TrajectoryBuilder:
    """Grows by steps, calls and results as they are printed; bounded, and says what it left out.

    A step is named by a key, so that lines far apart can belong to one. Results are paired by the call's id,
    whichever comes first. A call without a recorded result keeps none.
    """

    def __init__(self) -> None:
        self.calls_seen = 0
        self._calls_kept = 0
        self._characters = 0
        self._results_left_out = 0
        self._steps: list[list[dict[str, Any]] | dict[str, Any]] = []
        self._by_key: dict[Hashable, list[dict[str, Any]]] = {}
        self._by_id: dict[str, dict[str, Any]] = {}
        self._early: dict[str, tuple[Any, bool]] = {}

    def step(self, key: Hashable) -> None:
        """The model answered; an answer without calls is a step too."""
        if key not in self._by_key and len(self._steps) < MOST_STEPS:
            step: list[dict[str, Any]] = []
            self._steps.append(step)
            self._by_key[key] = step

    def call(self, key: Hashable, tool: object, args: Any, *, id: str | None = None, agent: str | None = None) -> None:
        """A call in the step of that key. The same id a second time is the same call."""
        if id is not None and id in self._by_id:
            return
        self.calls_seen += 1
        self.step(key)
        made: dict[str, Any] = {"tool": name_of(tool), "args": kept_json(args)}
        made |= {name: name_of(value) for name, value in (("agent", agent), ("id", id)) if value is not None}
        size = json_size(made)
        full = self._calls_kept >= MOST_CALLS or self._characters + size > MOST_CHARACTERS
        if full or key not in self._by_key:
            return
        self._by_key[key].append(made)
        self._calls_kept += 1
        self._characters += size
        if id is not None:
            self._by_id[id] = made
            if id in self._early:
                result, is_error = self._early.pop(id)
                self.result(id, result, is_error=is_error)

    def result(self, id: str, result: Any, *, is_error: bool) -> None:
        """What came of the call of that id; the first one counts, one whose call was left out is left out."""
        made = self._by_id.get(id)
        if made is None:
            if len(self._early) < MOST_EARLY_RESULTS:
                self._early[id] = (result if result is NO_RESULT else kept_json(result), is_error)
            return
        if "result" in made or "error" in made:
            return
        if is_error:
            made["error"] = True
        if result is NO_RESULT:
            return
        kept = kept_json(result)
        size = json_size(kept)
        if self._characters + size > MOST_CHARACTERS:  # none rather than words of ours, which would look equal
            self._results_left_out += 1
            return
        self._characters += size
        made["result"] = kept

    def event(self, name: str, **facts: Any) -> None:
        """Something that is no model step, at this place."""
        if len(self._steps) < MOST_STEPS:
            self._steps.append({"event": name, **facts})

    def steps(self) -> tuple[Step, ...]:
        """Everything that was kept, and at the end what was not."""
        kept: list[Step] = [step if isinstance(step, dict) else tuple(step) for step in self._steps]
        if left_out := self._left_out():
            kept.append({"event": "left_out", **left_out})
        return tuple(kept)

    def notes(self) -> list[str]:
        """The same for a person."""
        if not self._left_out():
            return []
        return [
            f"The trajectory keeps {self._calls_kept:,} of {self.calls_seen:,} tool calls"
            f" and leaves out {self._results_left_out:,} of their results."
        ]

    def _left_out(self) -> dict[str, int]:
        counts = {"calls": self.calls_seen - self._calls_kept, "results": self._results_left_out}
        return counts if any(counts.values()) else {}
