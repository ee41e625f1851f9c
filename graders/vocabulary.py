"""The words of grading: matches, signals, codes and the taxonomy; no rule stands here."""

from enum import StrEnum


class Match(StrEnum):
    """What makes two calls the same action (section 4)."""

    NAME_ARGS = "name-args"
    NAME = "name"
    OBSERVATION = "observation"


class Signal(StrEnum):
    """Why a trajectory counts as looping."""

    RETRIES = "retries"
    CAP = "cap"


class EndReason(StrEnum):
    """The one end of a run that a grader knows; every other reason is text."""

    SIMULATION_CAP = "simulation_cap"


class VerdictStatus(StrEnum):
    """Whether there is a verdict at all: an error is none."""

    OK = "ok"
    ERROR = "error"


class LintCode(StrEnum):
    """What lint warns of."""

    RETRY_SIGNAL_UNREACHABLE = "retry-signal-unreachable"


class OptionType(StrEnum):
    """What kind of value an option takes."""

    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    PATTERNS = "patterns"


class Determinism(StrEnum):
    """Whether the same trajectory always gets the same verdict."""

    STATIC = "static"


class Cost(StrEnum):
    """What one verdict costs."""

    FREE = "free"


class Reference(StrEnum):
    """Whether a right answer is needed to judge."""

    REFERENCE_FREE = "reference-free"


class TemporalScope(StrEnum):
    """How much of the work one verdict looks at."""

    TRAJECTORY_LEVEL = "trajectory-level"


class ScoreKind(StrEnum):
    """Who gives the score."""

    CODE = "code"
