"""Answers from a list inside the worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.runtimes.base import AgentCall, CommandSpec, Ending, ErrorKind, Outcome, Printed
from trinity.kernel.money import to_nano


@dataclass(frozen=True)
class Answer:
    outcome: Outcome
    seconds: float = 0.0


class Scripted:
    name = "scripted"
    answers_in_worker = True

    def clean_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return dict(settings)

    def restricts_tools(self, settings: Mapping[str, Any]) -> bool:
        return True

    def command(self, call: AgentCall, settings: Mapping[str, Any]) -> CommandSpec:
        raise NotImplementedError

    def read(self, printed: Printed, settings: Mapping[str, Any]) -> Outcome:
        raise NotImplementedError

    def activity(self, tail: bytes, settings: Mapping[str, Any]) -> str | None:
        return None

    def answer(self, call: AgentCall, settings: Mapping[str, Any]) -> Answer:
        replies = settings["replies"]
        reply = replies[min(call.run_number, len(replies)) - 1]
        seconds = float(reply.get("seconds", 0))
        cost = to_nano(reply.get("cost_usd"))
        if reply.get("error") is not None:
            return Answer(
                Outcome(Ending.FAILED, error_kind=ErrorKind.AGENT_ERROR, error=reply["error"], cost_nano=cost),
                seconds,
            )
        return Answer(Outcome(Ending.COMPLETED, response=reply.get("response", ""), cost_nano=cost), seconds)
