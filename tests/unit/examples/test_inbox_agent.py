"""The inbox agent on a desk of real texts: what it writes, moves and says."""

import fcntl
import json
import os
import re
import select
import signal
import time

import pytest


def test_a_folder_is_drained_one_text_a_run_the_oldest_first(desk, texts):
    for age, (name, text) in enumerate(sorted(texts.items())):
        desk.put(name, text, age=age)
    oldest_first = sorted(texts, reverse=True)

    replies = desk.drain()

    assert [re.search(r"`(.+?)`", reply)[1] for reply in replies[:-1]] == oldest_first
    assert desk.names("done") == sorted(texts)
    assert desk.names("outbox") == sorted(f"{name}.summary.md" for name in texts)
    assert desk.names("inbox") == desk.names("failed") == []
    assert all(desk.text(f"done/{name}") == text for name, text in texts.items())


def test_texts_of_one_age_go_by_name(desk, story):
    for name in ("b.txt", "a.txt"):
        desk.put(name, story)

    assert "`a.txt`" in desk.run().reply


def test_the_reply_says_which_text_how_many_words_and_how_many_are_left(desk, story):
    desk.put("story.txt", story, age=1)
    desk.put("later.txt", story)

    reply = desk.run("Summarise the next text.").reply

    assert re.fullmatch(
        r"Summarised `story\.txt`: (\d{3}) words → (\d{2,3}) words, kept 5 of \d+ sentences, "
        r"in `outbox/story\.txt\.summary\.md`\. 1 text left\.",
        reply,
    )


def test_the_run_that_does_the_last_text_does_not_say_that_it_is_done(desk, story):
    desk.put("story.txt", story)

    assert desk.run().reply.endswith(" No text left.")
    assert desk.run().reply == "[[DONE]] Nothing is left in inbox/. done/ has 1 text."


def test_the_summary_has_title_counts_sentences_and_key_terms(desk, story):
    desk.put("story.txt", story)

    desk.run()

    lines = desk.text("outbox/story.txt.summary.md").splitlines()
    assert lines[0] == "# Moving the sound archive: notes for the next people who have to do it"
    assert re.fullmatch(r"`story\.txt` · \d+ words → \d+ words · 5 of \d+ sentences", lines[2])
    assert len([line for line in lines if line.startswith("- ")]) == 5
    assert [line for line in lines if line.startswith("Key terms: crate")]


def test_a_text_without_a_title_is_called_by_its_name(desk):
    desk.put("pump_repair-notes.txt", "The pump broke. It was mended.")

    desk.run()

    assert desk.text("outbox/pump_repair-notes.txt.summary.md").startswith("# pump repair notes\n")


def test_every_step_is_seen_as_a_tool_call_with_its_arguments_and_result(desk, story):
    desk.put("story.txt", story)

    call = desk.run()

    assert call.events[0]["subtype"] == "init"
    assert call.tools == ["List", "Read", "Write", "Move"]
    assert [len(step) for step in call.steps] == [1, 1, 1, 1]
    arguments = [step[0][1] for step in call.steps]
    assert arguments[1] == {"file_path": "inbox/story.txt"}
    assert arguments[2]["file_path"] == "outbox/story.txt.summary.md"
    assert desk.text("outbox/story.txt.summary.md").startswith(arguments[2]["content"])
    assert arguments[3] == {"source": "inbox/story.txt", "destination": "done/story.txt"}
    asked = [b["id"] for e in call.events if e["type"] == "assistant" for b in e["message"]["content"] if "id" in b]
    answered = [b["tool_use_id"] for e in call.events if e["type"] == "user" for b in e["message"]["content"]]
    assert asked == answered


def test_the_last_words_of_the_agent_are_its_result(desk, story):
    desk.put("story.txt", story)

    call = desk.run()

    said = [event for event in call.events if event["type"] == "assistant"][-1]["message"]
    assert said["content"] == [{"type": "text", "text": call.reply}]
    assert call.final["subtype"] == "success"
    assert call.final["num_turns"] == len({e["message"]["id"] for e in call.events if e["type"] == "assistant"}) == 5
    assert call.final["usage"]["output_tokens"] == 0


def test_it_costs_what_its_time_costs(desk, story):
    for name in ("a.txt", "b.txt", "c.txt"):
        desk.put(name, story)

    quick, slow, free = desk.run(), desk.run("", "--seconds", "0.4"), desk.run("", "--hourly-rate", "0")

    assert slow.final["duration_ms"] >= 400 > quick.final["duration_ms"]
    for call in (quick, slow):
        assert call.final["total_cost_usd"] == pytest.approx(call.final["duration_ms"] * 36 / 3_600_000, abs=2e-5)
    assert free.final["total_cost_usd"] == 0


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("Summarise it in one sentence.", 1),
        ("IN TWO SENTENCES, please", 2),
        ("in 4 sentences", 4),
        ("in 0 sentences", 5),
        ("in many sentences", 5),
        ("in 12 sentences", 5),
        ("", 5),
    ],
)
def test_the_prompt_may_set_the_length(desk, story, prompt, kept):
    desk.put("story.txt", story)

    desk.run(prompt)

    assert desk.text("outbox/story.txt.summary.md").count("\n- ") == kept


def test_its_own_reply_in_the_next_prompt_changes_nothing(desk, story):
    desk.put("a.txt", story, age=1)
    desk.put("b.txt", story)

    desk.run(f"Go on. Before: {desk.run().reply}")

    assert desk.text("outbox/b.txt.summary.md").count("\n- ") == 5


@pytest.mark.parametrize(
    "option", ["--seconds=-1", "--seconds=nan", "--hourly-rate=inf", "--seconds=1e9", "--patience=x"]
)
def test_a_wrong_option_is_refused_before_anything_is_touched(desk, option):
    desk.put("a.txt", "One. Two.")

    call = desk.run("", option)

    assert (call.exit_code, call.events) == (2, [])
    assert option.partition("=")[0] in call.stderr
    assert desk.names("inbox") == ["a.txt"]


def test_an_interrupted_run_prints_its_cost_and_the_next_one_finishes_its_text(desk, story):
    desk.put("a.txt", story)
    with desk.agent.start("--seconds", "60") as program:
        program.stdin.close()
        _read_until(program, b'"tool_result"')
        program.send_signal(signal.SIGINT)
        last = program.stdout.read().splitlines()[-1]

    final = json.loads(last)
    assert program.returncode == 130
    assert final["is_error"] is True
    assert final["result"] == "Interrupted while looking into inbox/."
    assert final["total_cost_usd"] > 0
    assert "Summarised `a.txt`" in desk.run().reply


def test_an_interrupt_between_summary_and_move_leaves_a_text_that_is_finished_and_not_redone(desk, story):
    desk.put("a.txt", story)
    with desk.agent.start("--seconds", "1.2") as program:
        program.stdin.close()
        _read_until(program, b"a.txt.summary.md written")
        program.send_signal(signal.SIGINT)
        program.stdout.read()
    first = os.stat(desk.folder / "outbox/a.txt.summary.md")

    reply = desk.run("in one sentence").reply

    assert re.match(r"Finished `a\.txt`, whose summary an earlier run had written: \d+ words → \d+ words, in ", reply)
    assert os.stat(desk.folder / "outbox/a.txt.summary.md").st_mtime_ns == first.st_mtime_ns
    assert desk.names("done") == ["a.txt"]


def _read_until(program, mark):
    """Read what the program prints up to a line that holds the mark."""
    seen, until = b"", time.monotonic() + 10
    while mark not in seen:
        ready, _, _ = select.select([program.stdout], [], [], until - time.monotonic())
        assert ready, f"{mark!r} did not come; {seen!r}"
        seen += os.read(program.stdout.fileno(), 65536)


def test_a_second_run_at_the_same_time_takes_another_text(desk, story):
    desk.put("a.txt", story, age=1)
    desk.put("b.txt", story)
    with desk.agent.start("--seconds", "60") as first:
        first.stdin.close()
        _read_until(first, b"the next one is 'a.txt'")

        assert "`b.txt`" in desk.run().reply
        assert "[[DONE]]" not in desk.run("", "--patience", "0").reply

        first.kill()
        first.stdout.read()
    assert "`a.txt`" in desk.run().reply


def test_runs_that_start_together_share_the_texts(desk, story):
    for name in ("a.txt", "b.txt", "c.txt"):
        desk.put(name, story + name)

    programs = [desk.agent.start("--seconds", "0.4") for _ in range(3)]
    finals = [json.loads(program.communicate()[0].splitlines()[-1]) for program in programs]

    assert sorted(re.search(r"`(.+?)`", final["result"])[1] for final in finals) == [
        "a.txt",
        "b.txt",
        "c.txt",
    ]
    assert len(desk.names("outbox")) == len(desk.names("done")) == 3


def test_a_text_that_another_run_has_in_hand_is_waited_for_and_never_called_done(desk, story):
    path = desk.put("a.txt", story)
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        reply = desk.run("", "--patience", "0.2").reply

    assert reply == "Nothing taken: other runs have 1 text of inbox/ in hand."
    assert desk.names("inbox") == ["a.txt"]


def test_a_reader_that_goes_away_does_not_leave_a_half_written_summary(desk, story):
    desk.put("a.txt", story)
    with desk.agent.start("--seconds", "0.2") as program:
        program.stdin.close()
        program.stdout.close()
        program.wait(timeout=10)
        assert program.stderr.read() == b""

    assert desk.drain()[-1].startswith("[[DONE]]")
    assert desk.names("outbox") == ["a.txt.summary.md"]
