"""What holds for every trajectory: properties of loop-outcome, and its equality with a slow and simple model."""

import json
from itertools import groupby
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.graders.making import details, own

calls = st.fixed_dictionaries(
    {"tool": st.sampled_from(["a", "b"]), "args": st.fixed_dictionaries({"x": st.sampled_from([1, 2])})},
    optional={"result": st.sampled_from(["r", "s"]), "error": st.booleans()},
)
steps = st.lists(calls, max_size=3)
few = settings(max_examples=40)
trajectories = st.lists(steps, max_size=16)
configs = st.fixed_dictionaries(
    {
        "match": st.sampled_from(["name-args", "name", "observation"]),
        "max_cycle_period": st.integers(1, 4),
        "tools": st.sampled_from([["a|b"], ["^a$"]]),
    }
)


def key(call: dict[str, Any], match: str) -> str | None:
    if match == "name":
        return call["tool"]
    if match == "name-args":
        return json.dumps([call["tool"], call["args"]])
    return json.dumps([call["tool"], call.get("error", False), call["result"]]) if "result" in call else None


def modelled_retries(lane: list[list[dict[str, Any]]], config: dict[str, Any]) -> int:
    """The definition, word for word: every row and every block is looked at from every place."""
    keys = []
    for step in lane:
        watched = [key(call, config["match"]) for call in step if config["tools"] != ["^a$"] or call["tool"] == "a"]
        if watched:
            keys.append(watched)
    most = 0
    for wanted in {one for step in keys for one in step if one is not None}:
        present = [wanted in step for step in keys]
        most = max([most, *[len(list(row)) - 1 for is_there, row in groupby(present) if is_there]])
    for period in range(2, config["max_cycle_period"] + 1):
        for start in range(len(keys)):
            most = max(most, blocks_in_a_row(keys[start:], period) - 1)
    return most


def blocks_in_a_row(keys: list[list[str | None]], period: int) -> int:
    block, repeated = keys[:period], 1
    if len(block) < period or any(None in step for step in block):
        return 1
    while [set(step) for step in keys[repeated * period : (repeated + 1) * period]] == [set(step) for step in block]:
        repeated += 1
    return repeated


@few
@given(trajectories, configs)
def test_the_detector_finds_what_the_definition_says(trajectory: list, config: dict) -> None:
    assert details(own(*trajectory), **config)["retries"] == modelled_retries(trajectory, config)


@few
@given(trajectories, steps, configs)
def test_a_longer_trajectory_never_has_fewer_retries(trajectory: list, more: list, config: dict) -> None:
    longer = details(own(*trajectory, more), **config)["retries"]

    assert longer >= details(own(*trajectory), **config)["retries"]


@few
@given(calls, st.integers(1, 30), configs)
def test_one_more_identical_action_is_one_more_retry(call: dict, times: int, config: dict) -> None:
    call = {**call, "tool": "a", "result": "r"}

    assert details(own(*[[call]] * times), **config)["retries"] == times - 1


@few
@given(trajectories, configs)
def test_renaming_keys_and_tools_consistently_changes_nothing(trajectory: list, config: dict) -> None:
    names = {"a": "read", "b": "write"}
    renamed = [
        [{**call, "tool": names[call["tool"]], "args": {"other": {"deep": call["args"]["x"]}}} for call in step]
        for step in trajectory
    ]
    patterns = ["^read$"] if config["tools"] == ["^a$"] else ["read|write"]

    before, after = details(own(*trajectory), **config), details(own(*renamed), **{**config, "tools": patterns})

    for what in ("retries", "looped", "signals", "first_step", "last_step", "watched_calls"):
        assert before[what] == after[what]
    assert before["gaps"]["steps"] == after["gaps"]["steps"]


@few
@given(st.data(), trajectories, configs)
def test_the_order_of_calls_inside_a_step_changes_nothing(data: st.DataObject, trajectory: list, config: dict) -> None:
    shuffled = [data.draw(st.permutations(step)) for step in trajectory]

    before, after = details(own(*trajectory), **config), details(own(*shuffled), **config)

    for told in (before, after):
        told["gaps"]["tools"].sort()
    assert before == after


@few
@given(trajectories, trajectories, st.data(), configs)
def test_another_agents_steps_change_nothing_in_this_lane(
    mine: list, others: list, data: st.DataObject, config: dict
) -> None:
    theirs = [[{**call, "agent": "s1"} for call in step] for step in others if step]
    places = sorted(data.draw(st.lists(st.integers(0, len(mine)), min_size=len(theirs), max_size=len(theirs))))
    mixed = list(mine)
    for place, step in reversed(list(zip(places, theirs, strict=True))):
        mixed.insert(place, step)

    alone = modelled_retries(mine, config), modelled_retries(others, config)

    assert details(own(*mixed), **config)["retries"] == max(alone)


@few
@given(trajectories, configs, st.integers(0, 5), st.booleans())
def test_the_verdict_passes_exactly_when_observed_equals_expected(
    trajectory: list, config: dict, limit: int, expected: bool
) -> None:
    told = details(own(*trajectory), limit, should_loop=expected, **config)

    assert told["looped"] == (told["retries"] > limit)
