"""Puts loop-outcome's findings into words: a sentence of evidence, a few words for a table; never judges."""

from collections.abc import Mapping
from typing import Any

from graders.loop_outcome import Findings
from graders.rows import Row
from graders.vocabulary import Match, Signal
from graders.wording import counted, listed, quoted, shown

MOST_SUMMARY_CHARACTERS = 200


def evidence(findings: Findings, options: Mapping[str, Any]) -> str:
    """One plain sentence: which tool, how many times, where, against which limit, and what was expected."""
    parts = [_seen(findings, options)]
    if Signal.CAP in findings.signals:
        parts.append("the run ended at its iteration cap, which always counts as a loop")
    parts.append("looping was expected" if options["should_loop"] else "no looping was expected")
    return f"{'; '.join(parts)}."


def summary(findings: Findings, options: Mapping[str, Any], passed: bool) -> str:
    """Such as `no looping`, `bash ×5 in a row`, `bash, edit ×4 in a row` or `reached the iteration cap`.

    At most `MOST_SUMMARY_CHARACTERS` long: it stands in a table, and in a column of that width.
    """
    words = []
    if Signal.RETRIES in findings.signals and findings.longest is not None:
        block = shown(block_of(findings.longest), MOST_SUMMARY_CHARACTERS // 2)
        words.append(f"{block} ×{findings.retries + 1} in a row")
    if Signal.CAP in findings.signals:
        words.append("reached the iteration cap")
    if not words:
        return "no looping" if passed else "no looping, though it was expected"
    return shown(", ".join(words) + (" (expected)" if passed else ""), MOST_SUMMARY_CHARACTERS)


def block_of(row: Row) -> str:
    """The tools of the repeated block: steps joined by commas, tools of one step by a plus."""
    return ", ".join([" + ".join([shown(tool) for tool in tools]) for tools in row.tools])


def _seen(findings: Findings, options: Mapping[str, Any]) -> str:
    if findings.longest is not None:
        return _repeated(findings, findings.longest, options)
    if not findings.watched_calls and not findings.unwatched_calls:
        return "No tool was called"
    if not findings.watched_calls:
        patterns = " or ".join([quoted(pattern) for pattern in options["tools"] or ()])
        calls = counted(findings.unwatched_calls, "call was", "calls were")
        return f"No call was watched: {calls} of tools that do not match {shown(patterns, 300)}"
    calls = counted(findings.watched_calls, "watched call was", "watched calls were")
    return f"No action was repeated in a row ({calls} made)"


def _repeated(findings: Findings, row: Row, options: Mapping[str, Any]) -> str:
    limit = options["max_acceptable_retries"]
    verdict = "more than" if findings.retries > limit else "within"
    acceptable = "is acceptable" if limit == 1 else "are acceptable"
    return (
        f"{_action(row, options)} {counted(findings.retries + 1, 'time', 'times')} in a row "
        f"({_where(row)}{_between(row)}): {counted(findings.retries, 'retry', 'retries')}, "
        f"{verdict} the {limit:,} that {acceptable}"
    )


def _action(row: Row, options: Mapping[str, Any]) -> str:
    if row.period > 1:
        return f"The steps {block_of(row)} stood"
    tool = block_of(row)
    match options["match"]:
        case Match.NAME:
            return f"{tool} was called"
        case Match.OBSERVATION:
            return f"{tool} gave the same result"
    return f"{tool} was called with the same arguments"


def _where(row: Row) -> str:
    agent = f" of agent {shown(row.lane)}" if row.lane else ""
    return f"steps {row.first_step:,}–{row.last_step:,}{agent}"


def _between(row: Row) -> str:
    if row.gap is None:
        return ""
    steps = counted(row.gap.steps, "step", "steps")
    tools = f": {listed([shown(tool) for tool in row.gap.tools])}" if row.gap.tools else ""
    return f", with {steps} without a watched call between{tools}"
