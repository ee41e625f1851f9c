"""Steps whose results are still to come, one per lane; for rows that hold them apart, but reads none."""

from collections.abc import Hashable, Iterator

from graders.trajectory import MAIN_LANE, Call, Step


class OpenSteps:
    """Puts calls and their results together; keeps one step per lane, so memory does not grow."""

    def __init__(self) -> None:
        self._open: dict[str, _OpenStep] = {}
        self._lane_of_call: dict[str, str] = {}

    def begin(self, lane: str, key: Hashable) -> Iterator[Step]:
        """Go on with the lane's step `key`, or begin it and hand out the one before; None never goes on."""
        step = self._open.get(lane)
        if step is not None and key is not None and step.key == key:
            return
        if step is not None:
            yield self._close(lane, step)
        self._open[lane] = _OpenStep(key)

    def issue(self, call: Call) -> None:
        """One more call of its lane's step; one id in one step is one call, however often it was written."""
        step = self._open[call.lane]
        if call.id is None:
            step.calls.append(call)
        elif call.id not in step.by_id:
            step.by_id[call.id] = len(step.calls)
            step.calls.append(call)
            self._lane_of_call[call.id] = call.lane

    def settle(self, call_id: str | None, result: object, is_error: bool) -> str | None:
        """Record a call's result; answers its lane, or None when no open step has the call."""
        lane = self._lane_of_call.get(call_id) if call_id is not None else None
        if lane is None or call_id is None:
            return None
        step = self._open[lane]
        step.settled = True
        place = step.by_id[call_id]
        step.calls[place] = step.calls[place]._replace(result=result, is_error=is_error)
        return lane

    def waits(self, lane: str = MAIN_LANE) -> bool:
        """Whether the lane's step is open and no result of it was seen yet, so that more of it may come."""
        step = self._open.get(lane)
        return step is not None and not step.settled

    def finish(self, lane: str) -> None:
        """No more calls of the lane's step will come, though results may."""
        if lane in self._open:
            self._open[lane].settled = True

    def close_all(self) -> Iterator[Step]:
        """Every step that is still open, in the order in which the lanes began."""
        for lane, step in list(self._open.items()):
            yield self._close(lane, step)

    def _close(self, lane: str, step: "_OpenStep") -> Step:
        del self._open[lane]
        for call_id in step.by_id:
            self._lane_of_call.pop(call_id, None)
        return Step(step.calls, lane)


class _OpenStep:
    __slots__ = ("by_id", "calls", "key", "settled")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.calls: list[Call] = []
        self.by_id: dict[str, int] = {}
        self.settled = False
