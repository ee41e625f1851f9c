"""What a refusal of a loop's parameters says, and which parameters do not fit an agent."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loops.parameters import LoopParameters, check_against_agent, read_parameters
from trinity.kernel.errors import Refused

LEAST: dict[str, Any] = {"message": "Go", "max_runs": 1}


def read(**given_fields: Any) -> LoopParameters:
    return read_parameters(LEAST | given_fields)


def refusal(**given_fields: Any) -> dict[str, list[str]]:
    with pytest.raises(Refused) as refused:
        read(**given_fields)
    return refused.value.errors


# --- what a refusal says ------------------------------------------------------------------------------------


def test_all_that_is_wrong_is_said_at_once() -> None:
    wrong = refusal(max_runs=0, delay_seconds="5", on_failure="stop", max_cost_usd=0)

    assert set(wrong) == {"max_runs", "delay_seconds", "on_failure", "max_cost_usd"}


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("max_run", "max_runs"),
        ("maxRuns", "max_runs"),
        ("stopsignal", "stop_signal"),
        ("delay", "delay_seconds"),
        ("max_cost", "max_cost_usd"),
        ("tools", "allowed_tools"),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest_known_one(name: str, nearest: str) -> None:
    assert refusal(**{name: 5})[name] == [f"Unknown field. Did you mean {nearest!r}?"]


def test_a_field_like_none_we_know_gets_no_hint() -> None:
    assert refusal(qqqq=5)["qqqq"] == ["Unknown field."]


@pytest.mark.parametrize("body", [[], "x", 5, None, True])
def test_a_body_is_an_object(body: Any) -> None:
    with pytest.raises(Refused, match="must be a JSON object"):
        read_parameters(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from([*LoopParameters.__dataclass_fields__, "max_cost_usd", "other"]) | st.text(max_size=12)


@given(st.dictionaries(names, json_values, max_size=6))
def test_whatever_is_sent_is_read_or_refused_by_name(body: dict[str, Any]) -> None:
    try:
        asked = read_parameters(body)
    except Refused as refused:
        sentences = refused.errors
    else:
        assert 1 <= asked.max_runs <= 100
        return
    assert sentences


# --- against the agent --------------------------------------------------------------------------------------

AGENT: Any = SimpleNamespace(execution_timeout_seconds=900, runtime="scripted", runtime_settings={})


def refused_on_agent(**given_fields: Any) -> Refused:
    with pytest.raises(Refused) as refused:
        check_against_agent(read(**given_fields), AGENT)
    return refused.value


def test_without_a_timeout_the_agents_own_holds() -> None:
    assert check_against_agent(read(), AGENT)["timeout_per_run"] == 900


@pytest.mark.parametrize("timeout", [10, 900])
def test_a_timeout_up_to_the_agents_is_taken(timeout: int) -> None:
    assert check_against_agent(read(timeout_per_run=timeout), AGENT)["timeout_per_run"] == timeout


def test_a_timeout_above_the_agents_is_refused_with_both() -> None:
    refused = refused_on_agent(timeout_per_run=901)

    assert refused.facts == {"agent_cap_seconds": 900, "requested_seconds": 901}
    assert "timeout_per_run" in refused.errors


@pytest.mark.parametrize(("timeout", "effective"), [(None, 900), (60, 60)])
def test_a_deadline_holds_at_least_one_run(timeout: int | None, effective: int) -> None:
    enough = read(timeout_per_run=timeout, max_duration_seconds=effective)
    assert check_against_agent(enough, AGENT)["max_duration_seconds"] == effective

    refused = refused_on_agent(timeout_per_run=timeout, max_duration_seconds=effective - 1)
    assert refused.facts == {"max_duration_seconds": effective - 1, "timeout_per_run": effective}
    assert "max_duration_seconds" in refused.errors


def test_tools_are_restricted_only_where_the_runtime_can_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    unable = SimpleNamespace(restricts_tools=lambda settings: False, answers_in_worker=True)
    monkeypatch.setattr("agents.calls.runtime", lambda name: unable)

    assert "allowed_tools" in refused_on_agent(allowed_tools=["Bash"]).errors
    assert check_against_agent(read(), AGENT)["allowed_tools"] is None
