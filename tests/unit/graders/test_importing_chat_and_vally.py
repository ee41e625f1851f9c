"""Chat messages and Vally's events, in each of the forms in which they are kept."""

import json
from typing import Any

import pytest

from graders.errors import UnreadableTrajectory
from graders.trajectory import MISSING, Call
from tests.unit.graders.making import calls_of, jsonl, opened, steps_in, tools_of


class TestChat:
    messages = (
        {"role": "system", "content": "You fix builds."},
        {"role": "user", "content": "Fix it."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}},
                {"id": "c2", "type": "function", "function": {"name": "now", "arguments": ""}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "noon"},
        {"role": "tool", "tool_call_id": "c1", "content": "error 2"},
        {"role": "assistant", "content": "I give up."},
    )

    @pytest.mark.parametrize("form", ["object", "list", "lines"])
    def test_messages_are_read_in_each_of_their_forms(self, form: str) -> None:
        text = {
            "object": json.dumps({"model": "x", "messages": self.messages}),
            "list": json.dumps(self.messages),
            "lines": jsonl(self.messages),
        }[form]

        steps = steps_in(text)

        assert tools_of(steps) == [["bash", "now"], []]
        assert steps[0].calls == [
            Call("bash", {"command": "make"}, "error 2", False, "c1"),
            Call("now", None, "noon", False, "c2"),
        ]

    def test_arguments_that_are_broken_json_stay_what_they_are(self) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "mak'}}

        [call_read] = calls_of(steps_in(json.dumps([{"role": "assistant", "content": None, "tool_calls": [call]}])))

        assert (call_read.args, call_read.result) == ('{"command": "mak', MISSING)

    def test_custom_tools_and_the_older_function_calls_are_calls(self) -> None:
        custom = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
        messages = [
            {"role": "assistant", "content": "", "tool_calls": [custom]},
            {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": "{}"}},
            {"role": "function", "name": "now", "content": "noon"},
        ]

        calls = calls_of(steps_in(json.dumps(messages)))

        assert [(call.tool, call.args, call.result) for call in calls] == [
            ("patch", "*** Begin", MISSING),
            ("now", {}, "noon"),
        ]

    def test_a_named_participant_is_an_agent(self) -> None:
        def asks(name: str | None) -> dict[str, Any]:
            call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
            return {"role": "assistant", "name": name, "content": None, "tool_calls": [call]}

        assert [call.lane for call in calls_of(steps_in(json.dumps([asks("planner"), asks(None)])))] == ["planner", ""]

    @pytest.mark.parametrize(
        ("message", "said"),
        [
            ({"role": "narrator", "content": "x"}, 'message 2: the role "narrator" is unknown'),
            ({"role": "assistant", "content": "", "tool_calls": [{}]}, "message 2: tool call 1: function must be"),
            (
                {"role": "assistant", "content": [{"type": "tool_use"}]},
                "message 2: has a content block of type tool_use",
            ),
            ("hello", 'message 2: a message must be an object, found "hello" (text)'),
        ],
    )
    def test_messages_that_cannot_be_read_are_refused(self, message: Any, said: str) -> None:
        with pytest.raises(UnreadableTrajectory) as damaged:
            steps_in(json.dumps({"messages": [self.messages[0], message]}))

        assert said in str(damaged.value)


class TestVally:
    def event(self, kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "timestamp": "2026-11-30T12:00:00Z", "data": data}

    def call(self, call_id: str, tool: str = "bash", **data: Any) -> dict[str, Any]:
        return self.event("tool_call", toolName=tool, toolCallId=call_id, arguments={"command": "make"}, **data)

    def result(self, call_id: str, success: bool = True, **data: Any) -> dict[str, Any]:
        return self.event("tool_result", toolName="bash", toolCallId=call_id, success=success, **data)

    def test_a_turn_is_a_step(self) -> None:
        events = [
            self.event("user_message", content="Fix it."),
            self.event("turn_start", turnId="1"),
            self.call("c1"),
            self.result("c1", result="error 2", success=False),
            self.call("c2", tool="read"),
            self.event("turn_end", turnId="1"),
            self.event("turn_start", turnId="2"),
            self.event("assistant_message", content="Done."),
            self.event("turn_end", turnId="2"),
        ]
        document = {
            "id": "run",
            "stimulus": {"prompt": "Fix it.", "simulation": {"max_iterations": 8}},
            "events": events,
            "metadata": {"endReason": "simulation_cap"},
        }

        trajectory = opened(json.dumps(document))
        steps = list(trajectory.steps)

        assert tools_of(steps) == [["bash", "read"], []]
        assert steps[0].calls[0] == Call("bash", {"command": "make"}, "error 2", True, "c1")
        assert steps[0].calls[1].result is MISSING
        assert (trajectory.end_reason, trajectory.max_iterations) == ("simulation_cap", 8)

    @pytest.mark.parametrize("form", ["list", "lines"])
    def test_without_turns_a_call_after_a_result_begins_a_step(self, form: str) -> None:
        events = [
            self.call("c1"),
            self.call("c2"),
            self.result("c1", result="a"),
            self.result("c2", result="b"),
            self.call("c3"),
            self.event("assistant_message", content="Again."),
            self.call("c4"),
        ]

        steps = steps_in(json.dumps(events) if form == "list" else jsonl(events))

        assert [[call.id for call in step.calls] for step in steps] == [["c1", "c2"], ["c3"], ["c4"]]

    def test_a_call_after_a_turn_is_not_of_that_turn(self) -> None:
        events = [self.event("turn_start"), self.call("c1"), self.event("turn_end"), self.call("c2")]

        assert [len(step.calls) for step in steps_in(json.dumps({"events": events}))] == [1, 1]

    def test_agents_are_lanes(self) -> None:
        events = [self.call("c1"), self.call("c2", agentId="reviewer"), self.call("c3", parentToolCallId="c1")]

        steps = steps_in(json.dumps({"events": events}))

        assert {call.id: call.lane for call in calls_of(steps)} == {"c1": "", "c2": "reviewer", "c3": "c1"}

    def test_a_result_that_was_recorded_as_null_is_a_result(self) -> None:
        assert (
            calls_of(steps_in(json.dumps({"events": [self.call("c"), self.result("c", result=None)]})))[0].result
            is None
        )

    def test_an_end_reason_beside_the_events_counts_too(self) -> None:
        trajectory = opened(json.dumps({"endReason": "timeout", "events": []}))

        assert (list(trajectory.steps), trajectory.end_reason) == ([], "timeout")
