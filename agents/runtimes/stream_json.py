"""Judges what Claude Code printed as `stream-json` or `json`, and any program that prints these shapes.

It never raises for what was printed. The rules stand in section 3, "Runtimes" and "The model is away".
"""

from dataclasses import replace
from typing import Any

from agents.runtimes import endings
from agents.runtimes.base import Away, Ending, ErrorKind, Outcome, Printed
from agents.runtimes.claude_events import CALL_BLOCKS, FINAL_TYPE, MCP_FAILURES, Heard, mappings, said_in
from agents.runtimes.doing import activity_line
from agents.runtimes.faults import AWAY_KINDS, Fault, advised, fault, kind_of
from agents.runtimes.json_documents import documents
from agents.runtimes.keeping import kept_reply, name_of
from agents.runtimes.lines import json_objects, objects_in
from agents.runtimes.resets import stamp_time
from agents.runtimes.usage import claude_tokens, cost_is_invented, cost_nano, whole_number

FINAL_TYPES = (FINAL_TYPE,)


def hear(printed: Printed, *, whole_document: bool = False) -> Heard:
    """What the agent said; with `whole_document` an answer that is laid out over several lines counts too."""
    heard = Heard()
    for line in json_objects(printed.stdout):
        heard.hear(line)
    if whole_document and heard.final is None:
        for document in documents(printed.stdout):
            heard.hear(document)
    return heard


def judge(heard: Heard, printed: Printed, *, steps_seen: bool = True) -> Outcome:
    """What came of the call. `steps_seen` is False when the shape has no lines for tool calls (`json`)."""
    final = heard.final
    forced = endings.forced_end(printed)
    if forced is not None:
        judged = replace(forced, away=_away_by_retries(heard, printed) if printed.timed_out else None)
    elif final is None:
        judged = endings.end_without_answer(printed, expected="final JSON object")
    else:
        judged = _judge_final(final, heard, printed, steps_seen)
    return replace(judged, **_facts(heard, printed))


def activity(tail: bytes) -> str | None:
    """The last tool call in `tail`, which may begin within a line; None when there is none."""
    for line in reversed(tail.splitlines()):
        if b'"tool_use"' not in line and b"_tool_use" not in line:
            continue
        for printed in reversed(objects_in(line)):
            message = printed.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            for block in reversed(mappings(content)):
                if block.get("type") in CALL_BLOCKS:
                    return activity_line(block.get("name"), block.get("input"))
    return None


def _judge_final(final: dict[str, Any], heard: Heard, printed: Printed, steps_seen: bool) -> Outcome:
    unreached = sorted(name for name, status in heard.servers.items() if status in MCP_FAILURES)
    found = None if final.get("is_error") is False else _fault(final, heard, printed)
    if unreached and (found is None or found.kind is ErrorKind.AGENT_ERROR):
        found = Fault(
            ErrorKind.MCP_UNAVAILABLE,
            advised(ErrorKind.MCP_UNAVAILABLE, f"not connected: {', '.join(unreached)}"),
        )
    if found is None:
        return Outcome(ending=Ending.COMPLETED)
    away = found.away(tool_used=_tool_used(final, heard, printed, steps_seen))
    return replace(endings.failed(found.kind, found.sentence), away=away)


def _fault(final: dict[str, Any], heard: Heard, printed: Printed) -> Fault:
    marks = heard.api_error
    status = whole_number(final.get("api_error_status")) or whole_number(marks.get("api_error_status"))
    names = ("api_error", "api_error_type", "error")
    now = endings.ended_at(printed)
    return fault(
        _said(final, heard),
        now=now,
        status=status,
        words=(final.get("subtype"), *(source.get(name) for source in (final, marks) for name in names)),
        until=stamp_time(heard.limit_resets_at, now),
    )


def _said(final: dict[str, Any], heard: Heard) -> str:
    """The agent's own words for its error, wherever they stand."""
    result, errors = final.get("result"), final.get("errors")
    if isinstance(result, str) and result.strip():
        return result
    if isinstance(errors, list) and (texts := [text for text in errors if isinstance(text, str)]):
        return "; ".join(texts)
    if not isinstance(final.get("is_error"), bool):
        return "its final object does not say `is_error: false`"
    message = heard.api_error.get("message")
    blocks = said_in(message.get("content") if isinstance(message, dict) else None)
    return "".join(str(block.get("text", "")) for block in blocks) or name_of(final.get("subtype"))


def _tool_used(final: dict[str, Any], heard: Heard, printed: Printed, steps_seen: bool) -> bool:
    """Whether the agent did anything before. What cannot be known counts as done: nothing is done twice."""
    if heard.trajectory.calls_seen or heard.middle_cut or printed.truncated_bytes:
        return True
    if steps_seen:
        return False
    turns = whole_number(final.get("num_turns"))
    return bool(claude_tokens(final).output) if turns is None else turns > 1


def _away_by_retries(heard: Heard, printed: Printed) -> Away | None:
    """It asked the model again and again until its time was over, and had done nothing yet."""
    kind = kind_of("", status=whole_number(heard.retrying))
    if kind not in AWAY_KINDS or heard.trajectory.calls_seen or heard.middle_cut or printed.truncated_bytes:
        return None
    return Away(kind, stamp_time(heard.limit_resets_at, endings.ended_at(printed)))


def _facts(heard: Heard, printed: Printed) -> dict[str, Any]:
    """What is known however the call ended: the reply, the cost, the trajectory."""
    final = heard.final or {}
    for denial in mappings(final.get("permission_denials")):
        heard.deny(denial.get("tool_name"))
    cost = cost_nano(final.get("total_cost_usd"))
    return {
        "response": kept_reply(_reply(final, heard)),
        "cost_nano": cost,
        "cost_estimated": cost is not None and cost_is_invented(final),
        "tokens": claude_tokens(final),
        "model": heard.model or _only_model(final),
        "steps": heard.trajectory.steps(),
        "permission_denials": tuple(heard.denials),
        "duration_ms": whole_number(final.get("duration_ms")),
        "notes": (*endings.cut_notes(printed), *heard.trajectory.notes()),
    }


def _only_model(final: dict[str, Any]) -> str:
    models = final.get("modelUsage")
    return name_of(next(iter(models))) if isinstance(models, dict) and len(models) == 1 else ""


def _reply(final: dict[str, Any], heard: Heard) -> str:
    """The final assistant text; of a model service's error, which is none, the text before it."""
    result = final.get("result")
    service_failed = final.get("is_error") is not False and (
        heard.api_error or final.get("api_error_status") is not None
    )
    return result if isinstance(result, str) and not service_failed else heard.last_text
