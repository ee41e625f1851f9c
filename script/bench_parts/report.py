"""The benchmark's figures, their bars and how they are shown; measures nothing and fails nobody."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

COLUMNS = ("section", "what", "figure", "against", "ratio", "bar", "")


@dataclass(frozen=True)
class Bar:
    """What a number should be, and perhaps what it is hoped to become. One of `least` and `most` is given."""

    least: float | None = None
    most: float | None = None
    aim: float | None = None

    def met_by(self, number: float) -> bool:
        """Whether the number keeps to it; NaN never does."""
        return number >= self.least if self.least is not None else number <= (self.most or 0.0)

    def __str__(self) -> str:
        bound = f"≥ {self.least:g}" if self.least is not None else f"≤ {self.most:g}"
        return f"{bound} (aim {self.aim:g})" if self.aim is not None else bound


@dataclass(frozen=True)
class Figure:
    """One line of the table. The bar is for the ratio where there is one, else for the number itself."""

    section: str
    what: str
    number: float
    unit: str
    against: str = ""
    ratio: float | None = None
    bar: Bar | None = None
    bar_is_for_number: bool = False
    rounds: Sequence[float] = field(default=())

    @property
    def judged(self) -> float:
        """The number that the bar is for."""
        return self.number if self.ratio is None or self.bar_is_for_number else self.ratio

    @property
    def verdict(self) -> str:
        """`met`, `not met`, or nothing where there is no bar."""
        if self.bar is None:
            return ""
        return "met" if self.bar.met_by(self.judged) else "not met"

    def cells(self) -> tuple[str, ...]:
        """Its line, column by column."""
        shown = f"{written(self.number)} {self.unit}"
        if len(self.rounds) > 1:
            shown += f" ({written(min(self.rounds))}–{written(max(self.rounds))})"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return (self.section, self.what, shown, self.against, ratio, str(self.bar or ""), self.verdict)


def of_rounds(section: str, what: str, rounds: Sequence[float], unit: str, **more: Any) -> Figure:
    """A figure that is the median of its rounds."""
    return Figure(section, what, median(rounds) if rounds else math.nan, unit, rounds=tuple(rounds), **more)


def paired(name: str, ours: Sequence[float], theirs: Sequence[float]) -> dict[str, Any]:
    """The columns of a comparison: the median of each round's own ratio, so that what drifts between rounds is out."""
    if not ours or not theirs:
        return {}
    ratios = [one / other for one, other in zip(ours, theirs, strict=False) if other]
    return {"against": f"{name} ({written(median(theirs))})", "ratio": median(ratios) if ratios else math.nan}


def written(number: float) -> str:
    """Three digits that matter, without an exponent."""
    if not math.isfinite(number):
        return "—"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"


def table(figures: Iterable[Figure]) -> str:
    """A table that is read in a terminal and shown as one in Markdown."""
    lines = [COLUMNS, *(figure.cells() for figure in figures)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    padded = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    rule = " | ".join("-" * max(3, width) for width in widths)
    return "\n".join(f"| {line} |" for line in [padded[0], rule, *padded[1:]])


def write_json(path: Path, facts: dict[str, Any], figures: Sequence[Figure], missing: Sequence[str]) -> None:
    """The same for a program: NaN is null."""
    rows = [asdict(figure) | {"verdict": figure.verdict} for figure in figures]
    whole = {"facts": facts, "figures": rows, "not_measured": list(missing)}
    path.write_text(json.dumps(_without_nan(whole), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
