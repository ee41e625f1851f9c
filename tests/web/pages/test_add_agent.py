"""The page Add your agent: what is there is filled in, what is missing is named, and the check call is told of."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from agents.runtimes.base import Ending, ErrorKind, Outcome
from executions.adding.check_call import PROMPT
from executions.models import Execution
from executions.services import settle, take
from tests.conftest import StillClock
from tests.engine import WORKER, again, model_away, success
from tests.web.pages.conftest import text_of

PAGE = "/add-agent/"


@pytest.fixture
def as_admin(browser_of: Any, admin_user: Any) -> Client:
    return browser_of(admin_user)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a Claude Code that is logged in, and no Codex."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = folder / "claude"
    path.write_text(
        '#!/bin/sh\ncase "$1" in --version) echo 2.1.332;; '
        """auth) echo '{"loggedIn": true, "email": "alice@example.com"}';; esac\n"""
    )
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CODEX_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "my-repo"
    folder.mkdir()
    return folder


@pytest.fixture
def added(as_admin: Client, program: Path, repo: Path, still_clock: StillClock) -> str:
    """The address of the page to which a sent form leads."""
    response = as_admin.post(PAGE, {"kind": "claude", "folder": str(repo), "permission_mode": "acceptEdits"})
    assert response.status_code == 302, text_of(response)
    return str(response["Location"])


def test_what_is_on_the_machine_is_filled_in_and_what_is_not_is_named(as_admin: Client, program: Path) -> None:
    page = text_of(as_admin.get(PAGE))

    assert str(program) in page
    assert "2.1.332" in page
    assert "alice@example.com" in page
    assert "Codex is not on this machine. Install it: npm install -g @openai/codex" in page


def test_the_first_program_that_is_ready_is_chosen(as_admin: Client, program: Path) -> None:
    assert as_admin.get(PAGE).context["form"].initial["kind"] == "claude"

    program.unlink()
    assert as_admin.get(PAGE).context["form"].initial["kind"] == "command"


def test_a_sent_form_makes_the_agent_and_queues_its_check_call_without_waiting(as_admin: Client, added: str) -> None:
    agent = Agent.objects.get(name="my-repo")
    execution = Execution.objects.get(agent=agent)

    assert added == f"/add-agent/{execution.pk}/"
    assert (execution.prompt, execution.status, execution.trigger) == (PROMPT, "queued", "api")
    assert (agent.max_parallel_tasks, agent.runtime_settings["home"]) == (1, "operator")


def test_sent_again_it_calls_the_same_agent_once_more(as_admin: Client, added: str, repo: Path) -> None:
    again_added = as_admin.post(PAGE, {"kind": "claude", "folder": str(repo), "permission_mode": "acceptEdits"})

    assert again_added["Location"] != added
    assert Agent.objects.count() == 1


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({"folder": "/nowhere/at/all"}, "folder", "There is no folder at /nowhere/at/all."),
        ({"folder": ""}, "folder", "Must name a folder"),
        ({"kind": "codex"}, "kind", "npm install -g @openai/codex"),
        ({"kind": "emacs"}, "kind", "Must be one of claude, codex, command."),
        ({"name": "Bad Name"}, "name", "lower-case letters"),
        ({"permission_mode": "whatever"}, "permission_mode", "Must be one of"),
        ({"kind": "command", "argv": ""}, "argv", "Must name a program"),
        ({"kind": "command", "argv": "nonesuch --now"}, "argv", "no program nonesuch"),
        ({"kind": "command", "argv": "cat 'open"}, "argv", "No closing quotation"),
        ({"kind": "command", "argv": "cat", "output": "xml"}, "output", "Must be one of"),
    ],
)
def test_what_is_missing_or_odd_stands_at_its_field_and_nothing_is_made(
    as_admin: Client, program: Path, repo: Path, typed: dict[str, str], field: str, said: str
) -> None:
    usual = {"kind": "claude", "folder": str(repo), "permission_mode": "acceptEdits"}

    response = as_admin.post(PAGE, usual | typed)

    assert response.status_code == 400
    assert any(said in sentence for sentence in response.context["form"].errors[field])
    assert not Agent.objects.exists()
    for name in typed.keys() - {"kind", "permission_mode", "output"}:
        assert response.context["form"][name].value() == typed[name], "what was typed stays"


def test_rules_are_separated_by_commas_outside_of_parentheses(as_admin: Client, program: Path, repo: Path) -> None:
    rules = "Bash(git *), Read ,, WebFetch"

    as_admin.post(PAGE, {"kind": "claude", "folder": str(repo), "permission_mode": "plan", "approved_tools": rules})

    assert Agent.objects.get().runtime_settings["approved_tools"] == ["Bash(git *)", "Read", "WebFetch"]


def test_a_command_line_is_read_as_words_and_never_by_a_shell(as_admin: Client, program: Path, repo: Path) -> None:
    as_admin.post(PAGE, {"kind": "command", "folder": str(repo), "argv": "cat 'a b' $HOME; ls", "output": "text"})

    assert Agent.objects.get().runtime_settings["argv"][1:] == ["a b", "$HOME;", "ls"]


def test_the_check_asks_for_itself_until_it_has_ended(as_admin: Client, added: str) -> None:
    assert "every 1s" in text_of(as_admin.get(added))
    card = added + "card/"
    execution = take(Agent.objects.get().pk, WORKER)
    assert "called" in text_of(as_admin.get(card))

    settle(execution, replace(success("ready", 0.03), model="some-model"))

    page = text_of(as_admin.get(card))
    assert "every 1s" not in page
    for said in ("it works", "ready", "some-model", "$0.03", "/agents/my-repo/loops/"):
        assert said in page


def test_the_page_says_who_the_agent_is_logged_in_as(as_admin: Client, added: str) -> None:
    assert "alice@example.com" in text_of(as_admin.get(added))


def test_a_check_that_failed_says_why_and_what_to_do(as_admin: Client, added: str) -> None:
    Agent.objects.update(runtime_settings=Agent.objects.get().runtime_settings | {"env": ["ANTHROPIC_API_KEY"]})
    outcome = Outcome(Ending.FAILED, error_kind=ErrorKind.AUTH, error="The login was not accepted. Log in again.")

    settle(take(Agent.objects.get().pk, WORKER), outcome)

    page = text_of(as_admin.get(added))
    assert "it does not work yet" in page
    assert "Log in again. It gets ANTHROPIC_API_KEY from the server: is it set there?" in page


def test_a_check_whose_model_is_away_says_until_when_and_may_be_left_alone(as_admin: Client, added: str) -> None:
    settle(take(Agent.objects.get().pk, WORKER), model_away())

    page = text_of(as_admin.get(added))

    assert "Waiting for the model until 12:01 UTC." in page
    assert "This may take long." in page


def test_an_execution_that_is_no_check_has_no_such_page(as_admin: Client, added: str) -> None:
    Execution.objects.update(prompt="Deploy")

    assert as_admin.get(added).status_code == 404


def test_the_dashboard_leads_an_admin_there_and_nobody_else(as_admin: Client, as_alice: Client) -> None:
    assert PAGE in text_of(as_admin.get("/"))
    assert PAGE not in text_of(as_alice.get("/"))


def test_what_an_agent_says_is_no_markup_of_the_page(as_admin: Client, added: str) -> None:
    execution = take(Agent.objects.get().pk, WORKER)
    settle(execution, success("<script>alert(1)</script>"))

    assert again(execution).status == "completed"
    assert "<script>alert(1)" not in as_admin.get(added).content.decode()
