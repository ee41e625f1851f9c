"""Reads what the programs of agents tell of their logins; starts none of them and keeps no secret."""

import base64
import binascii
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trinity.kernel.text import clean

NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Login:
    """Who a program is logged in as, in a few words. Whether the login still holds only a call can tell."""

    words: str
    usable: bool = True


def claude_login(said: str) -> Login:
    """What `claude auth status` says; a version that cannot tell may still be logged in."""
    told = _object_in(said)
    if told is None or not isinstance(told.get("loggedIn"), bool):
        return Login("unknown: this version does not tell who is logged in")
    if not told["loggedIn"]:
        return Login("nobody is logged in", usable=False)
    if source := _word(told.get("apiKeySource")):
        return Login(f"an API key ({source})")
    who = _word(told.get("email"))
    plan = _word(told.get("subscriptionType"))
    if who:
        return Login(f"{who}, Claude {plan}" if plan else who)
    return Login(_word(told.get("authMethod")).replace("_", " ") or "logged in")


def codex_login(said: str, env: Mapping[str, str], *, ended_well: bool) -> Login:
    """What `codex login status` says, and whose login lies in its folder. A key's variable outranks both."""
    provider = codex_provider(env)
    if provider is not None:
        return provider
    if env.get("CODEX_API_KEY"):
        return Login("an API key (CODEX_API_KEY)")
    if not ended_well:
        return Login("nobody is logged in", usable=False)
    who = _owner_of_codex(env)
    if who:
        return Login(who)
    return Login("an API key (codex login)" if "API key" in said else "logged in")


def codex_provider(env: Mapping[str, str]) -> Login | None:
    """A model service of one's own in Codex's configuration, which has no login; None for the usual one."""
    settings = _codex_settings(env)
    name = _word(settings.get("model_provider"))
    if not name or name == "openai":
        return None
    key = _key_of_provider(settings, name)
    if key and not env.get(key):
        return Login(f"the model service {name!r} of its configuration needs the variable {key}", usable=False)
    return Login(f"the model service {name!r} of its configuration" + (f" ({key})" if key else ""))


def codex_key_names(environ: Mapping[str, str]) -> list[str]:
    """The variables that hold keys of the model services in Codex's configuration."""
    settings = _codex_settings(environ)
    key = _key_of_provider(settings, _word(settings.get("model_provider")))
    return [key] if key else []


def _key_of_provider(settings: Mapping[str, Any], name: str) -> str:
    providers = settings.get("model_providers")
    provider = providers.get(name) if isinstance(providers, dict) else None
    return _word(provider.get("env_key")) if isinstance(provider, dict) else ""


def _codex_home(env: Mapping[str, str]) -> Path:
    named = env.get("CODEX_HOME")
    return Path(named) if named else Path(env.get("HOME") or Path.home()) / ".codex"


def _codex_settings(env: Mapping[str, str]) -> dict[str, Any]:
    try:
        return tomllib.loads((_codex_home(env) / "config.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none, or one that Codex itself will complain of
        return {}


def _owner_of_codex(env: Mapping[str, str]) -> str:
    """The address in the login's identity token: its middle part says who somebody is, and opens nothing."""
    try:
        kept = json.loads((_codex_home(env) / "auth.json").read_text(encoding="utf-8"))
        middle = kept["tokens"]["id_token"].split(".")[1]
        told = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, binascii.Error):
        return ""
    who = _word(told.get("email")) if isinstance(told, dict) else ""
    claims = told.get("https://api.openai.com/auth") if isinstance(told, dict) else None
    plan = _word(claims.get("chatgpt_plan_type")) if isinstance(claims, dict) else ""
    return f"{who}, ChatGPT {plan}" if who and plan else who


def _object_in(said: str) -> dict[str, Any] | None:
    """The JSON object in an answer that may begin with warnings."""
    begin = said.find("{")
    try:
        told, _ = json.JSONDecoder().raw_decode(said[begin:]) if begin >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _word(value: object) -> str:
    return clean(value.strip(), NAME_CHARACTERS) if isinstance(value, str) else ""
