"""Each importer on what the real programs print, and on what their formats allow beyond the recorded files."""

import json
from typing import Any

import pytest

from graders.errors import UnreadableTrajectory
from graders.trajectory import MAIN_LANE, MISSING, Call, Step, Trajectory
from tests.unit.graders.making import FIXTURES, jsonl, opened, steps_in, tools_of


def recorded(name: str) -> tuple[list[Step], Trajectory]:
    trajectory = opened((FIXTURES / name).read_bytes())
    return list(trajectory.steps), trajectory


def calls_of(steps: list[Step]) -> list[Call]:
    return [call for step in steps for call in step.calls]


class TestClaudeStream:
    def test_messages_become_steps_with_their_calls_and_results(self) -> None:
        steps, trajectory = recorded("claude/two_stream.out")

        assert tools_of(steps) == [["Bash"], ["Read"], []]
        assert calls_of(steps) == [
            Call(
                "Bash",
                {"command": "echo hello-from-bash; ls", "description": "list"},
                "hello-from-bash\nnote.txt",
                False,
                "toolu_95dc4de8c9df479c9dad",
            ),
            Call(
                "Read", {"file_path": "/workspace/note.txt"}, "1\thi note é\n2\t", False, "toolu_a487141c39f2477db8dc"
            ),
        ]
        assert trajectory.end_reason == "completed"

    @pytest.mark.parametrize("name", ["wake_block", "denied_default", "tools_flag", "older_wake"])
    def test_lines_with_one_message_id_are_one_step_though_results_stand_between(self, name: str) -> None:
        steps, _ = recorded(f"claude/{name}.out")

        assert [len(step.calls) for step in steps] == [2, 0]
        assert all(call.result is not MISSING for call in calls_of(steps))

    def test_a_refused_tool_has_an_error_for_its_result(self) -> None:
        steps, _ = recorded("claude/denied_default.out")

        assert [call.is_error for call in calls_of(steps)] == [True, True]

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("maxturns", "max_turns"),
            ("maxbudget", "budget_exhausted"),
            ("err529", "api_error"),
            ("older_two_stream", "completed"),
            ("kill_TERM", None),
        ],
    )
    def test_the_end_is_what_the_client_says(self, name: str, reason: str | None) -> None:
        assert recorded(f"claude/{name}.out")[1].end_reason == reason

    def test_a_run_without_tool_calls_is_a_trajectory(self) -> None:
        assert calls_of(recorded("claude/hello_stream.out")[0]) == []

    @pytest.mark.parametrize("name", ["hello_json", "maxturns_json", "older_hello_json"])
    def test_a_final_result_alone_is_no_trajectory(self, name: str) -> None:
        with pytest.raises(UnreadableTrajectory, match="line 1: only Claude Code's final result stands here"):
            recorded(f"claude/{name}.out")

    def test_mcp_tools_keep_their_long_name(self) -> None:
        [call] = calls_of(recorded("claude/mcp.out")[0])

        assert (call.tool, call.args, call.result) == ("mcp__demo__add", {"a": 2, "b": 40}, '{"result":42}')

    def test_sub_agents_have_lanes_of_their_own(self) -> None:
        rows = [
            assistant("m1", tool_use("t1", "Task", {}), tool_use("t2", "Task", {})),
            assistant("s1", tool_use("u1", "Bash", {}), parent="t1"),
            assistant("s2", tool_use("u2", "Bash", {}), parent="t2"),
            user(tool_result("u1", "one"), parent="t1"),
            user(tool_result("u2", "two"), parent="t2"),
            assistant("s1b", tool_use("u3", "Bash", {}), parent="t1"),
            user(tool_result("t1", "done")),
            assistant("m2", tool_use("t4", "Bash", {})),
        ]

        steps = steps_in(jsonl(rows))

        assert [(step.lane, [call.id for call in step.calls]) for step in steps] == [
            ("t1", ["u1"]),
            (MAIN_LANE, ["t1", "t2"]),
            ("t2", ["u2"]),
            ("t1", ["u3"]),
            (MAIN_LANE, ["t4"]),
        ]
        assert {call.id: call.result for call in calls_of(steps)} == {
            "u1": "one",
            "u2": "two",
            "t1": "done",
            "t2": MISSING,
            "u3": MISSING,
            "t4": MISSING,
        }

    def test_a_servers_own_tools_are_calls_too(self) -> None:
        search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
        found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}

        [step] = steps_in(jsonl([assistant("m1", search, found)]))

        assert step.calls == [Call("web_search", {"query": "x"}, [], False, "s1")]

    def test_a_call_that_is_written_twice_is_one_call(self) -> None:
        rows = [assistant("m1", tool_use("t1", "Bash", {})), assistant("m1", tool_use("t1", "Bash", {}))]

        assert len(calls_of(steps_in(jsonl(rows)))) == 1

    def test_a_result_without_content_is_an_empty_one_and_a_stray_result_is_nobodys(self) -> None:
        empty = {"type": "tool_result", "tool_use_id": "t1"}
        rows = [assistant("m1", tool_use("t1", "Bash", {})), user(empty, tool_result("unheard", "x"))]

        [call] = calls_of(steps_in(jsonl(rows)))

        assert (call.result, call.is_error) == ("", False)


def assistant(message_id: str | None, *blocks: Any, parent: str | None = None, **members: Any) -> dict[str, Any]:
    message = {"id": message_id, "role": "assistant", "content": list(blocks)}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent, "session_id": "s", **members}


def user(*blocks: Any, parent: str | None = None, **members: Any) -> dict[str, Any]:
    message = {"role": "user", "content": list(blocks)}
    return {"type": "user", "message": message, "parent_tool_use_id": parent, "session_id": "s", **members}


def tool_use(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def tool_result(call_id: str, content: Any, **members: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **members}


class TestClaudeTranscript:
    def rows(self, *pairs: tuple[dict[str, Any], dict[str, Any]]) -> str:
        """Rows as a transcript keeps them: each names the one before it."""
        rows = []
        for number, (row, members) in enumerate(pairs):
            kept = {"uuid": f"r{number}", "parentUuid": f"r{number - 1}" if number else None, "sessionId": "s"}
            rows.append({key: value for key, value in row.items() if key != "session_id"} | kept | members)
        return jsonl([{"type": "summary", "summary": "x", "leafUuid": "r0"}, *rows])

    def test_a_transcript_is_read_like_the_stream(self) -> None:
        text = self.rows(
            ({"type": "user", "message": {"role": "user", "content": "Fix it."}}, {"isSidechain": False}),
            (assistant("m1", tool_use("t1", "Bash", {"command": "make"})), {"isSidechain": False}),
            (user(tool_result("t1", "error", is_error=True)), {"isSidechain": False}),
            (assistant("m1", tool_use("t2", "Read", {})), {}),
            ({"type": "system", "subtype": "turn_duration"}, {}),
            (assistant("m2", {"type": "text", "text": "done"}), {}),
        )

        steps = steps_in(text)

        assert tools_of(steps) == [["Bash", "Read"], []]
        assert steps[0].calls[0] == Call("Bash", {"command": "make"}, "error", True, "t1")

    def test_a_sub_agent_is_known_by_its_id(self) -> None:
        side = {"isSidechain": True}
        text = self.rows(
            (assistant("m1", tool_use("t1", "Bash", {})), {**side, "agentId": "a1"}),
            (assistant("m2", tool_use("t2", "Bash", {})), {**side, "agentId": "a2"}),
            (assistant("m3", tool_use("t3", "Bash", {})), {}),
        )

        assert {call.id: call.lane for call in calls_of(steps_in(text))} == {"t1": "a1", "t2": "a2", "t3": MAIN_LANE}

    def test_where_older_clients_name_no_agent_the_chain_of_rows_tells_agents_apart(self) -> None:
        side = {"isSidechain": True}
        text = self.rows(
            (assistant("m1", tool_use("t1", "Bash", {})), {**side, "uuid": "x1", "parentUuid": None}),
            (assistant("m2", tool_use("t2", "Bash", {})), {**side, "uuid": "y1", "parentUuid": None}),
            (user(tool_result("t1", "a")), {**side, "uuid": "x2", "parentUuid": "x1"}),
            (assistant("m3", tool_use("t3", "Bash", {})), {**side, "uuid": "x3", "parentUuid": "x2"}),
            (assistant("m4", tool_use("t4", "Bash", {})), {**side, "uuid": "y2", "parentUuid": "y1"}),
        )

        lanes = {call.id: call.lane for call in calls_of(steps_in(text))}

        assert lanes == {"t1": "x1", "t2": "y1", "t3": "x1", "t4": "y1"}


class TestCodex:
    def test_items_become_calls_and_the_rest_does_not(self) -> None:
        steps, trajectory = recorded("codex/two_json.out")

        assert calls_of(steps) == [
            Call(
                "command_execution",
                {"command": "/bin/bash -lc 'echo hello-from-shell; ls'"},
                {"output": "hello-from-shell\nnote.txt\n", "exit_code": 0},
                False,
                "item_2",
            ),
            Call(
                "command_execution",
                {"command": "/bin/bash -lc 'cat note.txt'"},
                {"output": "hi note é\n", "exit_code": 0},
                False,
                "item_3",
            ),
        ]
        assert len(steps) == 2
        assert trajectory.end_reason == "completed"

    def test_a_command_that_was_never_finished_has_no_result(self) -> None:
        steps, trajectory = recorded("codex/timeout_term.out")

        assert [call.result for call in calls_of(steps)] == [MISSING]
        assert trajectory.end_reason is None

    def test_a_failed_turn_without_calls_is_an_empty_trajectory(self) -> None:
        steps, trajectory = recorded("codex/err400.out")

        assert (steps, trajectory.end_reason) == ([], "failed")

    def test_calls_that_run_at_the_same_time_are_one_step(self) -> None:
        text = codex(
            ("started", {"id": "1", "type": "command_execution", "command": "a"}),
            ("started", {"id": "2", "type": "command_execution", "command": "b"}),
            (
                "completed",
                {"id": "1", "type": "command_execution", "command": "a", "aggregated_output": "", "exit_code": 1},
            ),
            ("completed", {"id": "2", "type": "command_execution", "command": "b", "aggregated_output": "x"}),
            ("started", {"id": "3", "type": "command_execution", "command": "a"}),
        )

        steps = steps_in(text)

        assert [[call.id for call in step.calls] for step in steps] == [["1", "2"], ["3"]]
        assert [call.is_error for call in calls_of(steps)] == [True, False, False]

    def test_other_kinds_of_calls_are_told_by_their_own_fields(self) -> None:
        mcp = {
            "id": "1",
            "type": "mcp_tool_call",
            "server": "demo",
            "tool": "add",
            "arguments": {"a": 1},
            "error": None,
        }
        patch = {"id": "2", "type": "file_change", "changes": [{"path": "a", "kind": "add"}], "status": "completed"}
        search = {"id": "3", "type": "web_search", "query": "x"}
        wait = {
            "id": "4",
            "type": "collab_tool_call",
            "tool": "wait",
            "receiver_thread_ids": ["t"],
            "agents_states": {},
        }
        text = codex(
            ("completed", {**mcp, "result": {"content": []}, "status": "completed"}),
            ("completed", {**mcp, "id": "1b", "result": None, "error": {"message": "boom"}, "status": "failed"}),
            ("completed", patch),
            ("completed", search),
            ("completed", wait),
        )

        calls = calls_of(steps_in(text))

        assert [(call.tool, call.result, call.is_error) for call in calls] == [
            ("mcp__demo__add", {"content": []}, False),
            ("mcp__demo__add", {"message": "boom"}, True),
            ("file_change", MISSING, False),
            ("web_search", MISSING, False),
            ("wait", {}, False),
        ]
        assert calls[0].args == {"a": 1}
        assert calls[2].args == {"changes": [{"path": "a", "kind": "add"}]}

    @pytest.mark.parametrize("kind", ["agent_message", "reasoning", "error", "todo_list", "not heard of yet"])
    def test_what_is_no_call_is_passed_over(self, kind: str) -> None:
        assert steps_in(codex(("started", {"id": "1", "type": kind}), ("completed", {"id": "1", "type": kind}))) == []


def codex(*items: tuple[str, dict[str, Any]]) -> str:
    rows = [{"type": f"item.{event}", "item": item} for event, item in items]
    return jsonl([{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, *rows])


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
        events = [self.call("c1"), self.call("c2", agentId="helper"), self.call("c3", parentToolCallId="c1")]

        steps = steps_in(json.dumps({"events": events}))

        assert {call.id: call.lane for call in calls_of(steps)} == {"c1": "", "c2": "helper", "c3": "c1"}

    def test_a_result_that_was_recorded_as_null_is_a_result(self) -> None:
        assert (
            calls_of(steps_in(json.dumps({"events": [self.call("c"), self.result("c", result=None)]})))[0].result
            is None
        )

    def test_an_end_reason_beside_the_events_counts_too(self) -> None:
        trajectory = opened(json.dumps({"endReason": "timeout", "events": []}))

        assert (list(trajectory.steps), trajectory.end_reason) == ([], "timeout")


class TestGemini:
    def test_calls_and_results_are_read(self) -> None:
        steps, trajectory = recorded("gemini/two_stream.out")

        assert tools_of(steps) == [["run_shell_command"], ["read_file"]]
        assert [call.result for call in calls_of(steps)] == ["hello-from-shell\nnote.txt", ""]
        assert trajectory.end_reason == "success"

    def test_a_tool_that_is_not_there_is_an_error(self) -> None:
        assert [call.is_error for call in calls_of(recorded("gemini/denied.out")[0])] == [True, False]

    def test_calls_before_any_result_are_one_step(self) -> None:
        rows = [
            {"type": "init", "session_id": "s"},
            {"type": "tool_use", "tool_name": "a", "tool_id": "1", "parameters": {}},
            {"type": "tool_use", "tool_name": "b", "tool_id": "2", "parameters": {}},
            {"type": "tool_result", "tool_id": "1", "status": "success", "output": "x"},
            {"type": "tool_use", "tool_name": "a", "tool_id": "3", "parameters": {}},
        ]

        assert tools_of(steps_in(jsonl(rows))) == [["a", "b"], ["a"]]
