"""The runtime `model`: a program of ours that talks to any OpenAI-compatible or Anthropic service.

How it is called and how its lines are read; what it does stands in the package `model_api`. Starts nothing.
"""

import datetime as dt
import difflib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from agents.runtimes import endings
from agents.runtimes.base import AgentCall, Away, CommandSpec, Ending, ErrorKind, Outcome, Printed, TokenUsage
from agents.runtimes.claude_events import mappings
from agents.runtimes.doing import activity_line
from agents.runtimes.faults import AWAY_KINDS, Fault, advised, fault, kind_of
from agents.runtimes.keeping import kept_reply, name_of
from agents.runtimes.lines import json_objects, objects_in
from agents.runtimes.model_api.orders import Orders, Price
from agents.runtimes.model_api.program import PACKAGE
from agents.runtimes.model_api.vocabulary import Failure, Protocol, ToolName
from agents.runtimes.model_events import FINAL_TYPES, HeardOfModel
from agents.runtimes.model_settings import SETTINGS, key_variable
from agents.runtimes.settings import AWAY_PATIENCE_SECONDS, cleaned
from agents.runtimes.usage import cost_nano, whole_number
from trinity.kernel.errors import refused_field
from trinity.kernel.text import clean

MOST_RESET_SECONDS = 31 * 86_400
MOST_DIGITS = 60
PROGRAM = Path(__file__).with_name("model_api") / "__main__.py"
MISSING_PACKAGES = (
    "The runtime `model` needs packages that are not installed (requirements-model.txt). Run script/model-packages"
    " where Trinity and its workers run, and start them again."
)


_ADVICE: dict[str, tuple[ErrorKind, str]] = {
    Failure.UNREACHABLE: (
        ErrorKind.AGENT_ERROR,
        "The model's service could not be reached. Start it, or correct `base_url` in the agent's settings.",
    ),
    Failure.SILENT: (
        ErrorKind.AGENT_ERROR,
        "The model's service did not answer in time. See whether it works, or raise `request_timeout_seconds`.",
    ),
    Failure.UNREADABLE: (
        ErrorKind.AGENT_ERROR,
        "The model's service answered what is no answer. Check `protocol` and `base_url`; should it be the service's"
        " streaming, set `stream` to false.",
    ),
    Failure.EMPTY: (ErrorKind.NO_ANSWER, "The model answered nothing. Choose another one, or word the task anew."),
    Failure.CUT: (
        ErrorKind.AGENT_ERROR,
        "The model's last answer was cut off: the reply is not whole. Raise `max_tokens`, or give it a smaller task.",
    ),
    Failure.WITHHELD: (ErrorKind.AGENT_ERROR, "The model's service withheld the answer. Word the task anew."),
    Failure.REQUEST_LIMIT: (
        ErrorKind.TURN_LIMIT,
        "The agent used up its requests to the model. Raise `max_requests`, or give it a smaller task.",
    ),
    Failure.TOOL_LIMIT: (
        ErrorKind.TURN_LIMIT,
        "The agent used up its tool calls. Raise `max_tool_calls`, or give it a smaller task.",
    ),
    Failure.COST_LIMIT: (
        ErrorKind.BUDGET,
        "The agent used up its budget for one run. Raise `max_budget_usd`, or give it a smaller task.",
    ),
    Failure.NO_PRICE: (
        ErrorKind.BUDGET,
        "What the model costs is not known, so `max_budget_usd` cannot be kept. Set `price`, or remove the budget.",
    ),
    Failure.NO_KEY: (
        ErrorKind.AUTH,
        "The key for the model's service is missing. Set the variable for the worker and start it again, or correct"
        " `key_variable`.",
    ),
    Failure.NO_PACKAGES: (ErrorKind.NOT_STARTED, MISSING_PACKAGES),
    Failure.INTERRUPTED: (ErrorKind.CRASHED, "It was ended from outside before it had finished."),
    Failure.BROKEN: (ErrorKind.CRASHED, "The model program itself failed; stderr says more."),
}


class ModelRuntime:
    """Starts `python -m agents.runtimes.model_api`, by its path: the agent's folder must not lend it modules."""

    name = "model"
    answers_in_worker = False

    def clean_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return cleaned(settings, SETTINGS, patience_seconds=AWAY_PATIENCE_SECONDS)

    def probe(self, settings: Mapping[str, Any]) -> None:
        """Refused when this environment lacks what the program needs."""
        if not packages_are_installed():
            raise refused_field("runtime", MISSING_PACKAGES)

    def restricts_tools(self, settings: Mapping[str, Any]) -> bool:
        return True

    def command(self, call: AgentCall, settings: Mapping[str, Any]) -> CommandSpec:
        """Refused at `model` without one, and at `allowed_tools` for a tool that there is not."""
        if not call.model.strip():
            raise refused_field("model", "This agent needs the name of a model, such as gpt-5 or qwen3:32b.")
        orders = _orders(call, settings)
        return CommandSpec(
            argv=(sys.executable, "-I", str(PROGRAM), orders.written()),
            stdin=clean(call.prompt).encode(),
            env_names=(orders.key_variable,) if orders.key_variable else (),
            reads=(sys.prefix, sys.base_prefix, str(PROGRAM.parents[2])),
            final_types=FINAL_TYPES,
        )

    def read(self, printed: Printed, settings: Mapping[str, Any]) -> Outcome:
        heard = HeardOfModel()
        for line in json_objects(printed.stdout):
            heard.hear(line)
        forced = endings.forced_end(printed)
        if forced is not None:
            judged = replace(forced, away=_away_by_retries(heard, printed) if printed.timed_out else None)
        elif heard.final is None:
            judged = endings.end_without_answer(printed, expected="end line")
        else:
            judged = _judge_final(heard.final, heard, printed)
        return replace(judged, **_facts(heard, printed))

    def activity(self, tail: bytes, settings: Mapping[str, Any]) -> str | None:
        for line in reversed(tail.splitlines()):
            for printed in reversed(objects_in(line)):
                for call in reversed(mappings(printed.get("calls"))):
                    return activity_line(call.get("tool"), call.get("args"))
        return None


def packages_are_installed() -> bool:
    """Whether the optional packages of this runtime are there; asks without loading them."""
    return importlib.util.find_spec(PACKAGE) is not None


def _orders(call: AgentCall, settings: Mapping[str, Any]) -> Orders:
    price = settings["price"]
    limits = ("max_requests", "max_tool_calls", "max_budget_usd", "max_tokens", "temperature", "extra_body")
    times = ("shell_timeout_seconds", "request_timeout_seconds", "retry_seconds")
    return Orders(
        protocol=Protocol(settings["protocol"]),
        model=clean(call.model),
        tools=_tools(call),
        base_url=settings["base_url"],
        key_variable=key_variable(settings),
        instructions=settings["instructions"],
        price=None if price is None else Price(**price),
        stream=settings["stream"],
        **{name: settings[name] for name in (*limits, *times)},
    )


def _tools(call: AgentCall) -> tuple[ToolName, ...]:
    if call.allowed_tools is None:
        return tuple(ToolName)
    for index, tool in enumerate(call.allowed_tools):
        if tool not in list(ToolName):
            near = difflib.get_close_matches(tool.lower(), list(ToolName), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise refused_field(f"allowed_tools.{index}", f"Must be one of {', '.join(ToolName)}.{hint}")
    return tuple(tool for tool in ToolName if tool in call.allowed_tools)


def _judge_final(final: Mapping[str, Any], heard: HeardOfModel, printed: Printed) -> Outcome:
    if final.get("failure") is None and isinstance(final.get("reply"), str):
        return Outcome(ending=Ending.COMPLETED)
    found = _fault(final, printed)
    tool_used = bool(heard.trajectory.calls_seen or heard.middle_cut or printed.truncated_bytes)
    return replace(endings.failed(found.kind, found.sentence), away=found.away(tool_used=tool_used))


def _fault(final: Mapping[str, Any], printed: Printed) -> Fault:
    failure, said = final.get("failure"), final.get("said")
    said = said if isinstance(said, str) else ""
    if failure != Failure.SERVICE:
        kind, advice = _ADVICE.get(failure if isinstance(failure, str) else "", (ErrorKind.AGENT_ERROR, ""))
        return Fault(kind, f"{advice} It said: {clean(said)}" if advice else advised(kind, said))
    names = final.get("names")
    return fault(
        said,
        now=endings.ended_at(printed),
        status=whole_number(final.get("status")),
        words=tuple(names) if isinstance(names, list) else (),
        until=_until(final.get("retry_after_seconds"), printed),
    )


def _until(seconds: object, printed: Printed) -> Any:
    """When the service will take requests again, if it said so."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MOST_RESET_SECONDS:
        return None
    return endings.ended_at(printed) + dt.timedelta(seconds=seconds)


def _away_by_retries(heard: HeardOfModel, printed: Printed) -> Away | None:
    """Its time was over while it tried the first request again and again."""
    names = heard.retrying.get("names")
    kind = kind_of(
        "", status=whole_number(heard.retrying.get("status")), words=tuple(names) if isinstance(names, list) else ()
    )
    if kind not in AWAY_KINDS or heard.trajectory.calls_seen or heard.middle_cut or printed.truncated_bytes:
        return None
    return Away(kind)


def _facts(heard: HeardOfModel, printed: Printed) -> dict[str, Any]:
    final = heard.final or {}
    reply = final.get("reply")
    cost = cost_nano(_number(heard.totals.get("cost_usd")))
    asked = name_of(printed.call.model) if printed.call else ""
    notes = list(endings.cut_notes(printed))
    if final.get("request_unpaid") is True or (heard.final is None and heard.totals):
        notes.append("It was ended while the model answered: what that answer cost is not counted.")
    return {
        "response": kept_reply(reply if isinstance(reply, str) else heard.last_text),
        "cost_nano": cost,
        "cost_estimated": cost is not None and heard.totals.get("cost_estimated") is not False,
        "tokens": _tokens(heard.totals.get("tokens")),
        "model": heard.model or asked,
        "steps": heard.trajectory.steps(),
        "permission_denials": tuple(heard.denials),
        "notes": (*notes, *heard.trajectory.notes()),
    }


def _number(text: object) -> object:
    """The cost is printed as text, since a float would round it."""
    try:
        return Decimal(text) if isinstance(text, str) and len(text) < MOST_DIGITS else None
    except InvalidOperation:
        return None


def _tokens(told: object) -> TokenUsage:
    if not isinstance(told, dict):
        return TokenUsage()
    return TokenUsage(**{name: whole_number(told.get(name)) for name in TokenUsage.__dataclass_fields__})
