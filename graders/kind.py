"""What a grader is: its options, its judge and what catalogue and lint say of it; judges nothing itself."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol

from graders.options import Option
from graders.trajectory import Step
from graders.vocabulary import Cost, Determinism, LintCode, Reference, ScoreKind, TemporalScope


class Ending(NamedTuple):
    """How the trajectory ended; known once its last step was seen."""

    end_reason: str | None = None
    max_iterations: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a grader says of one trajectory (section 4)."""

    passed: bool
    evidence: str  # one plain sentence
    summary: str  # a few words for a table
    details: dict[str, Any] = field(default_factory=dict)  # JSON values only

    @property
    def score(self) -> float:
        return 1.0 if self.passed else 0.0


class Judge(Protocol):
    """Sees one trajectory step by step, in one pass, and keeps only what its verdict needs."""

    def see(self, step: Step) -> None:
        """Take notice of the next step."""

    def verdict(self, ending: Ending) -> Verdict:
        """Say what came of it, after the last step."""


class Warned(NamedTuple):
    """One thing that lint warns of: allowed, but hardly meant."""

    code: LintCode | str
    message: str


def _no_lint(options: Mapping[str, Any], max_iterations: int | None) -> list[Warned]:
    return []


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Where a grader stands among graders."""

    determinism: Determinism = Determinism.STATIC
    cost: Cost = Cost.FREE
    reference: Reference = Reference.REFERENCE_FREE
    temporal_scope: TemporalScope = TemporalScope.TRAJECTORY_LEVEL
    score_kind: ScoreKind = ScoreKind.CODE


@dataclass(frozen=True, slots=True)
class GraderKind:
    """One type of grader. A module of `graders.kinds` that has one as `KIND` adds it to the registry.

    `judge` gets every option with its value or default; `lint` also the most iterations, None when unknown.
    """

    type: str
    meaning: str
    options: tuple[Option, ...]
    judge: Callable[[Mapping[str, Any]], Judge]
    lint: Callable[[Mapping[str, Any], int | None], list[Warned]] = _no_lint
    taxonomy: Taxonomy = field(default_factory=Taxonomy)

    def as_catalogued(self) -> dict[str, Any]:
        """Plain values for the catalogue."""
        return {
            "type": self.type,
            "meaning": self.meaning,
            "options": [option.as_catalogued() for option in self.options],
            "taxonomy": {name: word.value for name, word in asdict(self.taxonomy).items()},
        }
