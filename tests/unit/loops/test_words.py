"""Section 2's table of words, row by row."""

import pytest

from loops.vocabulary import ENDED, LoopStatus, StopReason
from loops.words import Words, loop_words
from trinity.kernel.vocabulary import Tone

ACTIVE, OK, WARN, BAD, NEUTRAL = Tone.ACTIVE, Tone.OK, Tone.WARN, Tone.BAD, Tone.NEUTRAL
TABLE = [
    # status, reason, operator's badge, operator's reason, Workspace, tone
    ("queued", None, "queued", "", "Queued", ACTIVE),
    ("running", None, "running", "", "Running", ACTIVE),
    ("completed", "max_runs_reached", "completed", "reached max runs", "Done", OK),
    ("completed", "stop_signal_matched", "completed", "stop signal matched", "Done", OK),
    (
        "completed_with_errors", "max_runs_reached",
        "completed with errors", "reached max runs", "Done, with errors", WARN,
    ),
    (
        "completed_with_errors", "stop_signal_matched",
        "completed with errors", "stop signal matched", "Done, with errors", WARN,
    ),
    ("stopped", "user_stopped", "stopped", "stopped by user", "Stopped by you", NEUTRAL),
    ("stopped", "budget_exhausted", "stopped", "budget exhausted", "Stopped — cost budget reached", WARN),
    ("stopped", "deadline_exceeded", "stopped", "deadline exceeded", "Stopped — time limit reached", WARN),
    ("stopped", "no_progress", "stopped", "no progress", "Stopped — it stopped making progress", WARN),
    ("failed", "error", "failed", "error", "Failed", BAD),
    (
        "failed", "max_consecutive_failures",
        "failed", "too many errors in a row", "Failed — too many errors in a row", BAD,
    ),
    ("interrupted", "interrupted", "interrupted", "interrupted", "Interrupted by a restart", WARN),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "reason", "badge", "because", "workspace", "tone"), TABLE, ids=[f"{row[0]} {row[1]}" for row in TABLE]
)
def test_a_row_of_the_table(
    status: str, reason: str | None, badge: str, because: str, workspace: str, tone: Tone
) -> None:
    assert loop_words(status, reason) == Words(badge, because, workspace, tone)


def test_the_table_knows_every_status_and_every_reason() -> None:
    assert {row[0] for row in TABLE} == set(LoopStatus)
    assert {row[1] for row in TABLE} == {*StopReason, None}


@pytest.mark.parametrize("reason", [None, ""])
def test_a_reason_that_is_not_there_may_be_blank(reason: str | None) -> None:
    assert loop_words("running", reason).reason == ""


def test_one_who_did_not_stop_it_reads_who_did() -> None:
    words = loop_words("stopped", "user_stopped", stopped_by_viewer=False, stopped_by="bob")

    assert words == Words("stopped", "stopped by user", "Stopped by bob", NEUTRAL)


def test_one_who_stopped_it_and_is_not_known_any_more_is_someone_else() -> None:
    words = loop_words("stopped", "user_stopped", stopped_by_viewer=False)

    assert words.workspace == "Stopped by someone else"


@pytest.mark.parametrize("status", sorted(ENDED))
def test_what_has_ended_never_looks_active(status: LoopStatus) -> None:
    assert all(row[5] is not ACTIVE for row in TABLE if row[0] == status)


def test_an_unknown_status_is_an_error_and_no_silent_word() -> None:
    with pytest.raises(ValueError, match="exploded"):
        loop_words("exploded", None)
