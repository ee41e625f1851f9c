"""Whatever lies in an inbox: each kind has its clear end, and the folder always drains."""

import ctypes
import os
import socket

import inbox_folder
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

    call = desk.run(fresh=True, preexec_fn=_without_the_power_to_read_everything)

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


def test_a_text_that_another_run_has_put_aside_meanwhile_leaves_no_reason_of_its_own(desk, monkeypatch):
    desk.run()  # makes the folders
    monkeypatch.chdir(desk.folder)
    path = desk.put("empty.txt", b"")
    held = inbox_folder.take("empty.txt")
    path.unlink()

    assert inbox_folder.move_to_failed(held, "is empty") is None
    assert desk.names("failed") == []
    os.close(held.descriptor)


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

    call = desk.run(fresh=True, preexec_fn=no_room)

    assert call.exit_code == 1
    assert call.final["result"] == "Stopped while writing the summary of `a.txt`: File too large."
    assert desk.names("inbox") == ["a.txt"]
    desk.drain()
    assert desk.names("outbox") == ["a.txt.summary.md"]
