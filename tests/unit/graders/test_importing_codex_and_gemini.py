"""What the Codex and Gemini clients print: calls are told from everything else."""

from typing import Any

import pytest

from graders.trajectory import MISSING, Call
from tests.unit.graders.making import calls_of, jsonl, recorded, steps_in, tools_of


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


def codex(*records: tuple[str, dict[str, Any]]) -> str:
    rows = [{"type": f"item.{event}", "item": record} for event, record in records]
    return jsonl([{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, *rows])


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
