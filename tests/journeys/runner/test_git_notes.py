"""What a run says of the commits that were made in its workspace."""

import os
import subprocess

import pytest

from executions.runner.outcome import GitChange

pytestmark = pytest.mark.slow

COMMIT = "git -c user.name=Alice -c user.email=alice@example.org commit -q --allow-empty -m step"
NOTHING = GitChange(commits=0, added=0, removed=0)


@pytest.fixture
def repository(runner):
    subprocess.run(["git", "init", "-q", runner.workspace], check=True)
    return runner.workspace


@pytest.fixture
def lines(repository):
    """A repository with one commit of one file of three lines."""
    path = repository / "lines"
    path.write_text("1\n2\n3\n")
    subprocess.run(f"git add lines && {COMMIT}", shell=True, cwd=repository, check=True)
    return path


def test_commits_and_lines_of_the_run_are_counted(runner, lines):
    runner.start_shell(
        f"printf '1\\n3\\n4\\n5\\n' > lines; {COMMIT} -a; echo 6 >> lines; {COMMIT} -a; echo 7 >> lines",
        git=True,
    )

    assert runner.outcome().git == GitChange(commits=2, added=3, removed=1)


def test_a_run_that_commits_nothing_counts_nothing(runner, lines):
    runner.start_shell("echo 4 >> lines", git=True)

    assert runner.outcome().git == NOTHING


def test_the_first_commit_of_a_repository_counts(runner, repository):
    runner.start_shell(f"printf '1\\n2\\n' > lines; git add lines; {COMMIT}", git=True)

    assert runner.outcome().git == GitChange(commits=1, added=2, removed=0)


def test_a_folder_within_a_repository_counts(runner, lines):
    (lines.parent / "inner").mkdir()
    runner.start_shell(COMMIT, cwd=lines.parent / "inner", git=True)

    assert runner.outcome().git == GitChange(commits=1, added=0, removed=0)


def test_a_plain_folder_has_no_notes(runner):
    runner.start_shell(f"git init -q; {COMMIT}", git=True)

    assert runner.outcome().git is None


def test_nothing_is_looked_at_unless_asked_for(runner, lines):
    runner.start_shell(COMMIT)

    assert runner.outcome().git is None


def test_no_program_that_the_repository_names_is_run_for_the_notes(runner, lines, tmp_path):
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 >> {tmp_path}/sprung\n")
    trap.chmod(0o755)
    (lines.parent / ".gitattributes").write_text("* diff=trap filter=trap\n")
    settings = ["core.fsmonitor", "core.pager", "diff.external", "diff.trap.command", "diff.trap.textconv"]
    setup = "".join(f"git config {name} {trap}; " for name in settings)

    runner.start_shell(f"echo 4 >> lines; git add .; {COMMIT}; {setup} git config core.hooksPath {tmp_path}", git=True)

    assert runner.outcome().git == GitChange(commits=1, added=2, removed=0)
    assert not (tmp_path / "sprung").exists()


def test_a_git_that_hangs_neither_fails_nor_holds_up_a_run(runner, lines, tmp_path):
    (tmp_path / "bin").mkdir()
    hanging = tmp_path / "bin" / "git"
    hanging.write_text("#!/bin/sh\nsleep 60\n")
    hanging.chmod(0o755)

    runner.start_shell("echo ok", git=True, env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})

    outcome = runner.outcome()
    assert (outcome.exit_code, outcome.git) == (0, None)
    assert runner.stdout() == b"ok\n"


def test_without_git_there_are_no_notes(runner, lines):
    (runner.workspace / "program").write_text("#!/bin/sh\n")
    (runner.workspace / "program").chmod(0o755)

    runner.start("./program", git=True, env={"PATH": "/no/such/folder"})

    outcome = runner.outcome()
    assert (outcome.exit_code, outcome.git) == (0, None)
