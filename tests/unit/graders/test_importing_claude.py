"""Claude Code's stream and its transcripts: what the client prints, and what its format allows beyond that."""

from typing import Any

import pytest

from graders.errors import UnreadableTrajectory
from graders.trajectory import MAIN_LANE, MISSING, Call
from tests.unit.graders.making import calls_of, jsonl, recorded, steps_in, tools_of


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
