"""How `codex exec` is called, and how its output is judged, rule by rule."""

import json
import tomllib

import pytest

from agents.runtimes.base import AgentCall, ErrorKind, TokenUsage
from agents.runtimes.registry import runtime
from trinity.kernel.errors import Refused

from .printing import events, json_lines, one_call, printed

CODEX = runtime("codex")
GPT_5 = AgentCall(prompt="x", model="gpt-5")
DONE = {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}}


def clean(**settings):
    return CODEX.clean_settings(settings)


def read(what):
    return CODEX.read(what, clean())


def item(kind: str, id: str = "item_1", event: str = "item.completed", **facts) -> dict:
    return {"type": event, "item": {"id": id, "type": kind, **facts}}


def message(words: str) -> dict:
    return item("agent_message", text=words)


def shell(id: str, event: str = "item.completed", **facts) -> dict:
    return item("command_execution", id, event, **{"command": f"run {id}", **facts})


def failed(words: str) -> dict:
    return {"type": "turn.failed", "error": {"message": words}}


class TestTheCall:
    def test_it_runs_headless_in_a_fresh_session_with_the_prompt_on_stdin(self):
        spec = CODEX.command(AgentCall(prompt="/Grüße"), clean(program="/opt/codex"))

        assert spec.argv[:3] == ("/opt/codex", "exec", "--json")
        assert spec.argv[-1] == "-"
        assert "--ephemeral" in spec.argv
        assert spec.stdin == "/Grüße".encode()
        assert spec.final_types == ("turn.completed", "turn.failed")

    def test_its_own_loop_its_reports_and_its_updates_are_off(self):
        argv = CODEX.command(GPT_5, clean()).argv

        for off in ("features.goals", "analytics.enabled", "feedback.enabled", "check_for_update_on_startup"):
            assert f"--config={off}=false" in argv

    def test_model_and_sandbox_are_passed_on(self):
        argv = CODEX.command(AgentCall(prompt="x", model="-gpt"), clean(sandbox="read-only")).argv

        assert "--model=-gpt" in argv
        assert "--sandbox=read-only" in argv
        assert "--sandbox=workspace-write" in CODEX.command(GPT_5, clean()).argv

    def test_servers_are_given_as_toml_and_must_connect(self):
        server = {
            "command": "demo",
            "args": ['a "b" \\ é\x7f', ""],
            "env": {"A.B": "1"},
            "n": 1.5,
            "skip": None,
        }

        argv = CODEX.command(GPT_5, clean(mcp_servers={"my-demo": server})).argv
        (option,) = [part for part in argv if part.startswith("--config=mcp_servers")]
        read_back = tomllib.loads(option.removeprefix("--config="))["mcp_servers"]["my-demo"]

        assert read_back == {
            "required": True,
            "default_tools_approval_mode": "approve",
            "command": "demo",
            "args": ['a "b" \\ é\x7f', ""],
            "env": {"A.B": "1"},
            "n": 1.5,
        }

    def test_allowed_tools_are_refused_and_never_ignored(self):
        assert CODEX.restricts_tools(clean()) is False
        with pytest.raises(Refused) as refusal:
            CODEX.command(AgentCall(prompt="x", allowed_tools=("Read",)), clean())
        assert "allowed_tools" in refusal.value.errors

    @pytest.mark.parametrize(
        "settings", [{"sandbox": "none"}, {"program": 5}, {"mcp_servers": {"x": {}}}, {"model": "x"}]
    )
    def test_a_wrong_setting_is_refused(self, settings):
        with pytest.raises(Refused):
            CODEX.clean_settings(settings)

    def test_its_model_may_be_away_for_six_hours(self):
        assert clean()["unavailable_patience_seconds"] == 6 * 3600


class TestTheRules:
    def test_the_cost_of_no_known_model_is_unknown(self, tmp_path):
        for model in ("", "our-local-model"):
            outcome = read(printed(tmp_path, json_lines(DONE), call=AgentCall(prompt="x", model=model)))
            assert (outcome.cost_nano, outcome.cost_estimated) == (None, False)
        assert read(printed(tmp_path, json_lines(DONE))).cost_nano is None

    def test_the_last_end_of_a_turn_counts(self, tmp_path):
        first = {"type": "turn.completed", "usage": {"input_tokens": 999, "output_tokens": 9}}

        outcome = read(printed(tmp_path, json_lines(first, message("a"), DONE, message("b"))))

        assert (outcome.tokens.input, outcome.response) == (10, "b")
        assert not read(printed(tmp_path, json_lines(DONE, failed("no")))).succeeded

    @pytest.mark.parametrize("code", [0, 1, None])
    def test_the_exit_code_is_not_believed_against_the_end_of_the_turn(self, tmp_path, code):
        assert read(printed(tmp_path, json_lines(DONE), exit_code=code)).succeeded
        assert not read(printed(tmp_path, json_lines(failed("no")), exit_code=code)).succeeded

    def test_an_error_line_is_no_end(self, tmp_path):
        reconnecting = {"type": "error", "message": "Reconnecting... 1/5"}

        assert read(printed(tmp_path, json_lines(reconnecting, DONE))).succeeded
        assert read(printed(tmp_path, json_lines(reconnecting))).error_kind is ErrorKind.NO_ANSWER

    def test_calls_that_are_under_way_together_are_one_step(self, tmp_path):
        lines = json_lines(
            shell("a", "item.started"),
            shell("b", "item.started"),
            shell("b", aggregated_output="two", exit_code=0),
            shell("a", aggregated_output="one", exit_code=0),
            shell("c", "item.started"),
            shell("c", aggregated_output="three", exit_code=0),
            DONE,
        )

        outcome = read(printed(tmp_path, lines))

        assert [[call["result"] for call in step] for step in outcome.steps] == [["one", "two"], ["three"]]

    def test_an_item_that_only_completes_is_a_call_too(self, tmp_path):
        lines = json_lines(item("web_search", query="weather"), DONE)

        assert one_call(read(printed(tmp_path, lines)))["args"] == {"query": "weather"}

    def test_plans_thoughts_and_warnings_are_no_calls(self, tmp_path):
        lines = json_lines(
            item("reasoning", text="hm"), item("todo_list", items=[]), item("error", message="careful"), DONE
        )

        assert read(printed(tmp_path, lines)).steps == ()

    def test_a_declined_change_is_an_error_without_a_result(self, tmp_path):
        call = one_call(read(printed(tmp_path, json_lines(item("file_change", status="declined", changes=[]), DONE))))

        assert call["error"] is True
        assert "result" not in call

    @pytest.mark.parametrize(
        ("facts", "failed"),
        [
            ({"status": "completed", "exit_code": 0}, False),
            ({"status": "completed", "exit_code": 3}, True),
            ({"status": "failed", "exit_code": None}, True),
            ({}, False),
        ],
    )
    def test_an_exit_code_or_a_status_makes_an_error(self, tmp_path, facts, failed):
        call = one_call(read(printed(tmp_path, json_lines(shell("a", aggregated_output="x", **facts), DONE))))

        assert call.get("error", False) is failed

    def test_a_sub_agents_start_is_a_call(self, tmp_path):
        spawned = item("collab_tool_call", tool="spawn_agent", prompt="go", receiver_thread_ids=["t"])

        assert one_call(read(printed(tmp_path, json_lines(spawned, DONE))))["tool"] == "spawn_agent"

    def test_a_model_that_goes_away_after_a_command_is_a_failure(self, tmp_path):
        limit = failed("exceeded retry limit, last status: 429 Too Many Requests")

        outcome = read(printed(tmp_path, json_lines(shell("a", exit_code=0), limit)))

        assert (outcome.error_kind, outcome.away) == (ErrorKind.RATE_LIMITED, None)
        assert read(printed(tmp_path, json_lines(limit), truncated_bytes=1)).away is None

    def test_the_runners_mark_becomes_an_event(self, tmp_path):
        lines = json_lines({"type": "trinity.cut", "truncated_bytes": 77}, DONE)

        outcome = read(printed(tmp_path, lines, truncated_bytes=77))

        assert events(outcome) == [{"event": "output_cut", "bytes": 77}]
        assert "77 bytes" in outcome.notes[0]

    @pytest.mark.parametrize(
        "line",
        [
            {"type": "item.completed"},
            {"type": "item.completed", "item": []},
            {"type": "item.completed", "item": {"type": ["odd"], "id": "a"}},
            {"type": "item.completed", "item": {"type": "command_execution", "id": 5}},
            {
                "type": "item.completed",
                "item": {"type": "mcp_tool_call", "id": "a", "result": 5, "error": "x"},
            },
            {"type": "item.completed", "item": {"type": "agent_message", "text": None}},
            {"type": "turn.failed", "error": "no object"},
            {"type": "error", "message": {"odd": 1}},
            {"type": ["turn.completed"]},
        ],
    )
    def test_odd_lines_do_no_harm(self, tmp_path, line):
        assert read(printed(tmp_path, json_lines(line, DONE))).succeeded

    @pytest.mark.parametrize(
        "usage", [None, [], {"input_tokens": -1, "output_tokens": "5", "cached_input_tokens": True}]
    )
    def test_tokens_that_are_none_are_unknown(self, tmp_path, usage):
        done = {"type": "turn.completed", "usage": usage}

        outcome = read(printed(tmp_path, json_lines(done), call=GPT_5))

        assert (outcome.succeeded, outcome.tokens, outcome.cost_nano) == (True, TokenUsage(), None)

    def test_more_cached_tokens_than_tokens_have_no_price(self, tmp_path):
        done = {
            "type": "turn.completed",
            "usage": {"input_tokens": 1, "cached_input_tokens": 9, "output_tokens": 1},
        }

        assert read(printed(tmp_path, json_lines(done), call=GPT_5)).cost_nano is None

    def test_what_it_is_doing_is_its_last_command(self):
        tail = json.dumps(shell("a", "item.started", command="make  test")) + "\n" + json.dumps(message("Well."))

        assert CODEX.activity(f'cut"}}\n{tail}'.encode(), clean()) == "command_execution: make test"
        assert CODEX.activity(b"\xff{", clean()) is None
