"""The rules of loop-outcome that the vectors leave room in, and what a verdict tells of the row it found."""

import pytest

from tests.unit.graders.making import EDIT, LIST, MAKE, READ, details, own, retries, verdict


def with_id(call: dict, number: int) -> dict:
    return {**call, "id": f"c{number}"}


def test_five_identical_calls_say_what_was_repeated_where_and_against_which_limit() -> None:
    result = verdict(own(READ, *[with_id(MAKE, n) for n in range(5)], EDIT), 3)

    assert result["evidence"] == (
        "bash was called with the same arguments 5 times in a row (steps 2–6): 4 retries, "
        "more than the 3 that are acceptable; no looping was expected."
    )
    told = result["details"]
    assert (told["tool"], told["period"], told["first_step"], told["last_step"]) == ("bash", 1, 2, 6)
    assert told["call_ids"] == ["c0", "c1", "c2", "c3", "c4"]
    assert (told["steps"], told["watched_calls"], told["unwatched_calls"], told["missing_results"]) == (7, 7, 0, 0)
    assert told["config"] == {
        "max_acceptable_retries": 3,
        "should_loop": False,
        "match": "name-args",
        "tools": None,
        "max_cycle_period": 1,
    }


def test_an_empty_finished_trajectory_passes_with_no_retries() -> None:
    result = verdict(own())

    assert (result["passed"], result["score"], result["details"]["retries"]) == (True, 1.0, 0)
    assert result["evidence"] == "No tool was called; no looping was expected."


def test_the_gaps_of_a_row_are_named() -> None:
    told = details(own(MAKE, READ, [], MAKE, [READ, EDIT], MAKE, READ), 1, tools=["^bash$"])

    assert told["retries"] == 2
    assert told["gaps"] == {"steps": 3, "tools": ["read_file", "edit"]}
    assert (told["first_step"], told["last_step"], told["unwatched_calls"]) == (1, 6, 4)


def test_what_lies_before_and_behind_a_row_is_no_gap() -> None:
    told = details(own(READ, READ, MAKE, MAKE, READ), tools=["^bash$"])

    assert told["gaps"] == {"steps": 0, "tools": []}


def test_unwatched_calls_beside_watched_ones_are_no_gap() -> None:
    assert details(own([MAKE, READ], [MAKE]), tools=["bash"])["gaps"]["steps"] == 0


def test_events_are_no_steps() -> None:
    told = details(own({"event": "user_message"}, MAKE, {"event": None}, MAKE))

    assert (told["steps"], told["retries"], told["first_step"], told["last_step"]) == (2, 1, 1, 2)


def test_a_key_goes_on_although_another_call_of_the_step_changes() -> None:
    assert retries([MAKE, READ], [EDIT, MAKE], [MAKE, LIST]) == 2


def test_a_step_without_the_key_ends_the_row_although_the_row_goes_on_later() -> None:
    assert retries(MAKE, MAKE, LIST, MAKE, MAKE) == 1


def test_an_earlier_longer_row_outranks_later_ones() -> None:
    told = details(own(MAKE, MAKE, MAKE, READ, LIST, LIST))

    assert (told["retries"], told["first_step"], told["last_step"]) == (2, 1, 3)


def test_a_missing_result_ends_the_row_of_observations() -> None:
    unfinished = {"tool": "poll", "args": {"job": 1}}
    pending = {**unfinished, "result": "10%"}

    told = details(own(pending, pending, unfinished, pending, pending), match="observation")

    assert (told["retries"], told["missing_results"]) == (1, 1)


def test_two_missing_results_are_not_the_same_observation() -> None:
    unfinished = {"tool": "poll"}

    assert retries(unfinished, unfinished, match="observation") == 0
    assert retries(unfinished, unfinished) == 1


def test_a_recorded_null_is_an_observation() -> None:
    nothing = {"tool": "poll", "result": None}

    assert retries(nothing, nothing, match="observation") == 1


def test_a_row_of_observations_goes_on_beside_a_call_without_a_result() -> None:
    pending = {"tool": "poll", "result": "10%"}

    assert retries(pending, [pending, {"tool": "start"}], pending, match="observation") == 2


def test_a_null_argument_is_not_an_absent_one() -> None:
    assert retries({"tool": "t", "args": {"a": None}}, {"tool": "t", "args": {}}) == 0


def test_arguments_that_are_json_text_equal_what_they_say() -> None:
    assert retries({"tool": "t", "args": '{"a": 1}'}, {"tool": "t", "args": {"a": 1.0}}) == 1
    assert retries({"tool": "t", "args": "ls"}, {"tool": "t", "args": "ls "}) == 0


def test_calls_of_several_agents_in_one_step_are_told_apart() -> None:
    by_agents = [{**MAKE, "agent": "s1"}, {**MAKE, "agent": "s2"}, MAKE]

    told = details(own(by_agents, [{**MAKE, "agent": "s2"}], [{**LIST, "agent": "s1"}]))

    assert (told["retries"], told["agent"]) == (1, "s2")


def test_an_agent_named_null_is_the_main_one() -> None:
    assert retries(MAKE, {**MAKE, "agent": None}) == 1


def test_a_step_without_calls_is_no_gap_of_another_agent() -> None:
    sub = {**MAKE, "agent": "s1"}

    assert details(own(sub, [], sub))["gaps"]["steps"] == 0


@pytest.mark.parametrize("reason", ["timeout", "max_turns", "budget", "user_stop", "SIMULATION_CAP", "", None])
def test_no_other_end_is_the_cap(reason: str | None) -> None:
    assert details(own(LIST, end_reason=reason))["signals"] == []


def test_the_cap_counts_although_no_tool_is_watched() -> None:
    result = verdict(own(LIST, end_reason="simulation_cap"), 100, tools=["^nope$"])

    assert (result["passed"], result["details"]["signals"]) == (False, ["cap"])
    assert "no call was watched" in result["evidence"].lower()
    assert "iteration cap" in result["evidence"]


class TestCycles:
    def test_the_largest_count_of_all_periods_decides(self) -> None:
        told = details(own(MAKE, MAKE, MAKE, MAKE, READ, EDIT, READ, EDIT), max_cycle_period=2)

        assert (told["retries"], told["period"]) == (3, 1)

    def test_a_period_beyond_the_option_is_not_looked_for(self) -> None:
        block = (MAKE, READ, EDIT)

        assert retries(*block, *block, *block, max_cycle_period=2) == 0
        assert retries(*block, *block, *block, max_cycle_period=3) == 2

    def test_a_row_of_blocks_ends_with_its_last_whole_block(self) -> None:
        told = details(own(LIST, MAKE, EDIT, MAKE, EDIT, MAKE), max_cycle_period=2)

        assert (told["retries"], told["first_step"], told["last_step"], told["tool"]) == (1, 2, 5, "bash, edit")

    def test_steps_are_equal_when_their_sets_of_watched_calls_are(self) -> None:
        assert retries([MAKE, READ], EDIT, [READ, MAKE, READ], EDIT, max_cycle_period=2) == 1
        assert retries([MAKE, READ], EDIT, MAKE, EDIT, max_cycle_period=2) == 0

    def test_steps_without_watched_calls_stand_outside_the_blocks(self) -> None:
        told = details(own(MAKE, [], EDIT, READ, MAKE, EDIT), max_cycle_period=2, tools=["bash", "edit"])

        assert (told["retries"], told["gaps"]) == (1, {"steps": 2, "tools": ["read_file"]})

    def test_a_step_with_a_missing_result_equals_nothing(self) -> None:
        look, done = {"tool": "look", "result": 1}, {"tool": "do", "result": 2}
        undone = {"tool": "do"}

        assert retries(look, done, look, done, match="observation", max_cycle_period=2) == 1
        assert retries(look, undone, look, undone, match="observation", max_cycle_period=2) == 0
        assert retries(look, [done, undone], look, [done, undone], match="observation", max_cycle_period=2) == 0

    def test_each_agent_has_its_own_blocks(self) -> None:
        sub = [{**MAKE, "agent": "s"}, {**EDIT, "agent": "s"}]

        told = details(own(sub[0], READ, sub[1], LIST, sub[0], MAKE, sub[1]), max_cycle_period=2)

        assert (told["retries"], told["agent"], told["period"]) == (1, "s", 2)

    def test_the_calls_of_all_blocks_are_named(self) -> None:
        told = details(own(*[with_id(call, n) for n, call in enumerate([MAKE, EDIT] * 3)]), max_cycle_period=2)

        assert told["call_ids"] == [f"c{n}" for n in range(6)]
        assert (told["retries"], told["last_step"]) == (2, 6)


def test_only_so_many_call_ids_are_kept_of_a_long_row() -> None:
    told = details(own(*[with_id(MAKE, n) for n in range(250)]))

    assert (len(told["call_ids"]), told["call_ids_left_out"]) == (100, 150)


def test_a_row_of_one_huge_step_keeps_only_so_many_call_ids() -> None:
    huge = [with_id(MAKE, n) for n in range(300)]

    told = details(own(huge, huge))

    assert (len(told["call_ids"]), told["call_ids_left_out"], told["retries"]) == (100, 500, 1)


def test_a_tools_name_cannot_break_what_it_is_shown_in() -> None:
    nasty = {"tool": "\x1b[31mba\nsh\x00\ud800\u202e" + "x" * 500}

    result = verdict(own(nasty, nasty))

    shown = result["evidence"] + result["details"]["summary"] + result["details"]["tool"]
    shown.encode("utf-8")
    assert not any(mark in shown for mark in ("\x1b", "\n", "\x00", "\u202e"))
    assert len(result["evidence"]) < 400
    assert len(result["details"]["summary"]) <= 200
