"""What a loop may come to at most, and what its author may have overlooked; said before it starts, refuses nothing."""

from dataclasses import dataclass

from loops.parameters import LoopParameters
from trinity.kernel.durations import duration_text, limit_text
from trinity.kernel.money import dollars_text


@dataclass(frozen=True, slots=True)
class Foresight:
    """`time` and `money` at most, in words; `warnings` as sentences."""

    time: str
    money: str
    warnings: tuple[str, ...]


def foresee(asked: LoopParameters, agent_timeout_seconds: int) -> Foresight:
    """The bounds of a loop that would be started with these parameters (section 5, "The Loops tab")."""
    return Foresight(_time(asked, agent_timeout_seconds), _money(asked), tuple(_warnings(asked)))


def _time(asked: LoopParameters, agent_timeout_seconds: int) -> str:
    timeout = asked.timeout_per_run or agent_timeout_seconds
    whole = asked.max_runs * timeout
    words = f"{asked.max_runs} run{'s' if asked.max_runs != 1 else ''} × {limit_text(timeout)}"
    if asked.delay_seconds and asked.max_runs > 1:
        whole += (asked.max_runs - 1) * asked.delay_seconds
        words += f" and {asked.max_runs - 1} × {limit_text(asked.delay_seconds)} of delay"
    words += f" = {duration_text(whole)}"
    if asked.max_duration_seconds is not None and asked.max_duration_seconds < whole:
        words += f", ended after {limit_text(asked.max_duration_seconds)} once the run in flight has finished"
    return words


def _money(asked: LoopParameters) -> str:
    if asked.max_cost_nano is None:
        return "no budget set"
    return f"{dollars_text(asked.max_cost_nano)}, and what the last run costs beyond it"


def _warnings(asked: LoopParameters) -> list[str]:
    warnings = []
    if asked.stop_signal and asked.stop_signal not in asked.message:
        warnings.append(
            f"The message never mentions the stop signal {asked.stop_signal}, so the agent may never reply with it."
        )
    if asked.delay_seconds and asked.no_progress_threshold:
        warnings.append(
            "With a delay this is likely a poll, which repeats itself by nature: "
            f"{asked.no_progress_threshold} identical replies would end it. Consider a no-progress threshold of 0."
        )
    return warnings
