"""What the tools of the model program answer, and how they take what a model gives them."""

import asyncio
from pathlib import Path

import pytest

from agents.runtimes.model_api.folder import Folder, ToolFault
from agents.runtimes.model_api.shell import KEPT_CHARACTERS, Shell
from agents.runtimes.model_api.tools import TOOLS, NotAllowed, Toolbox
from agents.runtimes.model_api.vocabulary import ToolName


@pytest.fixture
def use(tmp_path: Path):
    toolbox = Toolbox(tuple(ToolName), Folder(str(tmp_path)), Shell(str(tmp_path), {"PATH": "/usr/bin:/bin"}, 20))
    return lambda tool, **arguments: asyncio.run(toolbox.use(tool, arguments))[0]


def test_every_tool_tells_its_arguments_in_json_schema():
    assert set(TOOLS) == set(ToolName)
    for tool in TOOLS.values():
        schema = tool.schema()
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(part["type"] in ("string", "integer", "boolean") for part in schema["properties"].values())


def test_a_long_file_is_read_in_parts(use, tmp_path):
    (tmp_path / "long").write_text("".join(f"line {number}\n" for number in range(1, 5_001)))

    assert use("read", path="long").endswith("line 2000\n\n(lines 1 to 2,000 of 5,000; read on with first_line 2001)")
    assert use("read", path="long", first_line=4_999) == "line 4999\nline 5000\n"
    assert use("read", path="long", first_line="3", lines=2.0).startswith("line 3\nline 4\n\n(lines 3 to 4")
    with pytest.raises(ToolFault, match="5,000 lines"):
        use("read", path="long", first_line=5_001)


def test_an_endless_line_is_cut(use, tmp_path):
    (tmp_path / "line").write_text("x" * 200_000)

    assert "the line goes on: 200,000 characters" in use("read", path="line")


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xfe"])
def test_what_is_no_text_is_neither_read_nor_edited(use, tmp_path, content):
    (tmp_path / "binary").write_bytes(content)

    with pytest.raises(ToolFault, match="text"):
        use("read", path="binary")
    with pytest.raises(ToolFault, match="text"):
        use("edit", path="binary", old="a", new="b")


def test_an_edit_needs_one_place_unless_it_means_all(use, tmp_path):
    (tmp_path / "f").write_bytes(b"one\r\ntwo\r\none\r\n")

    with pytest.raises(ToolFault, match="2 times"):
        use("edit", path="f", old="one", new="1")
    assert use("edit", path="f", old="one", new="1", all=True) == "Replaced 2 passages in f."
    assert use("edit", path="f", old="1\r\ntwo", new="x") == "Replaced 1 passage in f."
    assert (tmp_path / "f").read_bytes() == b"x\r\n1\r\n"
    with pytest.raises(ToolFault, match="does not stand"):
        use("edit", path="f", old="nothing", new="1")
    with pytest.raises(ToolFault, match="empty"):
        use("edit", path="f", old="", new="1")
    with pytest.raises(ToolFault, match="the same"):
        use("edit", path="f", old="x", new="x")


def test_a_folder_is_listed_to_a_depth_with_what_each_is(use, tmp_path):
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "d.py").write_text("1")
    (tmp_path / "a.txt").write_text("12345")
    (tmp_path / "link").symlink_to("/etc")

    assert use("list") == "a.txt (5 bytes)\nb/\nlink -> /etc"
    assert use("list", path="b", depth=5) == "c/\nc/d.py (1 bytes)"
    assert use("list", depth=5, pattern="*.py") == "b/c/d.py (1 bytes)"
    assert use("list", pattern="*.zip") == "(nothing)"
    with pytest.raises(ToolFault, match="outside"):
        use("list", path="link")
    with pytest.raises(ToolFault, match="no folder"):
        use("list", path="a.txt")


def test_grep_finds_lines_follows_no_link_and_says_what_it_left_out(use, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "x.py").write_text("needle outside")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("first\nNeedle here\n")
    (tmp_path / "src" / "b.txt").write_text("needle too\n")
    (tmp_path / "src" / "binary").write_bytes(b"\0needle")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x").write_text("needle of git")
    (tmp_path / "linked").symlink_to(outside)
    (tmp_path / "x.py").symlink_to(outside / "x.py")

    assert use("grep", pattern="needle") == "src/b.txt:1: needle too"
    assert use("grep", pattern="needle", ignore_case=True, glob="*.py") == "src/a.py:2: Needle here"
    assert use("grep", pattern="^need", path="src/b.txt") == "src/b.txt:1: needle too"
    assert use("grep", pattern="N.*h", path="src") == "src/a.py:2: Needle here"
    assert use("grep", pattern="nowhere") == "(no match)"
    with pytest.raises(ToolFault, match="regular expression"):
        use("grep", pattern="(")
    (tmp_path / "many").write_text("needle\n" * 1_000)
    assert use("grep", pattern="needle", path="many").endswith("(stopped after 200 matches)")


def test_a_pattern_that_would_take_for_ever_elsewhere_takes_no_time(use, tmp_path):
    (tmp_path / "a").write_text("a" * 50_000)

    assert use("grep", pattern="(a+)+$b") == "(no match)"


def test_the_shell_tells_both_outputs_its_exit_code_and_keeps_both_ends(use):
    assert use("shell", command="echo out; echo err >&2; exit 3") == "out\nerr\n\n(exit code 3)"
    assert use("shell", command="kill -9 $$") == "(no output)\n(killed by signal 9)"
    assert use("shell", command="cat") == "(no output)"
    long = use("shell", command="echo begin; yes | head -c 5000000; echo end")
    assert len(long) < KEPT_CHARACTERS + 200
    assert long.startswith("begin\n")
    assert long.endswith("end\n")
    assert "left out here" in long


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("read", {}, "path is required"),
        ("read", {"path": 3}, "must be a string"),
        ("read", {"path": "x", "first_line": 0}, "above 0"),
        ("read", {"path": "x", "lines": True}, "whole number"),
        ("read", {"path": "x", "line": 1}, "Did you mean lines"),
        ("shell", {"command": "a\0b"}, "NUL"),
        ("write", {"path": "x", "content": "\ud800"}, "surrogate"),
    ],
)
def test_arguments_that_are_wrong_are_told(use, tool, arguments, sentence):
    with pytest.raises(ToolFault, match=sentence):
        use(tool, **arguments)


def test_arguments_that_are_null_are_left_out(use, tmp_path):
    (tmp_path / "a").write_text("x")

    assert use("read", path="a", first_line=None) == "x"


def test_a_tool_that_is_not_allowed_is_told_from_one_that_does_not_exist(tmp_path):
    toolbox = Toolbox((ToolName.READ,), Folder(str(tmp_path)), Shell(str(tmp_path), {}, 1))

    with pytest.raises(NotAllowed, match="Allowed: read"):
        asyncio.run(toolbox.use("shell", {"command": "true"}))
    with pytest.raises(ToolFault, match="There is no tool"):
        asyncio.run(toolbox.use("Bash", {}))
