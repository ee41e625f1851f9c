"""Who a program is logged in as, read off what the real ones say of it."""

import base64
import json
from pathlib import Path

import pytest

from executions.adding.logins import claude_login, codex_key_names, codex_login

NOBODY = '{\n  "loggedIn": false,\n  "authMethod": "none",\n  "apiProvider": "firstParty"\n}\n'
BY_KEY = '{"loggedIn": true, "authMethod": "api_key", "apiKeySource": "ANTHROPIC_API_KEY"}'
BY_LOGIN = '{"loggedIn": true, "authMethod": "claude.ai", "email": "alice@example.com", "subscriptionType": "max"}'
BY_TOKEN = '{"loggedIn": true, "authMethod": "oauth_token", "apiProvider": "firstParty"}'
WARNING = "WARNING: proceeding, even though a folder could not be made\n"


@pytest.mark.parametrize(
    ("said", "words", "usable"),
    [
        (NOBODY, "nobody is logged in", False),
        (BY_KEY, "an API key (ANTHROPIC_API_KEY)", True),
        (BY_LOGIN, "alice@example.com, Claude max", True),
        (BY_TOKEN, "oauth token", True),
        (WARNING + BY_LOGIN, "alice@example.com, Claude max", True),
    ],
)
def test_claude_tells_who_is_logged_in(said: str, words: str, usable: bool) -> None:
    login = claude_login(said)

    assert (login.words, login.usable) == (words, usable)


@pytest.mark.parametrize("said", ["error: unknown command 'auth'", "", "{", "[1]", '{"loggedIn": "yes"}', "{" * 5000])
def test_a_version_that_cannot_tell_may_still_be_logged_in(said: str) -> None:
    login = claude_login(said)

    assert login.usable
    assert login.words.startswith("unknown")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".codex").mkdir()
    return tmp_path


def codex(home: Path, said: str, *, ended_well: bool = True, **env: str) -> tuple[str, bool]:
    login = codex_login(said, {"HOME": str(home), **env}, ended_well=ended_well)
    return login.words, login.usable


def sign_in(home: Path, claims: object) -> None:
    middle = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    kept = {"tokens": {"id_token": f"x.{middle}.y"}}
    (home / ".codex" / "auth.json").write_text(json.dumps(kept))


def configure(home: Path, text: str) -> None:
    (home / ".codex" / "config.toml").write_text(text)


def test_codex_tells_that_nobody_is_logged_in(home: Path) -> None:
    assert codex(home, WARNING + "Not logged in", ended_well=False) == ("nobody is logged in", False)


def test_codex_tells_whose_login_lies_in_its_folder(home: Path) -> None:
    sign_in(home, {"email": "alice@example.com", "https://api.openai.com/auth": {"chatgpt_plan_type": "plus"}})

    assert codex(home, "Logged in using ChatGPT") == ("alice@example.com, ChatGPT plus", True)


def test_the_login_of_codex_is_looked_for_where_its_variable_says(home: Path, tmp_path: Path) -> None:
    sign_in(home, {"email": "alice@example.com"})

    assert codex(tmp_path / "elsewhere", "Logged in", CODEX_HOME=str(home / ".codex"))[0] == "alice@example.com"


@pytest.mark.parametrize("kept", ["", "[]", "{}", '{"tokens": null}', '{"tokens": {"id_token": "x"}}', '{"tokens": 1}'])
def test_a_login_file_that_cannot_be_read_tells_no_name(home: Path, kept: str) -> None:
    (home / ".codex" / "auth.json").write_text(kept)

    assert codex(home, "Logged in using ChatGPT") == ("logged in", True)


@pytest.mark.parametrize("claims", [[], "x", {"email": 7}, {"https://api.openai.com/auth": 3}])
def test_an_odd_identity_tells_no_name(home: Path, claims: object) -> None:
    sign_in(home, claims)

    assert codex(home, "Logged in using an API key") == ("an API key (codex login)", True)


def test_a_key_of_codex_outranks_its_login(home: Path) -> None:
    assert codex(home, "Not logged in", ended_well=False, CODEX_API_KEY="sk-test") == (
        "an API key (CODEX_API_KEY)",
        True,
    )


def test_a_model_service_of_ones_own_needs_no_login_but_its_key(home: Path) -> None:
    configure(home, 'model_provider = "ours"\n[model_providers.ours]\nenv_key = "OUR_KEY"\n')

    assert codex(home, "Not logged in", ended_well=False) == (
        "the model service 'ours' of its configuration needs the variable OUR_KEY",
        False,
    )
    assert codex(home, "Not logged in", ended_well=False, OUR_KEY="x")[1]
    assert codex_key_names({"HOME": str(home)}) == ["OUR_KEY"]


@pytest.mark.parametrize(
    "text", ["= no toml", "model_provider = 7", "model_providers = 3\nmodel_provider = 'openai'", ""]
)
def test_an_odd_configuration_of_codex_counts_as_none(home: Path, text: str) -> None:
    configure(home, text)

    assert codex(home, "Not logged in", ended_well=False) == ("nobody is logged in", False)
    assert codex_key_names({"HOME": str(home)}) == []
