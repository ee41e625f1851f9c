"""The runtime `model`: its settings, how its program is called, and how its lines are read."""

import json
import subprocess
import sys

import pytest

from agents.runtimes import model as module
from agents.runtimes.base import AgentCall, Ending, ErrorKind
from agents.runtimes.model_api.orders import Orders, Price
from agents.runtimes.model_api.vocabulary import Failure, Protocol, ToolName
from agents.runtimes.registry import runtime
from trinity.kernel.errors import Refused

from .printing import json_lines, printed

MODEL = runtime("model")
CALL = AgentCall(prompt="Do it.", model="gpt-5")
OLLAMA = {"protocol": "openai", "base_url": "http://localhost:11434/v1"}
TOTALS = {
    "requests": 2,
    "tool_calls": 1,
    "tokens": {"input": 2_000, "output": 100, "cache_read": 800, "cache_write": 0},
    "cost_usd": "0.0012345678",
    "cost_estimated": True,
}


def orders_of(settings, call=CALL) -> Orders:
    return Orders.read(MODEL.command(call, MODEL.clean_settings(settings)).argv[-1])


def read(tmp_path, *lines, call=CALL, **facts):
    return MODEL.read(printed(tmp_path, json_lines(*lines), call=call, **facts), MODEL.clean_settings(OLLAMA))


def message(number=1, text="", *calls, **facts):
    facts = {"model": "gpt-5-2025", "totals": TOTALS, **facts}
    return {"type": "model.message", "number": number, "text": text, "calls": list(calls), **facts}


def end(**facts):
    return {"type": "model.end", "reply": "done", "failure": None, "totals": TOTALS, **facts}


LIST = {"id": "1.1", "tool": "list", "args": {"path": "src"}}


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({}, "protocol"),
        ({"protocol": "OpenAI"}, "protocol"),
        ({"base_url": "localhost:11434"}, "base_url"),
        ({"base_url": "ftp://host/v1"}, "base_url"),
        ({"base_url": "http://user:secret@host/v1"}, "base_url"),
        ({"base_url": "http://host:99999/v1"}, "base_url"),
        ({"base_url": "http://host/v1?key=secret"}, "base_url"),
        ({"base_url": "http://ho st/v1"}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"key_variable": "sk-secret"}, "key_variable"),
        ({"key_variable": "SECRET_KEY"}, "key_variable"),
        ({"key_variable": "TRINITY_API_KEY"}, "key_variable"),
        ({"max_requests": 0}, "max_requests"),
        ({"max_tool_calls": "5"}, "max_tool_calls"),
        ({"max_budget_usd": 0}, "max_budget_usd"),
        ({"max_budget_usd": float("nan")}, "max_budget_usd"),
        ({"max_budget_usd": True}, "max_budget_usd"),
        ({"temperature": 3}, "temperature"),
        ({"stream": "no"}, "stream"),
        ({"price": {"input": 1}}, "price"),
        ({"price": {"input": 1, "output": -1}}, "price.output"),
        ({"price": {"input": 1, "output": 1, "day": 1}}, "price"),
        ({"extra_body": {"model": "x"}}, "extra_body"),
        ({"extra_body": {"x": float("inf")}}, "extra_body"),
        ({"instructions": 5}, "instructions"),
        ({"max_turns": 5}, "max_turns"),
    ],
)
def test_a_wrong_setting_is_refused_at_its_name(settings, key):
    with pytest.raises(Refused) as refused:
        MODEL.clean_settings({"protocol": "openai", **settings} if settings else {})

    assert list(refused.value.errors) == [f"runtime_settings.{key}"]


def test_what_is_left_out_has_its_default():
    settings = MODEL.clean_settings({"protocol": "anthropic"})

    assert (settings["max_requests"], settings["stream"], settings["base_url"]) == (100, True, None)
    assert settings["unavailable_patience_seconds"] == 6 * 3600
    assert MODEL.restricts_tools(settings)


def test_the_orders_arrive_as_they_were_set():
    orders = orders_of(
        {**OLLAMA, "price": {"input": 1, "output": 2}, "extra_body": {"num_ctx": 9}, "instructions": "é"}
    )

    assert (orders.protocol, orders.model, orders.tools) == (Protocol.OPENAI, "gpt-5", tuple(ToolName))
    assert (orders.price, orders.extra_body, orders.instructions) == (Price(1.0, 2.0), {"num_ctx": 9}, "é")


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        ({"protocol": "openai"}, "OPENAI_API_KEY"),
        ({"protocol": "anthropic"}, "ANTHROPIC_API_KEY"),
        (OLLAMA, None),
        ({**OLLAMA, "key_variable": "MY_KEY"}, "MY_KEY"),
    ],
)
def test_the_key_goes_by_its_name_and_only_to_whom_it_is_for(settings, variable):
    spec = MODEL.command(CALL, MODEL.clean_settings(settings))

    assert spec.env_names == ((variable,) if variable else ())
    assert Orders.read(spec.argv[-1]).key_variable == variable


def test_the_prompt_goes_in_on_stdin_and_the_agents_folder_lends_no_modules():
    spec = MODEL.command(CALL, MODEL.clean_settings(OLLAMA))

    assert spec.stdin == b"Do it."
    assert spec.argv[:2] == (sys.executable, "-I")
    assert "Do it." not in spec.argv[-1]


def test_a_call_without_a_model_is_refused():
    with pytest.raises(Refused) as refused:
        MODEL.command(AgentCall(prompt="x"), MODEL.clean_settings(OLLAMA))

    assert list(refused.value.errors) == ["model"]


def test_allowed_tools_are_kept_and_an_unknown_one_is_refused_with_the_nearest():
    allowed = AgentCall(prompt="x", model="m", allowed_tools=("shell", "read"))
    wrong = AgentCall(prompt="x", model="m", allowed_tools=("read", "Grep"))

    assert orders_of(OLLAMA, allowed).tools == (ToolName.READ, ToolName.SHELL)
    with pytest.raises(Refused, match="Did you mean grep") as refused:
        orders_of(OLLAMA, wrong)
    assert list(refused.value.errors) == ["allowed_tools.1"]


def test_without_its_packages_the_program_says_so_at_creation_and_at_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "packages_are_installed", lambda: False)
    with pytest.raises(Refused, match=r"requirements-model\.txt"):
        MODEL.probe(MODEL.clean_settings(OLLAMA))

    outcome = read(tmp_path, end(reply="", failure="no_packages", said="the package pydantic_ai is not installed"))
    assert outcome.error_kind is ErrorKind.NOT_STARTED
    assert "requirements-model.txt" in outcome.error


def test_a_python_without_the_packages_still_prints_an_end_line(tmp_path):
    """-S leaves all installed packages out."""
    spec = MODEL.command(CALL, MODEL.clean_settings(OLLAMA))
    argv = (sys.executable, "-S", *spec.argv[1:])

    finished = subprocess.run(argv, input=spec.stdin, capture_output=True, cwd=tmp_path, check=False)

    last = json.loads(finished.stdout.splitlines()[-1])
    assert (last["type"], last["failure"], finished.returncode) == ("model.end", "no_packages", 1)


def test_a_reply_is_read_with_all_that_stands_beside_it(tmp_path):
    outcome = read(
        tmp_path,
        {"type": "model.start", "version": 1},
        message(1, "I look.", LIST, {"id": "1.2", "tool": "read", "args": {"path": "a"}}),
        {"type": "model.result", "id": "1.2", "tool": "read", "result": "no", "error": True},
        {"type": "model.result", "id": "1.1", "tool": "list", "result": "a\nb", "error": False},
        message(2, "done"),
        end(),
    )

    assert (outcome.ending, outcome.response, outcome.model) == (Ending.COMPLETED, "done", "gpt-5-2025")
    assert (outcome.cost_nano, outcome.cost_estimated) == (1_234_568, True)
    assert (outcome.tokens.input, outcome.tokens.cache_read) == (2_000, 800)
    first, second = outcome.steps[0]
    assert (first["tool"], first["result"], "error" in first) == ("list", "a\nb", False)
    assert (second["tool"], second["result"], second["error"]) == ("read", "no", True)


def test_only_the_last_totals_count(tmp_path):
    smaller = {**TOTALS, "cost_usd": "0.0005"}

    outcome = read(tmp_path, message(1, "", LIST, totals=smaller), message(2, "done"), end())

    assert outcome.cost_nano == 1_234_568


def test_a_program_that_was_killed_leaves_its_last_totals_and_its_last_text(tmp_path):
    outcome = read(tmp_path, message(1, "so far", LIST), exit_code=None, signal=9)

    assert (outcome.error_kind, outcome.response, outcome.cost_nano) == (ErrorKind.CRASHED, "so far", 1_234_568)
    assert "not counted" in outcome.notes[0]


def test_every_failure_has_a_kind_and_says_what_to_do(tmp_path):
    for failure in Failure:
        outcome = read(tmp_path, end(reply="", failure=failure, said="its own words"))

        assert outcome.ending is Ending.FAILED
        assert outcome.error_kind is not None
        assert "its own words" in outcome.error
        assert len(outcome.error) > len("its own words") + 20


def test_a_failure_that_a_later_version_names_is_an_error_of_the_agent(tmp_path):
    assert read(tmp_path, end(failure="quantum", said="odd")).error_kind is ErrorKind.AGENT_ERROR


def test_a_model_that_is_away_is_waited_for_only_before_a_tool_was_used(tmp_path):
    away = end(reply="", failure="service", status=429, names=["rate_limit_error"], said="slow", retry_after_seconds=60)

    before = read(tmp_path, away)
    after = read(tmp_path, message(1, "", LIST), away)
    cut = read(tmp_path, away, truncated_bytes=10)

    assert before.away is not None
    assert (before.away.until - before.away.until.replace(second=0)).seconds == 0
    assert (after.away, cut.away) == (None, None)
    assert after.error_kind is ErrorKind.RATE_LIMITED


def test_a_deadline_that_fell_into_the_first_retries_is_an_absence(tmp_path):
    retry = {"type": "model.retry", "status": 529, "names": ["overloaded_error"], "seconds": 4}

    waiting = read(tmp_path, retry, timed_out=True, timeout_seconds=10)
    working = read(tmp_path, retry, message(1, "", LIST), timed_out=True, timeout_seconds=10)

    assert waiting.away is not None
    assert (working.ending, working.away) == (Ending.TIMED_OUT, None)


def test_refused_tools_are_told_once(tmp_path):
    refused = {"type": "model.result", "id": "1.1", "tool": "shell", "result": "no", "error": True, "refused": True}

    assert read(tmp_path, message(1, "", LIST), refused, refused, end()).permission_denials == ("shell",)


def test_activity_is_the_last_call_even_when_the_tail_begins_within_a_line():
    tail = b'"text": "x"}\n' + json_lines(message(1, "", LIST), {"type": "model.result", "id": "1.1"}).encode()

    assert MODEL.activity(tail, {}) == "list: src"
    assert MODEL.activity(b"nothing\n", {}) is None


@pytest.mark.parametrize(
    "totals", [None, [], {"tokens": 5, "cost_usd": "NaN"}, {"cost_usd": "1e999"}, {"cost_usd": "x"}]
)
def test_totals_in_no_shape_are_unknown(tmp_path, totals):
    outcome = read(tmp_path, end(totals=totals))

    assert outcome.succeeded
    assert outcome.tokens.input is None
    assert outcome.cost_nano is None or outcome.cost_nano > 0
