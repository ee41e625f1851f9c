"""Imports what `codex exec --json` prints; messages, reasoning, plans, errors and turns are no tool calls."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from graders.importers import base
from graders.importers.open_steps import OpenSteps
from graders.trajectory import MAIN_LANE, MISSING, Call, Step, Trajectory

_TURN_EVENTS = ("thread.started", "turn.started", "turn.completed", "turn.failed")
_CALL_EVENTS = ("item.started", "item.completed")


class CodexImporter(base.Importer):
    """Codex does not say which calls one answer held. It asks the model again only when every call has ended.

    So a call that starts while another still runs is of the same step; one that starts after, of the next.
    """

    title = "Codex exec --json"

    def recognises(self, row: Mapping[str, Any]) -> bool:
        kind = row.get("type")
        return kind in _TURN_EVENTS or (kind in _CALL_EVENTS and isinstance(row.get("item"), Mapping))

    def steps(self, rows: Iterable[object], trajectory: Trajectory) -> Iterator[Step]:
        reader = _CodexReader()
        for row in rows:
            row = base.mapping(row, "the row")
            kind = row.get("type")
            if kind in _CALL_EVENTS:
                yield from reader.read(base.mapping(row.get("item"), "item"), ended=kind == "item.completed")
            elif kind in ("turn.completed", "turn.failed"):
                trajectory.end_reason = str(kind).removeprefix("turn.")
        yield from reader.rest()


class _CodexReader:
    def __init__(self) -> None:
        self._open = OpenSteps()
        self._running: set[str] = set()
        self._step = 0

    def read(self, record: Mapping[str, Any], *, ended: bool) -> Iterator[Step]:
        kind = base.text(record.get("type"), "item.type")
        call_of = _CALLS.get(kind)
        if call_of is None:
            return
        call_id = base.text(record.get("id"), "item.id")
        if call_id not in self._running:  # some items only say that they ended
            if not self._running:
                self._step += 1
            yield from self._open.begin(MAIN_LANE, self._step)
            self._running.add(call_id)
            self._open.issue(call_of(record)._replace(id=call_id))
        if ended:
            self._running.discard(call_id)
            result, is_error = _outcome(record)
            self._open.settle(call_id, result, is_error)

    def rest(self) -> Iterator[Step]:
        return self._open.close_all()


def _command(record: Mapping[str, Any]) -> Call:
    return Call("command_execution", {"command": record.get("command")})


def _mcp_call(record: Mapping[str, Any]) -> Call:
    server, tool = base.text(record.get("server"), "item.server"), base.text(record.get("tool"), "item.tool")
    return Call(f"mcp__{server}__{tool}", base.decoded(record.get("arguments")))


def _other_agent(record: Mapping[str, Any]) -> Call:
    return Call(
        base.text(record.get("tool"), "item.tool"),
        {"prompt": record.get("prompt"), "receiver_thread_ids": record.get("receiver_thread_ids")},
    )


def _file_change(record: Mapping[str, Any]) -> Call:
    return Call("file_change", {"changes": record.get("changes")})


def _web_search(record: Mapping[str, Any]) -> Call:
    return Call("web_search", {key: record[key] for key in ("query", "action") if key in record})


_CALLS: dict[str, Callable[[Mapping[str, Any]], Call]] = {
    "command_execution": _command,
    "mcp_tool_call": _mcp_call,
    "collab_tool_call": _other_agent,
    "file_change": _file_change,
    "web_search": _web_search,
}


def _outcome(record: Mapping[str, Any]) -> tuple[object, bool]:
    """The recorded result, and whether it is an error; a patch and a search only say that they ended."""
    exit_code, error = record.get("exit_code"), record.get("error")
    is_error = record.get("status") in ("failed", "declined") or exit_code not in (None, 0) or error is not None
    match record.get("type"):
        case "command_execution" if "aggregated_output" in record:
            return {"output": record["aggregated_output"], "exit_code": exit_code}, is_error
        case "mcp_tool_call" if record.get("result") is not None or error is not None:
            return (record.get("result") if error is None else error), is_error
        case "collab_tool_call" if "agents_states" in record:
            return record["agents_states"], is_error
    return MISSING, is_error


IMPORTER = CodexImporter()
