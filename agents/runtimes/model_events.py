"""Gathers what counts of the lines that our model program prints; judges nothing and never raises."""

from dataclasses import dataclass, field
from typing import Any

from agents.runtimes.claude_events import mappings
from agents.runtimes.keeping import name_of
from agents.runtimes.model_api.vocabulary import LineType
from agents.runtimes.trajectory import TrajectoryBuilder

MOST_NAMES = 100
FINAL_TYPES = (LineType.END.value,)


@dataclass
class HeardOfModel:
    """What was printed, in one pass. Totals are running ones: the last that were told count, nothing is added up."""

    final: dict[str, Any] | None = None
    trajectory: TrajectoryBuilder = field(default_factory=TrajectoryBuilder)
    last_text: str = ""
    model: str = ""
    totals: dict[str, Any] = field(default_factory=dict)
    retrying: dict[str, Any] = field(default_factory=dict)  # the last line was a retry: why
    denials: dict[str, None] = field(default_factory=dict)
    middle_cut: bool = False

    def hear(self, printed: dict[str, Any]) -> None:
        """One JSON object; what is unknown is passed over."""
        kind = printed.get("type")
        if isinstance(printed.get("totals"), dict) and kind in (LineType.MESSAGE, LineType.END):
            self.totals = printed["totals"]
        if kind == LineType.MESSAGE:
            self._message(printed)
        elif kind == LineType.RESULT:
            self._result(printed)
        elif kind == LineType.RETRY:
            self.retrying = printed
        elif kind == LineType.END:
            self.final = printed
        elif isinstance(printed.get("truncated_bytes"), int):  # the runner's mark
            self.middle_cut = True
            self.trajectory.event("output_cut", bytes=printed["truncated_bytes"])

    def _message(self, printed: dict[str, Any]) -> None:
        self.retrying = {}
        self.model = name_of(printed.get("model")) or self.model
        text = printed.get("text")
        self.last_text = text if isinstance(text, str) else ""
        number = printed.get("number")
        key = number if isinstance(number, int) else None
        self.trajectory.step(key)
        for call in mappings(printed.get("calls")):
            id = call.get("id")
            self.trajectory.call(key, call.get("tool"), call.get("args"), id=id if isinstance(id, str) else None)

    def _result(self, printed: dict[str, Any]) -> None:
        id = printed.get("id")
        if isinstance(id, str):
            self.trajectory.result(id, printed.get("result"), is_error=printed.get("error") is True)
        tool = name_of(printed.get("tool"))
        if printed.get("refused") is True and tool and len(self.denials) < MOST_NAMES:
            self.denials[tool] = None
