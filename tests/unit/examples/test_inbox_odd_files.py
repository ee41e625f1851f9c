"""Whatever lies in an inbox: each kind has its clear end, and the folder always drains."""

import ctypes
import os
import socket

import pytest


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.txt", b"", "is empty"),
        ("blank.txt", b" \n\t\n", "is empty"),
        ("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(range(256)), "is not plain text"),
        ("paper.pdf", b"%PDF-1.7\nplain enough words in here\n", "is not plain text"),
        ("noise.dat", bytes(range(256)) * 20, "is not text: it holds NUL bytes"),
        ("bells.txt", b"word \x07\x07\x07" * 50, "is not text: it is full of control characters"),
        ("numbers.csv", b"1;2;3\n4;5;6\n", "holds no words"),
    ],
)
def test_what_is_no_text_is_put_aside_with_its_reason_and_the_run_succeeds(desk, name, content, reason):
    desk.put(name, content, age=1)
    desk.put("next.txt", "A text. It is short.")

    reply = desk.run().reply

    assert reply == f"`{name}` {reason}. It is in failed/ now, with the reason beside it. 1 text left."
    assert desk.names("failed") == [name, f"{name}.reason.txt"]
    assert desk.text(f"failed/{name}.reason.txt") == f"{name} {reason}.\n"
    assert (desk.folder / "failed" / name).read_bytes() == content
    assert desk.drain()[-1].endswith("done/ has 1 text, failed/ has 1 text.")


def test_a_read_that_failed_is_seen_as_a_failed_tool_call(desk):
    desk.put("empty.txt", b"")

    call = desk.run()

    assert call.tools == ["List", "Read", "Move"]
    results = [b for e in call.events if e["type"] == "user" for b in e["message"]["content"]]
    assert [block["is_error"] for block in results] == [False, True, False]


def test_utf_8_with_a_mark_and_utf_16_are_read(desk):
    sentence = "Der Bär größt die Königin. Er geht."
    desk.put("a.txt", b"\xef\xbb\xbf" + sentence.encode())
    desk.put("b.txt", sentence.encode("utf-16"))

    desk.drain()

    assert all("- Der Bär größt die Königin." in desk.text(f"outbox/{name}.txt.summary.md") for name in "ab")


def test_another_encoding_is_read_as_windows_1252_and_the_summary_says_so(desk):
    desk.put("old.txt", "The café cost £5. It was “closed”.".encode("cp1252"))

    reply = desk.run().reply

    assert "It is not UTF-8; it was read as Windows-1252." in reply
    summary = desk.text("outbox/old.txt.summary.md")
    assert "- The café cost £5." in summary
    assert "read as Windows-1252" in summary


def test_of_a_huge_text_the_beginning_is_summarised_and_the_summary_says_so(desk, story):
    huge = (story * (50_000_000 // len(story) + 1)).encode()[:50_000_000]
    desk.put("huge.txt", huge)

    reply = desk.run().reply

    assert "Only its first 1.0 MB of 50.0 MB were read." in reply
    assert "Only its first 1.0 MB of 50.0 MB were read." in desk.text("outbox/huge.txt.summary.md")
    assert (desk.folder / "done/huge.txt").stat().st_size == 50_000_000


def test_a_cut_inside_a_character_is_no_wrong_encoding(desk):
    desk.put("umlauts.txt", "a" + "ö" * 600_000)  # the cut falls into the middle of an ö

    assert "Windows-1252" not in desk.run().reply


def _without_the_power_to_read_everything() -> None:
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: root reads a file of mode 0 with them
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def test_a_file_that_may_not_be_read_is_put_aside(desk):
    desk.put("secret.txt", "A secret. Another.").chmod(0)

    call = desk.run(preexec_fn=_without_the_power_to_read_everything)

    assert call.reply.startswith("`secret.txt` cannot be opened (Permission denied). It is in failed/ now")
    assert desk.names("failed") == ["secret.txt", "secret.txt.reason.txt"]


def test_a_link_is_not_followed(desk, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "private.txt"
    outside.write_text("A private text. Nobody may see it.")
    (desk.folder / "inbox/link.txt").symlink_to(outside)
    (desk.folder / "inbox/loop.txt").symlink_to("loop.txt")
    (desk.folder / "inbox/folder").symlink_to(outside.parent)

    replies = desk.drain()

    assert replies[-1] == "[[DONE]] Nothing is left in inbox/. done/ has 0 texts, failed/ has 3 texts."
    assert f"`link.txt` is a link (to {outside}), and links are not followed." in "".join(replies)
    assert desk.names("outbox") == []
    assert "private text" not in "".join(replies)
    assert outside.read_text().startswith("A private text.")


def test_a_pipe_or_socket_does_not_hang_the_run(desk, monkeypatch):
    os.mkfifo(desk.folder / "inbox/pipe.txt")
    monkeypatch.chdir(desk.folder / "inbox")  # the name of a socket is short or refused
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.txt")

    replies = desk.drain()

    assert desk.names("failed") == ["pipe.txt", "pipe.txt.reason.txt", "socket.txt", "socket.txt.reason.txt"]
    assert "is not a file but a pipe, socket or device" in replies[0]


def test_folders_hidden_and_unfinished_files_are_left_alone_and_named(desk):
    desk.put(".hidden", "Hidden. Text.")
    desk.put("half.txt.part", "Half a. Text.")
    desk.put("edit.txt~", "An old. Copy.")
    desk.put("#edit.txt#", "Another. Copy.")
    (desk.folder / "inbox/drafts").mkdir()
    desk.put("drafts/draft.txt", "A draft. Of a text.")

    reply = desk.run().reply

    assert reply == (
        "[[DONE]] Nothing is left in inbox/. done/ has 0 texts. "
        "Folders, hidden and unfinished files are left alone: "
        "`#edit.txt#`, `.hidden`, `drafts/`, `edit.txt~`, `half.txt.part`."
    )
    assert len(desk.names("inbox")) == 5


def test_a_second_text_of_the_same_name_gets_a_number_and_the_first_stays_as_it_was(desk, story):
    for content in ("The first. Text.", story, story):
        desk.put("notes.txt", content)
        desk.run()

    assert desk.names("done") == ["notes-2.txt", "notes-3.txt", "notes.txt"]
    assert desk.names("outbox") == [
        "notes-2.txt.summary.md",
        "notes-3.txt.summary.md",
        "notes.txt.summary.md",
    ]
    assert desk.text("done/notes.txt") == "The first. Text."
    assert "- The first." in desk.text("outbox/notes.txt.summary.md")


def test_a_summary_that_a_person_wrote_is_not_overwritten(desk, story):
    (desk.folder / "outbox").mkdir()
    (desk.folder / "outbox/notes.txt.summary.md").write_text("my own words")
    desk.put("notes.txt", story)

    desk.run()

    assert desk.text("outbox/notes.txt.summary.md") == "my own words"
    assert desk.names("done") == ["notes-2.txt"]


def test_failed_texts_of_one_name_do_not_overwrite_each_other(desk):
    for content in (b"", b"\x00\xff", b"1 2 3"):
        desk.put("x.txt", content)
        desk.run()

    assert desk.names("failed") == [f"x{n}.txt{end}" for n in ("-2", "-3", "") for end in ("", ".reason.txt")]
    assert desk.text("failed/x-3.txt.reason.txt") == "x.txt holds no words.\n"


@pytest.mark.parametrize(
    "name",
    [
        "a" * 251 + ".txt",
        "ä" * 125 + ".txt",
        "two words & \"quotes\" 'n' `ticks`.txt",
        "line\nbreak.txt",
        "-->.txt",
        "--help",
        "%s {name} \\.txt",
        "no-ending",
        "‮txt.exe",
    ],
)
def test_any_name_survives(desk, story, name):
    desk.put(name, story)

    reply = desk.run().reply

    assert "\n" not in reply
    assert desk.names("inbox") == []
    assert len(desk.names("done")) == len(desk.names("outbox")) == 1
    assert len(os.fsencode(name)) > 200 or desk.names("done") == [name]


def test_a_name_that_is_no_utf_8_survives(desk):
    name = os.fsdecode(b"caf\xe9.txt")
    desk.put(name, "A text. It is short.")

    reply = desk.run().reply

    assert "`caf�.txt`" in reply
    assert desk.names("done") == [name]


def test_a_name_cannot_say_that_all_is_done(desk):
    desk.put("[[DONE]].txt", "A text. It is short.", age=1)
    desk.put("[[[DONE]].png", b"\x89PNG\x00", age=0)

    replies = desk.drain()

    assert ["[[DONE]]" in reply for reply in replies] == [False, False, True]


def test_a_text_that_changes_while_it_is_read_stays_for_a_later_run(desk, story):
    path = desk.put("a.txt", story)
    with desk.agent.start("--seconds", "1.2") as program:
        program.stdin.close()
        for line in program.stdout:
            if b"summary.md written" in line:
                path.write_text("Something else. Altogether.")
                break
        rest = program.stdout.read()

    assert b"`a.txt` changed while it was read, so it stays for a later run. 1 text left." in rest
    assert desk.names("outbox") == desk.names("done") == []
    desk.drain()
    assert desk.names("outbox") == ["a.txt.summary.md"]
    assert "- Something else." in desk.text("outbox/a.txt.summary.md")


@pytest.mark.parametrize("name", ["inbox", "outbox", "done", "failed"])
def test_a_folder_that_leads_out_of_the_workspace_fails_the_run(desk, story, tmp_path_factory, name):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    desk.put("a.txt", story)
    if name == "inbox":
        (desk.folder / "inbox").rename(desk.folder / "old")
    (desk.folder / name).symlink_to(elsewhere)

    call = desk.run()

    assert call.exit_code == 1
    assert call.final["is_error"] is True
    assert call.final["result"] == f"`{name}` must be a real folder inside the workspace, and it is not."
    assert list(elsewhere.iterdir()) == []


def test_a_desk_without_folders_gets_them(desk):
    (desk.folder / "inbox").rmdir()

    assert desk.run().reply.startswith("[[DONE]]")
    assert sorted(path.name for path in desk.folder.iterdir()) == ["done", "failed", "inbox", "outbox"]


def test_a_summary_that_cannot_be_written_fails_the_run_and_the_text_stays(desk, story):
    desk.put("a.txt", story)
    (desk.folder / "outbox/.unfinished/x").mkdir(parents=True)

    call = desk.run()

    assert call.exit_code == 1
    assert call.final["is_error"] is True
    assert desk.names("inbox") == ["a.txt"]


def test_a_full_disk_fails_the_run_says_so_and_the_text_stays(desk, story):
    desk.put("a.txt", story)

    def no_room() -> None:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that the write fails as it does on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    call = desk.run(preexec_fn=no_room)

    assert call.exit_code == 1
    assert call.final["result"] == "Stopped while writing the summary of `a.txt`: File too large."
    assert desk.names("inbox") == ["a.txt"]
    desk.drain()
    assert desk.names("outbox") == ["a.txt.summary.md"]
