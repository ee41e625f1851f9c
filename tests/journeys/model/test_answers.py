"""The model program against services of both protocols: replies, tools, limits and money."""

import json
import os
import signal

import pytest

from agents.runtimes.base import Ending, ErrorKind

from .services import Answer, Call, Hang, results_in, tools_in

pytestmark = pytest.mark.slow
COST_OF_ONE = {"openai": 2_500_000, "anthropic": 2_400_000}  # nano-dollars of one answer, by its service's list


def tools_of(outcome) -> list[list[str]]:
    return [[call["tool"] for call in step] for step in outcome.steps if step]


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_comes_with_its_tokens_its_price_and_its_model(run, serve, protocol, stream):
    outcome = run(serve(), stream=stream)

    assert (outcome.ending, outcome.response, outcome.error) == (Ending.COMPLETED, "Hello from the model.", "")
    cached = 400 if protocol == "openai" else 500
    assert (outcome.tokens.input, outcome.tokens.output, outcome.tokens.cache_read) == (1_000, 50, cached)
    assert outcome.cost_nano == COST_OF_ONE[protocol]
    assert outcome.cost_estimated
    assert outcome.model in ("gpt-4o", "claude-sonnet-4-5")


@pytest.mark.parametrize("stream", [True, False])
def test_tools_are_used_one_after_the_other_and_their_results_go_back(run, serve, workspace, stream):
    service = serve(
        Answer(["I look.", Call("list", {}), Call("read", {"path": "note.txt"})]),
        Answer([Call("edit", {"path": "note.txt", "old": "second", "new": "2nd"}), Call("grep", {"pattern": "2nd"})]),
        Answer([Call("shell", {"command": "cat note.txt | wc -l; exit 3"})]),
        Answer(["It says hi. [[DONE]]"]),
    )

    outcome = run(service, stream=stream)

    assert outcome.response == "It says hi. [[DONE]]"
    assert tools_of(outcome) == [["list", "read"], ["edit", "grep"], ["shell"]]
    assert (workspace / "note.txt").read_text() == "hi note é\n2nd line\n"
    assert results_in(service.requests[1]) == ["note.txt (23 bytes)", "hi note é\nsecond line\n"]
    assert results_in(service.requests[2])[2:] == ["Replaced 1 passage in note.txt.", "note.txt:2: 2nd line"]
    shell = outcome.steps[2][0]
    assert (shell["result"].split(), shell["error"]) == (["2", "(exit", "code", "3)"], True)
    assert (outcome.tokens.input, outcome.tokens.output) == (4_000, 200)
    assert (outcome.permission_denials, outcome.notes) == ((), ())


def test_only_allowed_tools_are_offered_and_another_is_refused(run, serve, workspace):
    service = serve(Answer([Call("shell", {"command": "touch made-it"}), Call("list", {})]), Answer(["I may not."]))

    outcome = run(service, allowed=("list", "read"))

    assert sorted(tools_in(service.requests[0])) == ["list", "read"]
    assert not (workspace / "made-it").exists()
    assert outcome.succeeded
    assert outcome.permission_denials == ("shell",)
    assert outcome.steps[0][0]["error"]


def test_the_file_tools_do_not_leave_the_workspace(run, serve, workspace, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (workspace / "out").symlink_to(tmp_path)
    paths = ["../secret", str(tmp_path / "secret"), "out/secret", "/etc/hostname"]
    service = serve(
        Answer([Call("read", {"path": path}) for path in paths]),
        Answer([Call("write", {"path": path, "content": "mine"}) for path in paths[:3]]),
        Answer(["done"]),
    )

    outcome = run(service)

    assert all(call["error"] and "outside" in call["result"] for step in outcome.steps[:2] for call in step)
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_call_that_makes_no_sense_is_told_to_the_model_and_it_goes_on(run, serve, protocol):
    senseless = [Call("fly", {"to": "moon"}), Call("read", {}), Call("read", {"file": "x"}), Call("read", "{no json")]
    service = serve(Answer(senseless), Answer(["I see."]))

    outcome = run(service)

    told = results_in(service.requests[1])
    assert outcome.response == "I see."
    expected = (
        "There is no tool 'fly'. The tools are: read, write, edit, list, grep, shell.",
        "The argument path is required.",
        "There is no argument 'file'. Known: path, first_line, lines.",
        "The arguments are no JSON object.",
    )
    assert all(sentence in words for sentence, words in zip(expected, told, strict=True))


def test_the_prompt_and_the_instructions_reach_the_model_whole(run, serve):
    service = serve()

    run(service, prompt="/compact\n  é {{run}} ", instructions="Be short.")

    said = json.dumps(service.requests[0], ensure_ascii=False)
    assert "/compact\\n  é {{run}} " in said
    assert "Be short." in said


def test_the_key_goes_to_the_service_and_not_to_the_shell(start, serve):
    # Root may look everywhere, so the second look is another account's to make.
    commands = "env; [ $(id -u) = 0 ] || cat /proc/$PPID/environ"
    service = serve(Answer([Call("shell", {"command": commands})]), Answer(["done"]))

    outcome = start(service, key="sk-very-secret").outcome()

    assert any("sk-very-secret" in value for value in service.headers[0].values())
    shown = outcome.steps[0][0]["result"]
    assert "PATH=" in shown
    assert "sk-very-secret" not in shown


def test_a_service_of_ones_own_gets_no_key_that_was_not_named(run, serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    service = serve()

    assert run(service, key_variable=None).succeeded
    assert "sk-of-openai" not in json.dumps(service.headers)


def test_requests_are_limited(run, serve):
    service = serve(Answer(["step", Call("list", {})]))

    outcome = run(service, max_requests=3)

    assert (outcome.error_kind, len(service.requests)) == (ErrorKind.TURN_LIMIT, 3)
    assert "`max_requests`" in outcome.error
    assert outcome.response == "step"


def test_tool_calls_are_limited(run, serve):
    service = serve(Answer([Call("list", {}), Call("list", {})]))

    outcome = run(service, max_tool_calls=3)

    assert (outcome.error_kind, len(service.requests)) == (ErrorKind.TURN_LIMIT, 2)
    assert "`max_tool_calls`" in outcome.error
    assert [len([call for call in step if "result" in call]) for step in outcome.steps] == [2, 1]


def test_the_budget_ends_it_after_the_request_that_reached_it(run, serve, protocol):
    service = serve(Answer([Call("list", {})]))

    outcome = run(service, max_budget_usd=0.004)

    assert (outcome.error_kind, len(service.requests)) == (ErrorKind.BUDGET, 2)
    assert outcome.cost_nano == 2 * COST_OF_ONE[protocol]
    assert "`max_budget_usd`" in outcome.error


def test_a_reply_within_the_last_request_counts_though_the_budget_is_reached(run, serve):
    assert run(serve(), max_budget_usd=0.000001).succeeded


def test_a_budget_without_a_price_is_refused_before_anything_is_asked(run, serve):
    service = serve()

    outcome = run(service, model="our-own-model", max_budget_usd=1)

    assert (outcome.error_kind, service.requests) == (ErrorKind.BUDGET, [])
    assert "`price`" in outcome.error


def test_a_model_without_a_price_costs_an_unknown_amount_and_one_with_a_price_that(run, serve):
    service = serve()

    unknown = run(service, model="our-own-model")
    priced = run(service, model="our-own-model", price={"input": 1, "output": 2}, max_budget_usd=1)

    assert (unknown.cost_nano, unknown.cost_estimated) == (None, False)
    assert (priced.cost_nano, priced.cost_estimated) == (1_000 * 1_000 + 50 * 2_000, True)


def test_a_service_that_counts_no_tokens_leaves_them_and_the_cost_unknown(run, serve):
    outcome = run(serve(Answer(usage=False)))

    assert outcome.succeeded
    assert outcome.cost_nano is None
    assert outcome.tokens.input is None


@pytest.mark.parametrize("ended", [{"openai": "length", "anthropic": "max_tokens"}])
def test_an_answer_that_was_cut_off_is_no_reply(run, serve, protocol, ended):
    outcome = run(serve(Answer(["half a sen"], ended=ended[protocol])))

    assert (outcome.succeeded, outcome.error_kind) == (False, ErrorKind.AGENT_ERROR)
    assert "`max_tokens`" in outcome.error
    assert outcome.response == "half a sen"


def test_a_model_that_answers_nothing_is_asked_once_more(run, serve):
    service = serve(Answer([""]), Answer(["Now."]))
    silent = serve(Answer([""]))

    assert run(service).response == "Now."
    assert run(silent).error_kind is ErrorKind.NO_ANSWER
    assert len(silent.requests) == 2


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_request_still_brings_what_it_cost_so_far(start, serve, protocol, sign):
    service = serve(Answer(["working", Call("list", {})]), Hang())
    started = start(service)
    service.asked.wait(30)
    while len(service.requests) < 2:
        service.asked.clear()
        assert service.asked.wait(30)

    started.process.send_signal(sign)
    outcome = started.outcome(timed_out=True, timeout_seconds=10)

    assert (outcome.ending, outcome.error_kind) == (Ending.TIMED_OUT, ErrorKind.TIMEOUT)
    assert outcome.cost_nano == COST_OF_ONE[protocol]
    assert outcome.tokens.output == 50
    assert tools_of(outcome) == [["list"]]
    assert "what that answer cost is not counted" in " ".join(outcome.notes)


def test_a_signal_during_a_command_ends_the_command_too(start, serve, workspace):
    service = serve(Answer([Call("shell", {"command": "echo $$ > pid; exec sleep 300"})]))
    started = start(service)
    while not (workspace / "pid").exists() or not (workspace / "pid").read_text().strip():
        assert started.process.poll() is None

    started.process.send_signal(signal.SIGINT)
    outcome = started.outcome(timed_out=True, timeout_seconds=10)

    with pytest.raises(ProcessLookupError):
        os.kill(int((workspace / "pid").read_text()), 0)
    assert outcome.cost_nano is not None
    assert outcome.notes == ()


def test_a_command_that_takes_too_long_is_killed_and_one_in_the_background_is_not_waited_for(run, serve):
    service = serve(
        Answer(
            [Call("shell", {"command": "echo begun; sleep 300"}), Call("shell", {"command": "sleep 300 & echo on"})]
        ),
        Answer(["done"]),
    )

    outcome = run(service, shell_timeout_seconds=1)

    killed, left = outcome.steps[0]
    assert killed["result"] == "begun\n\n(killed: it took longer than 1 seconds)"
    assert (left["result"].strip(), left.get("error")) == ("on", None)
