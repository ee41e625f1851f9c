"""What is found on a machine, and each missing thing with its remedy."""

from pathlib import Path

import pytest

from executions.adding.machine import CLAUDE, CODEX, Found, look_around, look_for

from .conftest import Machine

NOBODY = '{"loggedIn": false, "authMethod": "none"}'


def look(machine: Machine, known: object = CLAUDE, **more: str) -> Found:
    return look_for(known, machine.environ | more)


def test_a_program_that_is_ready_tells_its_version_and_its_login(machine: Machine) -> None:
    path = machine.claude()

    found = look(machine)

    assert (found.path, found.version, found.ready) == (str(path), "2.1.332", True)
    assert found.login.words == "alice@example.com, Claude max"


def test_a_program_that_is_not_here_is_named_with_what_brings_it(machine: Machine) -> None:
    claude, codex = look_around(machine.environ)

    assert not claude.here
    assert claude.missing == (
        "Claude Code is not on this machine. Install it: npm install -g @anthropic-ai/claude-code — then log in once:"
        " claude auth login"
    )
    assert "npm install -g @openai/codex" in codex.missing


@pytest.mark.parametrize("where", [".local/bin", ".claude/local", ".nvm/versions/node/v22.1.0/bin"])
def test_a_program_is_found_where_installers_put_it(machine: Machine, where: str) -> None:
    path = machine.claude(where=where)

    assert look(machine).path == str(path)


def test_a_link_stays_a_link_since_an_update_moves_what_it_leads_to(machine: Machine, tmp_path: Path) -> None:
    real = machine.claude(where="versions/2.1.332")
    link = machine.bin / "claude"
    link.symlink_to(real)

    assert look(machine).path == str(link)


def test_nobody_logged_in_is_named_with_its_remedy(machine: Machine) -> None:
    machine.claude(status=NOBODY)

    found = look(machine)

    assert (found.here, found.ready) == (True, False)
    assert "claude auth login" in found.missing
    assert "ANTHROPIC_API_KEY" in found.missing


def test_a_program_that_does_not_run_is_named_with_its_last_words(machine: Machine) -> None:
    machine.program("claude", "echo cannot load libfoo.so >&2; exit 127")

    found = look(machine)

    assert not found.ready
    assert "cannot load libfoo.so" in found.missing


def test_a_program_that_does_not_answer_holds_nobody_up(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("executions.adding.machine.ANSWER_SECONDS", 0.2)
    machine.program("claude", "exec sleep 60")

    assert "does not run" in look(machine).missing


def test_variables_that_lead_to_the_account_are_passed_on_by_name_and_never_by_value(machine: Machine) -> None:
    machine.claude(status=NOBODY)
    seen = machine.program(
        "claude",
        'case "$1" in --version) echo 2.1.332;; '
        """auth) printf '{"loggedIn": true, "email": "%s"}' "$ANTHROPIC_API_KEY";; esac""",
    )

    found = look(machine, ANTHROPIC_API_KEY="sk-secret", SECRET_KEY="the server's", ANTHROPIC_BASE_URL="")

    assert seen.exists()
    assert found.variables == ("ANTHROPIC_API_KEY",)
    assert found.login.words == "sk-secret", "the program was asked as it will be called"


def test_the_servers_secrets_are_not_shown_to_the_program(machine: Machine) -> None:
    machine.program("claude", 'case "$1" in --version) echo "2.1.332 $SECRET_KEY";; auth) env;; esac')

    found = look(machine, SECRET_KEY="the-secret", DATABASE_URL="postgresql://precious")

    assert "secret" not in repr(found)


def test_codex_with_a_model_service_of_its_own_gets_the_key_of_that(machine: Machine) -> None:
    machine.codex(said="Not logged in", code=1)
    (machine.home / ".codex").mkdir()
    (machine.home / ".codex" / "config.toml").write_text(
        'model_provider = "ours"\n[model_providers.ours]\nenv_key = "OUR_KEY"\n'
    )

    assert not look(machine, CODEX).ready
    found = look(machine, CODEX, OUR_KEY="x")
    assert (found.ready, found.variables) == (True, ("OUR_KEY",))
