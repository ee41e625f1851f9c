"""No path of the file tools leads out of the folder, and what they write is whole."""

import os
import threading
from pathlib import Path

import pytest

from agents.runtimes.model_api.folder import Folder, ToolFault

MOST = 1_000_000


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("secret")
    return folder


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "note").write_text("hi")
    (folder / "sub" / "deep").write_text("deep")
    return folder


@pytest.fixture
def folder(root: Path) -> Folder:
    return Folder(str(root))


@pytest.mark.parametrize(
    "path", ["note", "./note", "sub/../note", "sub//./../note", "{root}/note", "{root}/sub/../note"]
)
def test_what_lies_within_is_read_however_it_is_named(folder, root, path):
    assert folder.read(path.format(root=root), MOST) == b"hi"


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../outside/secret",
        "sub/../../outside/secret",
        "{root}/../outside/secret",
        "{root}-other/secret",
        "/etc/hostname",
        "/",
        "link/secret",
        "link",
        "sub/up/../outside/secret",
        "absolute",
        "twice",
        "sub/deeper/out",
    ],
)
def test_nothing_leads_outside(folder, root, outside, path):
    (root / "link").symlink_to("../outside")
    (root / "sub" / "up").symlink_to("..")
    (root / "absolute").symlink_to(outside / "secret")
    (root / "twice").symlink_to("absolute")
    (root / "sub" / "deeper").mkdir()
    (root / "sub" / "deeper" / "out").symlink_to("../../../outside/secret")
    path = path.format(root=root)

    for attempt in (lambda: folder.read(path, MOST), lambda: folder.write(path, b"mine")):
        with pytest.raises(ToolFault, match=r"outside|is a folder"):
            attempt()
    assert (outside / "secret").read_text() == "secret"
    assert sorted(os.listdir(outside)) == ["secret"]


def test_links_within_are_followed_absolute_ones_too(folder, root):
    (root / "near").symlink_to("sub/deep")
    (root / "far").symlink_to(root / "sub")
    (root / "sub" / "back").symlink_to("../note")

    assert folder.read("near", MOST) == b"deep"
    assert folder.read("far/deep", MOST) == b"deep"
    assert folder.read("sub/back", MOST) == b"hi"


def test_a_folder_that_was_given_by_a_link_is_known_by_both_names(root, tmp_path):
    (tmp_path / "name").symlink_to(root)
    folder = Folder(str(tmp_path / "name"))

    assert folder.read(f"{tmp_path}/name/note", MOST) == b"hi"
    assert folder.read(f"{root}/note", MOST) == b"hi"


def test_links_in_a_circle_end(folder, root):
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")

    with pytest.raises(ToolFault, match="links"):
        folder.read("a", MOST)


def test_a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere_else(folder, root, outside):
    """Somebody swaps `sub` for a link to the outside as fast as possible, while it is read and written."""
    (outside / "deep").write_text("secret")
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(root / "sub", root / "aside")
            os.rename(root / "link", root / "sub")
            os.rename(root / "sub", root / "link")
            os.rename(root / "aside", root / "sub")

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        for _ in range(2_000):
            try:
                seen.add(folder.read("sub/deep", MOST))
                folder.write("sub/new", b"mine")
            except ToolFault:
                pass
    finally:
        stop.set()
        swapping.join()

    assert seen <= {b"deep"}
    assert not (outside / "new").exists()


def test_what_is_no_regular_file_is_not_read(folder, root):
    os.mkfifo(root / "pipe")

    with pytest.raises(ToolFault, match="no regular file"):
        folder.read("pipe", MOST)
    with pytest.raises(ToolFault, match="no regular file"):
        folder.write("pipe", b"x")
    with pytest.raises(ToolFault, match="`list`"):
        folder.read("sub", MOST)
    with pytest.raises(ToolFault, match="2 bytes; at most 1 "):
        folder.read("note", 1)


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5_000, "x" * 300, "note/below", "missing/file"])
def test_a_path_that_is_none_is_told(folder, path):
    with pytest.raises(ToolFault):
        folder.read(path, MOST)


def test_a_write_makes_folders_keeps_the_mode_and_leaves_no_draft(folder, root):
    (root / "note").chmod(0o750)

    assert folder.write("a/b/c", b"new") is True
    assert folder.write("note", b"changed") is False

    assert (root / "a/b/c").read_bytes() == b"new"
    assert (root / "note").stat().st_mode & 0o777 == 0o750
    assert sorted(os.listdir(root)) == ["a", "note", "sub"]


def test_a_file_with_another_name_outside_is_replaced_and_not_written_into(folder, root, outside):
    os.link(outside / "secret", root / "hard")

    folder.write("hard", b"mine")

    assert (outside / "secret").read_text() == "secret"


def test_a_write_through_a_link_changes_the_file_and_keeps_the_link(folder, root):
    (root / "near").symlink_to("sub/deep")

    folder.write("near", b"changed")

    assert (root / "near").is_symlink()
    assert (root / "sub" / "deep").read_bytes() == b"changed"
