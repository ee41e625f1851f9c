"""What can be known before an agent is made is refused before, each with its remedy."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.services import create_agent
from executions.adding import plans
from executions.adding.plans import Asked, Plan, as_typed, plan_for
from trinity.kernel.errors import Refused

from .conftest import Machine

pytestmark = pytest.mark.django_db


def plan(machine: Machine, folder: Path | str, kind: str = "claude", **asked: Any) -> Plan:
    return plan_for(Asked(kind=kind, folder=str(folder), **asked), environ=machine.environ)


def refusal(machine: Machine, folder: Path | str, kind: str = "claude", **asked: Any) -> dict[str, list[str]]:
    with pytest.raises(Refused) as refused:
        plan(machine, folder, kind, **asked)
    return refused.value.errors


def test_the_agent_works_in_the_folder_with_the_operators_home_and_one_slot(
    machine: Machine, repo: Path, admin_user: Any
) -> None:
    path = machine.claude()

    agent = create_agent(Viewer(user=admin_user), plan(machine, repo).given)

    assert (agent.name, agent.runtime, agent.workspace) == ("my-repo", "claude-code", str(repo))
    assert agent.max_parallel_tasks == 1
    assert agent.runtime_settings["home"] == "operator"
    assert agent.runtime_settings["program"] == str(path)
    assert agent.runtime_settings["permission_mode"] == "acceptEdits"


def test_codex_gets_a_sandbox_that_may_write_its_folder(machine: Machine, repo: Path) -> None:
    machine.codex()

    given = plan(machine, repo, "codex").given

    assert (given["runtime"], given["runtime_settings"]["sandbox"]) == ("codex", "workspace-write")


def test_a_command_is_kept_with_its_arguments_and_the_path_of_its_program(machine: Machine, repo: Path) -> None:
    path = machine.program("reporter", "cat")

    given = plan(machine, repo, "command", argv=("reporter", "--short", "a b")).given

    assert given["runtime_settings"]["argv"] == [str(path), "--short", "a b"]


def test_a_command_with_a_slash_is_meant_from_its_folder(machine: Machine, repo: Path) -> None:
    (repo / "run.sh").write_text("#!/bin/sh\n")
    (repo / "run.sh").chmod(0o755)

    assert plan(machine, repo, "command", argv=("./run.sh",)).given["runtime_settings"]["argv"] == [
        str(repo / "run.sh")
    ]
    assert "no program ./none.sh" in refusal(machine, repo, "command", argv=("./none.sh",))["argv"][0]


def test_a_program_that_is_not_there_is_refused_before_a_name_is_used_up(machine: Machine, repo: Path) -> None:
    assert "npm install -g" in refusal(machine, repo)["kind"][0]
    assert "/nowhere/claude" in refusal(machine, repo, program="/nowhere/claude")["program"][0]
    assert "no program nonesuch" in refusal(machine, repo, "command", argv=("nonesuch",))["argv"][0]
    assert refusal(machine, repo, "command")["argv"]


def test_nobody_logged_in_is_refused_unless_no_call_is_made(machine: Machine, repo: Path) -> None:
    machine.claude(status='{"loggedIn": false}')

    assert "nobody is logged in" in refusal(machine, repo)["kind"][0]
    assert plan(machine, repo, without_login=True).given["name"] == "my-repo"


@pytest.mark.parametrize(
    "typed", ["", "  ", "nowhere", "/nowhere/at/all", "~nobody-of-this-name/x", "x" * 5000, "a\0b"]
)
def test_a_folder_that_is_not_there_is_refused(machine: Machine, repo: Path, typed: str) -> None:
    machine.claude()

    assert refusal(machine, typed)["folder"]


def test_a_file_is_no_folder(machine: Machine, repo: Path) -> None:
    machine.claude()
    (repo / "notes.txt").write_text("x")

    assert "is a file" in refusal(machine, repo / "notes.txt")["folder"][0]


def test_a_folder_that_is_not_ours_is_refused_with_its_owner(
    machine: Machine, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.claude()
    monkeypatch.setattr("executions.adding.folders.os.access", lambda *_: False)

    assert "may not write there" in refusal(machine, repo)["folder"][0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_work_tree_in_which_git_would_refuse_to_work_is_refused_with_the_remedy(machine: Machine, repo: Path) -> None:
    machine.claude()
    os.chown(repo, 65534, 65534)

    said = refusal(machine, repo)["folder"][0]

    assert f"git config --global --add safe.directory {repo}" in said


def test_trinitys_own_data_are_no_workspace(machine: Machine, repo: Path, settings: Any) -> None:
    machine.claude()
    (Path(settings.TRINITY_HOME) / "spool").mkdir(exist_ok=True)

    assert "keeps its own data" in refusal(machine, settings.TRINITY_HOME)["folder"][0]
    assert "keeps its own data" in refusal(machine, Path(settings.TRINITY_HOME) / "spool")["folder"][0]


def test_a_relative_folder_is_meant_from_where_the_caller_stands(machine: Machine, repo: Path) -> None:
    machine.claude()

    found = plan_for(Asked(kind="claude", folder="My Repo"), beside=repo.parent, environ=machine.environ)

    assert found.given["workspace"] == str(repo)


def test_what_git_says_stands_among_the_facts(machine: Machine, repo: Path, tmp_path: Path) -> None:
    machine.claude()
    bare = tmp_path / "bare"
    bare.mkdir()

    assert dict(plan(machine, repo).facts)["git"] == "a git work tree, on trunk"
    assert dict(plan(machine, bare).facts)["git"] == "no git work tree"
    assert any("git init" in remark for remark in plan(machine, bare).remarks)


def test_the_name_comes_from_the_folder_and_is_never_one_that_was_used(
    machine: Machine, repo: Path, make_agent: Any, tmp_path: Path
) -> None:
    machine.claude()
    make_agent("my-repo")
    odd = tmp_path / "…"
    odd.mkdir()

    assert plan(machine, repo).given["name"] == "my-repo-2"
    assert plan(machine, odd).given["name"] == "agent"


def test_the_same_program_on_the_same_folder_is_the_agent_that_is_there(
    machine: Machine, repo: Path, admin_user: Any
) -> None:
    machine.claude()
    machine.codex()
    first = create_agent(Viewer(user=admin_user), plan(machine, repo).given)

    assert plan(machine, repo).existing == first
    other = plan(machine, repo, "codex")
    assert other.existing is None
    assert any("my-repo works in this folder too" in remark for remark in other.remarks)


def test_root_may_not_let_claude_do_everything(machine: Machine, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.claude()
    monkeypatch.setattr(plans.os, "geteuid", lambda: 0)
    assert "refuses bypassPermissions to root" in refusal(machine, repo, permission_mode="bypassPermissions")[
        "permission_mode"
    ][0]  # fmt: skip

    monkeypatch.setattr(plans, "_as_bare_root", lambda: False)
    assert plan(machine, repo, permission_mode="bypassPermissions")


def test_variables_are_named_and_must_be_set(machine: Machine, repo: Path) -> None:
    machine.claude()
    machine.environ["GH_TOKEN"] = "x"

    assert plan(machine, repo, env=("GH_TOKEN",)).given["runtime_settings"]["env"] == ["GH_TOKEN"]
    assert "NO_SUCH: not set here" in refusal(machine, repo, env=("GH_TOKEN", "NO_SUCH"))["env"][0]


def test_an_old_version_is_remarked(machine: Machine, repo: Path) -> None:
    machine.claude(version="1.9.99")
    assert any("2.1.197 and later" in remark for remark in plan(machine, repo).remarks)

    machine.claude(version="2.10.0")
    assert not any("and later" in remark for remark in plan(machine, repo).remarks)


def test_a_refused_setting_is_named_as_it_was_typed(machine: Machine, repo: Path, admin_user: Any) -> None:
    machine.claude()
    planned = plan(machine, repo, approved_tools=("Bash(git *), Read",))

    with pytest.raises(Refused) as refused:
        create_agent(Viewer(user=admin_user), planned.given)

    assert list(as_typed(refused.value).errors) == ["approved_tools"]


def test_an_agent_that_is_archived_is_not_taken_for_the_new_one(machine: Machine, repo: Path, admin_user: Any) -> None:
    from agents.services import archive_agent

    machine.claude()
    viewer = Viewer(user=admin_user)
    archive_agent(viewer, create_agent(viewer, plan(machine, repo).given))

    assert plan(machine, repo).existing is None
    assert replace(plan(machine, repo)).given["name"] == "my-repo-2"
