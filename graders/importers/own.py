"""Imports our own JSON, trinity-trajectory/1 (section 4): steps as lists of calls; guesses nothing."""

from collections.abc import Iterable, Iterator, Mapping

from graders.errors import BadRow
from graders.importers import base
from graders.trajectory import MAIN_LANE, MISSING, OWN_FORMAT, Call, Step, Trajectory
from graders.wording import found, quoted

_LISTS = (list, tuple)


class OwnImporter(base.Importer):
    """One object with `steps`; an object with `event` in place of a step stands for what is no model step."""

    title = f"Trinity's own JSON ({OWN_FORMAT})"
    row_name = "step"
    array_key = "steps"

    def member(self, key: str, value: object, trajectory: Trajectory) -> None:
        if key == "format" and value != OWN_FORMAT:
            raise BadRow(f"format must be {quoted(OWN_FORMAT)}, {found(value)}")
        if key == "end_reason":
            trajectory.end_reason = base.optional_text(value, "end_reason")
        elif key == "simulation":
            trajectory.max_iterations = base.iterations(value, "simulation")

    def steps(self, rows: Iterable[object], trajectory: Trajectory) -> Iterator[Step]:
        for row in rows:
            if isinstance(row, _LISTS):
                calls = [_call(call, place) for place, call in enumerate(row, 1)]
                yield Step(calls, calls[0].lane if calls else MAIN_LANE)
            elif not isinstance(row, Mapping) or "event" not in row:
                raise BadRow(f"must be a list of calls, or an object with {quoted('event')}, {found(row)}")


def _call(call: object, place: int) -> Call:
    if type(call) is not dict and not isinstance(call, Mapping):
        raise BadRow(f"call {place} must be an object, {found(call)}")
    tool = call.get("tool")
    if not isinstance(tool, str):
        raise BadRow(f"call {place}: tool must be text, {found(tool)}")
    args, agent, given_id = call.get("args"), call.get("agent"), call.get("id")
    return Call(
        tool,
        base.decoded(args) if isinstance(args, str) else args,
        call.get("result", MISSING),
        "error" in call and _is_error(call["error"], place),
        None if given_id is None else base.call_id(given_id, f"call {place}: id"),
        MAIN_LANE if agent is None else base.lane_of(agent, f"call {place}: agent"),
    )


def _is_error(error: object, place: int) -> bool:
    if error is not None and not isinstance(error, bool):
        raise BadRow(f"call {place}: error must be true or false, {found(error)}")
    return bool(error)


IMPORTER = OwnImporter()
