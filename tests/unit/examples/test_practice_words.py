"""What the practice agent understands of a prompt."""

import time

import practice_replies
import pytest
from practice_patterns import Kind
from practice_words import read_deeds


def runs_of(prompt, kind=Kind.FAIL, most=8):
    """The runs on which a prompt asks for this."""
    return [run for run in range(1, most + 1) if any(d.kind is kind and d.when.holds(run) for d in read_deeds(prompt))]


def kinds(prompt):
    return [deed.kind for deed in read_deeds(prompt)]


def only(prompt):
    (deed,) = read_deeds(prompt)
    return deed


@pytest.mark.parametrize(
    ("prompt", "runs"),
    [
        ("fail", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("always fail", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("FAIL", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("fail each time", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("fail once", [1]),
        ("fail twice", [1, 2]),
        ("this fails 3 times", [1, 2, 3]),
        ("fail exactly three times", [1, 2, 3]),
        ("fail for 3 runs", [1, 2, 3]),
        ("fail the first two runs", [1, 2]),
        ("fail in the first 2 turns", [1, 2]),
        ("fail on run 2", [2]),
        ("fail only on run #2", [2]),
        ("fail in the second run", [2]),
        ("fail the third time", [3]),
        ("fail on the 2nd and 4th run", [2, 4]),
        ("fail on runs 2 and 4", [2, 4]),
        ("fail on runs two, four and six", [2, 4, 6]),
        ("fail on runs 2-4", [2, 3, 4]),
        ("fail on runs 2 to 4 and 7", [2, 3, 4, 7]),
        ("fail every other run", [2, 4, 6, 8]),
        ("fail every third run", [3, 6]),
        ("fail from run 6", [6, 7, 8]),
        ("fail after run 6", [7, 8]),
        ("fail after two runs", [3, 4, 5, 6, 7, 8]),
        ("fail until run 3", [1, 2]),
        ("fail up to run 3", [1, 2, 3]),
        ("on run 2 fail", [2]),
        ("Say a number. On runs 2 and 4, please fail.", [2, 4]),
        ("fail on\n  run\t2", [2]),
        ("fail twice and fail on run 5", [1, 2, 5]),
        ("do this 3 times: fail twice", [1, 2]),
        ("3 times: fail", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("cost 5 on run 3, fail", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("fail on run 99999", []),
    ],
)
def test_failing_is_bound_to_runs_as_people_say_it(prompt, runs):
    assert runs_of(prompt) == runs


@pytest.mark.parametrize(
    "prompt",
    [
        "do not fail",
        "don’t fail",
        "never fail or crash",
        "without a crash",
        "if it fails, mend it",
        "fix it when the tests fail",
        "fail if the disk is full",
        "crash when you see a mouse",
        "it is fail-safe and failsafe",
        "the failure failed unfailingly",
        "hang on, I am thinking; hang up",
        "you said `fail twice` before",
        "```\nfail\ncrash\n```",
        "unless it hangs",
        "repeat this 3 times",
        "repeat the whole task 3 times",
        "use bash and read",
        "refuse to answer",
        "look at the last commit and the crash report",
        "tell me when you are done",
        "it costs a lot",
        "Reply [[DONE]] when nothing is left",
        "say [[DONE]] once all is finished",
        "every 2 minutes until it is 7, at most 5",
        "do it at most 3 times",
        "take 5 apples",
        "account for 3",
        "",
    ],
)
def test_words_that_are_not_meant_are_not_obeyed(prompt):
    assert kinds(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "dollars"),
    [
        ("cost 0.40", 0.4),
        ("costs $0.4 each", 0.4),
        ("costing USD 2", 2),
        ("a cost of .5", 0.5),
        ("cost: $1,200.50", 1200.5),
        ("cost 0,25 please", 0.25),
        ("cost 40 cents", 0.4),
        ("cost one cent", 0.01),
        ("cost two dollars.", 2),
        ("cost 0", 0),
        ("cost 99999999999999", 1e6),
    ],
)
def test_costs_are_read_in_dollars_and_cents(prompt, dollars):
    assert only(prompt).kind is Kind.COST
    assert only(prompt).amount == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("prompt", "seconds"),
    [
        ("take 5 seconds", 5),
        ("it takes about 1.5 s", 1.5),
        ("wait for two minutes", 120),
        ("sleep 200 ms", 0.2),
        ("take ten milliseconds", 0.01),
        ("slow", 5),
        ("go slowly, take your time", 5),
        ("take 9999999 minutes", 86_400),
    ],
)
def test_time_is_read_in_seconds(prompt, seconds):
    assert {deed.kind for deed in read_deeds(prompt)} == {Kind.SLOW}
    assert read_deeds(prompt)[0].amount == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("prompt", "tool", "count"),
    [
        ("repeat bash 5 times", "bash", 5),
        ("repeat Bash five times", "Bash", 5),
        ("repeat a tool five times", "bash", 5),
        ("repeat the same tool call 3x", "bash", 3),
        ("repeat the tool Grep twelve times", "Grep", 12),
        ("call mcp__github__search 4 times", "mcp__github__search", 4),
        ("use the Deploy tool 2 times", "Deploy", 2),
        ("repeat a tool", "bash", 5),
        ("repeat bash 999999 times", "bash", 1000),
    ],
)
def test_a_tool_is_repeated_as_often_as_is_said(prompt, tool, count):
    deed = only(prompt)

    assert (deed.kind, deed.names, deed.amount) == (Kind.REPEAT, (tool,), count)


@pytest.mark.parametrize(
    ("prompt", "tools", "times"),
    [
        ("alternate two tools 4 times", ("bash", "read"), 4),
        ("alternate between bash and Grep 3 times", ("bash", "Grep"), 3),
        ("alternating three tools", ("bash", "read", "grep"), 4),
        ("alternate bash, read and grep twice", ("bash", "read", "grep"), 4),
    ],
)
def test_tools_alternate(prompt, tools, times):
    assert (only(prompt).names, only(prompt).amount) == (tools, times)


@pytest.mark.parametrize(
    ("prompt", "tools"),
    [("refuse Bash", ("Bash",)), ("deny the tools Bash, Edit and Write", ("Bash", "Edit", "Write"))],
)
def test_tools_are_refused(prompt, tools):
    assert (only(prompt).kind, only(prompt).names) == (Kind.REFUSE, tools)


@pytest.mark.parametrize(
    ("prompt", "kind", "seconds"),
    [
        ("rate limit for 30 seconds", Kind.RATE_LIMIT, 30),
        ("be rate-limited for one minute", Kind.RATE_LIMIT, 60),
        ("ratelimited", Kind.RATE_LIMIT, 30),
        ("overloaded for 10 s", Kind.OVERLOAD, 10),
    ],
)
def test_a_model_that_is_away(prompt, kind, seconds):
    assert (only(prompt).kind, only(prompt).amount) == (kind, seconds)


@pytest.mark.parametrize(
    ("prompt", "signal", "first"),
    [
        ("done on run 3", "[[DONE]]", 3),
        ("be done after 3 runs", "[[DONE]]", 3),
        ("finish on the third run", "[[DONE]]", 3),
        ("say [[DONE]] on run 3", "[[DONE]]", 3),
        ("reply with `[[DONE]]` on run 3", "[[DONE]]", 3),
        ('on run 2, say "[[ALL OF IT]]"', "[[ALL OF IT]]", 2),
        ("answer [[X]]", "[[X]]", 1),
        ("say [[X]] from run 4", "[[X]]", 4),
    ],
)
def test_a_stop_signal_is_said_from_its_run_on(prompt, signal, first):
    assert only(prompt).names == (signal,)
    assert runs_of(prompt, Kind.DONE) == list(range(first, 9))  # a failed run 3 does not lose it


@pytest.mark.parametrize(
    ("prompt", "signal"),
    [
        ("count to 10 and reply [[DONE]]", ("[[DONE]]",)),
        ("count up to ten, and say [[OVER]] when you are there", ("[[OVER]]",)),
        ("count to 10", ()),
    ],
)
def test_counting_brings_the_signal_at_its_end_and_not_before(prompt, signal):
    assert (only(prompt).kind, only(prompt).amount, only(prompt).names) == (Kind.COUNT, 10, signal)


def test_several_things_are_asked_for_in_one_sentence():
    prompt = (
        "Please take 2 seconds, cost 0.1 and fail on run 2; on run 3 say nothing, then repeat bash 5 times on run 4."
    )

    assert kinds(prompt) == [Kind.SLOW, Kind.COST, Kind.FAIL, Kind.NOTHING, Kind.REPEAT]
    assert runs_of(prompt, Kind.SLOW) == runs_of(prompt, Kind.COST) == list(range(1, 9))
    assert runs_of(prompt, Kind.FAIL) == [2]
    assert runs_of(prompt, Kind.NOTHING) == [3]
    assert runs_of(prompt, Kind.REPEAT) == [4]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("hang after the answer", [Kind.HANG_AFTER]),
        ("hang after its reply on run 2", [Kind.HANG_AFTER]),
        ("hang on run 2", [Kind.HANG]),
        ("hang and ignore all signals", [Kind.HANG, Kind.DEAF]),
        ("give an empty reply", [Kind.NOTHING]),
        ("reply with nothing", [Kind.NOTHING]),
        ("end without an answer", [Kind.NO_RESULT]),
        ("exit without any result", [Kind.NO_RESULT]),
        ("say exactly the same", [Kind.SAME]),
        ("identical replies", [Kind.SAME]),
        ("repeat yourself 3 times", [Kind.SAME]),
        ("tell me a random number", [Kind.NUMBER]),
        ("an unknown cost", [Kind.COST_UNKNOWN]),
        ("no cost, fail", [Kind.COST_UNKNOWN, Kind.FAIL]),
        ("make a commit and crash", [Kind.COMMIT, Kind.CRASH]),
        ("shout 3 MB", [Kind.SHOUT]),
        ("show me some markdown", [Kind.SHOW]),
        ("show right to left", [Kind.SHOW]),
        ("* fail twice\n* cost 0.2", [Kind.FAIL, Kind.COST]),
    ],
)
def test_each_thing_has_more_than_one_wording(prompt, expected):
    assert kinds(prompt) == expected


@pytest.mark.parametrize(
    "reply",
    [
        practice_replies.HELP.format(turn="Run 3"),
        *(practice_replies.shown(what, "Run 3") for what in ("markdown", "hostile", "huge", "rtl")),
    ],
)
def test_a_reply_that_comes_back_in_a_prompt_asks_for_nothing_and_signals_nothing(reply):
    assert kinds(f"Go on from here: {reply}") == []
    assert "[[" not in reply


@pytest.mark.parametrize(
    "unit", ["fail ", "if fail ", "on run 2 ", "`", "[[", "1,", "fail on runs 1-", "repeat ", "x" * 50, "\n"]
)
def test_the_longest_prompt_is_read_in_no_time(unit):
    prompt = (unit * (100_000 // len(unit)))[:100_000]
    began = time.process_time()

    read_deeds(prompt)

    assert time.process_time() - began < 2
