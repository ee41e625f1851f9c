"""Each word of the practice agent, shown by a real call of it."""

import json
import subprocess

import practice_memory
import pytest
from practice_agent import find_turn
from practice_words import read_deeds


def outcomes(practice, prompt, runs):
    return ["failed" if practice.in_loop(prompt, run).final["is_error"] else "ok" for run in range(1, runs + 1)]


def test_say_a_number_differs_from_run_to_run_and_not_from_call_to_call(practice):
    replies = [practice.in_loop("do this 3 times: say a number", run).reply for run in (1, 2, 3, 3)]

    assert len(set(replies)) == 3
    assert replies[2] == replies[3]
    assert replies[0].startswith("Run 1: my number is ")


def test_say_the_same_is_the_same(practice):
    assert len({practice.in_loop("say the same", run).reply for run in (1, 2, 3)}) == 1


def test_an_unknown_prompt_gets_a_short_answer_that_differs_and_names_the_words(practice):
    replies = [practice.in_loop("write me a poem", run).reply for run in (1, 2)]

    assert len(set(replies)) == 2
    assert "`fail twice`" in replies[0]
    assert len(replies[0]) < 500


def test_the_answer_is_the_last_text_and_comes_before_the_result(practice):
    call = practice.in_loop("say a number")

    assert [event["type"] for event in call.events] == ["system", "assistant", "result"]
    assert call.events[1]["message"]["content"] == [{"type": "text", "text": call.reply}]
    assert call.final["subtype"] == "success"
    assert call.final["num_turns"] == 1


def test_say_nothing_is_an_empty_reply(practice):
    assert practice.in_loop("say nothing").reply == ""


def test_end_without_an_answer_prints_no_result(practice):
    call = practice.in_loop("end without an answer")

    assert call.exit_code == 0
    assert [event["type"] for event in call.events] == ["system"]


def test_fail_is_an_error_result_and_exit_code_1(practice):
    call = practice.in_loop("fail")

    assert call.exit_code == 1
    assert call.final["is_error"] is True
    assert call.final["result"] == "Run 1 ended badly, because the prompt asked for it."


def test_fail_twice_fails_on_the_first_two_runs(practice):
    assert outcomes(practice, "fail twice", 4) == ["failed", "failed", "ok", "ok"]


def test_fail_on_runs_fails_on_these(practice):
    assert outcomes(practice, "say a number, fail on runs 2 and 4", 5) == [
        "ok",
        "failed",
        "ok",
        "failed",
        "ok",
    ]


def test_outside_a_loop_the_calls_of_a_prompt_are_counted(practice):
    calls = [practice.call("fail twice") for _ in range(3)]

    assert [call.final["is_error"] for call in calls] == [True, True, False]
    assert practice.call("say a number").reply.startswith("Call 1:")


def test_a_call_that_is_tried_again_counts_once(practice):
    for execution, failed in (("exec_1", True), ("exec_1", True), ("exec_2", False)):
        call = practice.call("fail once", environment={"TRINITY_EXECUTION_ID": execution, "TRINITY_RUN_NUMBER": "1"})
        assert call.final["is_error"] is failed


@pytest.mark.parametrize(
    "rubbish", ["", "{", "[]", '{"counts": 3}', '{"counts": {"key": "y"}, "first_asked": []}', "\x00"]
)
def test_a_broken_memory_is_begun_anew(tmp_path, monkeypatch, rubbish):
    monkeypatch.chdir(tmp_path)
    practice_memory.FILE.write_text(rubbish)

    assert [practice_memory.count_call("key", "") for _ in (1, 2)] == [1, 2]


def test_the_memory_stays_small_and_forgets_the_oldest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    for number in range(practice_memory.MOST_KEPT + 1):
        practice_memory.count_call(f"key {number}", "")

    assert practice_memory.count_call("key 1", "") == 2
    assert practice_memory.count_call("key 0", "") == 1


def test_a_memory_that_cannot_be_kept_fails_the_call(practice):
    (practice.folder / ".practice.lock").mkdir()

    call = practice.call("say a number")

    assert call.exit_code == 1
    assert call.final["is_error"] is True
    assert "Is a directory" in call.final["result"]


def test_in_a_loop_nothing_is_left_in_the_folder(practice):
    practice.in_loop("say a number")

    assert list(practice.folder.iterdir()) == []


@pytest.mark.parametrize("number", ["0", "-1", "two", "", "1.5", "²", "9" * 5000])
def test_a_run_number_that_is_none_is_not_believed(tmp_path, monkeypatch, number):
    monkeypatch.chdir(tmp_path)

    turn = find_turn("say a number", {"TRINITY_LOOP_ID": "loop_a", "TRINITY_RUN_NUMBER": number})

    assert (turn.run, turn.in_loop) == (1, False)


def test_a_cost_is_what_was_asked_also_when_the_run_fails(practice):
    assert practice.in_loop("cost 0.40").final["total_cost_usd"] == 0.4
    assert practice.in_loop("cost 40 cents and fail").final["total_cost_usd"] == 0.4
    by_run = [practice.in_loop("cost 0.1, cost 5 on run 2", run).final["total_cost_usd"] for run in (1, 2, 3)]
    assert by_run == [0.1, 5, 0.1]


def test_without_a_word_it_costs_its_time_and_an_unknown_cost_is_left_out(practice):
    assert 0 < practice.in_loop("say a number").final["total_cost_usd"] < 0.01
    assert "total_cost_usd" not in practice.in_loop("unknown cost").final


def test_it_takes_its_time_and_shows_that_it_waits(practice):
    call = practice.in_loop("take 0.3 seconds")

    assert 300 <= call.final["duration_ms"] < 5000
    assert call.steps == [[("wait", {"seconds": 0.3})]]


def test_a_repeated_tool_is_the_same_call_in_steps_of_its_own(practice):
    call = practice.in_loop("repeat a tool five times")

    assert len(call.steps) == 5
    assert {json.dumps(step) for step in call.steps} == {'[["bash", {"command": "echo practice 1"}]]'}
    results = [b["content"] for e in call.events if e["type"] == "user" for b in e["message"]["content"]]
    assert results == ["practice 1"] * 5


def test_a_tool_may_be_repeated_with_other_arguments_or_at_once(practice):
    different = practice.in_loop("repeat bash 3 times with different arguments").steps
    at_once = practice.in_loop("repeat bash 3 times at once").steps

    assert len({json.dumps(step) for step in different}) == len(different) == 3
    assert [len(step) for step in at_once] == [3]


def test_two_tools_alternate(practice):
    assert practice.in_loop("alternate two tools 4 times").tools == ["bash", "read"] * 4


def test_refused_tools_are_denied_as_claude_denies_them(practice):
    call = practice.in_loop("refuse Bash and Write")

    assert [(denied["tool_name"], denied["tool_input"]) for denied in call.final["permission_denials"]] == [
        ("Bash", {"command": "touch practice"}),
        ("Write", {"command": "touch practice"}),
    ]
    assert [e["tool_name"] for e in call.events if e.get("subtype") == "permission_denied"] == [
        "Bash",
        "Write",
    ]
    assert call.reply.endswith("Not allowed here: Bash, Write.")


@pytest.mark.parametrize(
    ("what", "mark"),
    [
        ("markdown", "| file | words |"),
        ("hostile", "<script>"),
        ("hostile", "{{previous_response}}"),
        ("right-to-left", "ימין"),
        ("huge", "line 4000 of 4000"),
    ],
)
def test_replies_that_are_hard_on_a_page(practice, what, mark):
    first, second = (practice.in_loop(f"show {what}", run).reply for run in (1, 2))

    assert mark in first
    assert first != second
    assert len(first) < 300_000


def test_a_hostile_reply_has_a_nul_and_a_lone_surrogate(practice):
    reply = practice.in_loop("show hostile").reply

    assert "\x00" in reply
    assert "\ud800" in reply


def test_counting_ends_with_the_signal(practice):
    replies = [practice.in_loop("count to 3 and reply [[DONE]]", run).reply for run in (1, 2, 3, 4)]

    assert replies == [
        "Number 1 of 3.",
        "Number 2 of 3.",
        "Number 3 of 3. [[DONE]]",
        "Number 3 of 3. [[DONE]]",
    ]


def test_the_signal_is_said_on_its_run(practice):
    replies = [practice.in_loop("say the same, say [[STOP]] on run 2", run).reply for run in (1, 2)]

    assert ["[[STOP]]" in reply for reply in replies] == [False, True]


def git(folder, *arguments):
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=20
    ).stdout.strip()


def test_a_commit_is_made_of_its_own_file_alone(practice):
    git(practice.folder, "init", "--quiet")
    (practice.folder / "notes.txt").write_text("not yet to be committed")
    git(practice.folder, "add", "notes.txt")

    calls = [practice.in_loop("commit", run) for run in (1, 2)]

    assert git(practice.folder, "log", "--format=%s") == "Practice: run 2\nPractice: run 1"
    assert git(practice.folder, "show", "--stat", "--format=", "HEAD").startswith("practice-log.md | 2 ++")
    assert git(practice.folder, "status", "--short") == "A  notes.txt"
    assert calls[0].tools == ["Bash"]
    assert calls[0].reply.endswith("Two lines more in practice-log.md.")


@pytest.mark.parametrize("inside", [True, False])
def test_a_repository_around_the_folder_is_not_touched(practice, inside):
    around = practice.folder
    if inside:
        git(around, "init", "--quiet")
        practice.folder = around / "workspace"
        practice.folder.mkdir()

    call = practice.in_loop("commit")

    assert "this folder is no git work tree of its own" in call.reply
    assert not (practice.folder / "practice-log.md").exists()


@pytest.mark.parametrize(
    "prompt",
    [
        "refuse Bash, commit, shout 1 MB, say the same",
        "count to 3",
        "say a number",
        "fail",
    ],
)
def test_what_it_says_comes_back_in_a_prompt_without_effect(practice, prompt):
    said = practice.in_loop(prompt).final["result"]

    assert said
    assert read_deeds(f"Go on. The last reply was: {said}") == ()


def test_several_words_hold_together(practice):
    prompt = "Do this 3 times: take 0.1 seconds, cost 0.1, repeat bash 2 times and fail on run 2."
    calls = [practice.in_loop(prompt, run) for run in (1, 2, 3)]

    assert [call.final["is_error"] for call in calls] == [False, True, False]
    assert [call.final["total_cost_usd"] for call in calls] == [0.1] * 3
    assert calls[0].tools == ["wait", "bash", "bash"]


def test_a_prompt_that_is_no_utf_8_is_answered(practice):
    with practice.start(environment={"TRINITY_RUN_NUMBER": "1"}) as program:
        stdout, _ = program.communicate(b"\xff\xfe say a number \x00")

    assert json.loads(stdout.splitlines()[-1])["result"].startswith("Run 1: my number")
