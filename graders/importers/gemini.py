"""Imports what the Gemini CLI prints as stream-json; starts no process."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graders.importers import base
from graders.importers.open_steps import OpenSteps
from graders.trajectory import MAIN_LANE, MISSING, Call, Step, Trajectory


class GeminiImporter(base.Importer):
    """The client prints an answer's calls, then runs them: a call that comes after a result begins a step."""

    title = "Gemini CLI stream-json"

    def recognises(self, row: Mapping[str, Any]) -> bool:
        return row.get("type") == "init" and "session_id" in row and "subtype" not in row

    def steps(self, rows: Iterable[object], trajectory: Trajectory) -> Iterator[Step]:
        answers = OpenSteps()
        begun = 0
        for row in rows:
            row = base.mapping(row, "the row")
            match row.get("type"):
                case "tool_use":
                    if not answers.waits():
                        begun += 1
                        yield from answers.begin(MAIN_LANE, begun)
                    answers.issue(_call(row))
                case "tool_result":
                    answers.settle(base.call_id(row.get("tool_id"), "tool_id"), *_result(row))
                case "result":
                    trajectory.end_reason = base.optional_text(row.get("status"), "status")
        yield from answers.close_all()


def _call(row: Mapping[str, Any]) -> Call:
    tool = base.text(row.get("tool_name"), "tool_name")
    call_id = base.call_id(row.get("tool_id"), "tool_id")
    return Call(tool, base.decoded(row.get("parameters")), id=call_id)


def _result(row: Mapping[str, Any]) -> tuple[object, bool]:
    return row.get("output", row.get("error", MISSING)), row.get("status") == "error"


IMPORTER = GeminiImporter()
