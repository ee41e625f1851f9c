"""The grader loop-outcome: its options, its lint and its verdict (section 4); counting is the detector's."""

from collections.abc import Mapping
from typing import Any

from graders.kind import Ending, GraderKind, Verdict, Warned
from graders.loop_outcome import Findings, LoopDetector
from graders.loop_words import block_of, evidence, summary
from graders.options import Option
from graders.vocabulary import LintCode, Match, OptionType
from graders.wording import counted, shown

OPTIONS = (
    Option(
        "max_acceptable_retries",
        OptionType.INTEGER,
        "It looped when the most retries in a row are more than this; N identical actions are N − 1 retries.",
        required=True,
        minimum=0,
    ),
    Option(
        "should_loop",
        OptionType.BOOLEAN,
        "The verdict passes when what was observed, looping or not, equals this.",
        default=False,
    ),
    Option(
        "match",
        OptionType.CHOICE,
        "What makes two calls the same: same tool and arguments, same tool, or same tool and result.",
        default=Match.NAME_ARGS.value,
        choices=tuple(match.value for match in Match),
    ),
    Option(
        "tools",
        OptionType.PATTERNS,
        "Unanchored regular expressions (RE2), joined by OR: which tools are watched; left out, all are.",
    ),
    Option(
        "max_cycle_period",
        OptionType.INTEGER,
        "For each period up to it, a whole block of that many steps R times in a row is R − 1 retries.",
        default=1,
        minimum=1,
        maximum=10,
    ),
)


class LoopOutcome(LoopDetector):
    """The detector, and the comparison of what it found with what was expected."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self._options = options

    def verdict(self, ending: Ending) -> Verdict:
        """The verdict on all that was seen."""
        findings = self.findings(ending)
        passed = findings.looped == self._options["should_loop"]
        return Verdict(
            passed=passed,
            evidence=evidence(findings, self._options),
            summary=summary(findings, self._options, passed),
            details=_details(findings, self._options, ending),
        )


def _details(findings: Findings, options: Mapping[str, Any], ending: Ending) -> dict[str, Any]:
    row = findings.longest
    return {
        "looped": findings.looped,
        "signals": [signal.value for signal in findings.signals],
        "retries": findings.retries,
        "limit": options["max_acceptable_retries"],
        "tool": block_of(row) if row else None,
        "period": row.period if row else None,
        "agent": shown(row.lane) if row and row.lane else None,
        "first_step": row.first_step if row else None,
        "last_step": row.last_step if row else None,
        "call_ids": [shown(call_id) for call_id in row.call_ids] if row else [],
        "call_ids_left_out": row.ids_left_out if row else 0,
        "gaps": {
            "steps": row.gap.steps if row and row.gap else 0,
            "tools": [shown(tool) for tool in row.gap.tools] if row and row.gap else [],
        },
        "steps": findings.steps,
        "watched_calls": findings.watched_calls,
        "unwatched_calls": findings.unwatched_calls,
        "missing_results": findings.missing_results,
        "end_reason": None if ending.end_reason is None else shown(ending.end_reason),
        "config": dict(options),
    }


def _lint(options: Mapping[str, Any], max_iterations: int | None) -> list[Warned]:
    """A run that the cap does not end has at most `max_iterations` steps, so at most one retry fewer."""
    limit = options["max_acceptable_retries"]
    if max_iterations is None or limit < max_iterations - 1:
        return []
    most = max(0, max_iterations - 1)
    return [
        Warned(
            LintCode.RETRY_SIGNAL_UNREACHABLE,
            f"max_acceptable_retries is {limit:,}, but {max_iterations:,} iterations allow at most "
            f"{counted(most, 'retry', 'retries')} in a row: only the iteration cap can count as a loop.",
        )
    ]


KIND = GraderKind(
    type="loop-outcome",
    meaning="Did the agent spin on the same action, and was that expected?",
    options=OPTIONS,
    judge=LoopOutcome,
    lint=_lint,
)
