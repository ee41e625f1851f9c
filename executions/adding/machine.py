"""Looks at the machine for the programs of agents: where they are, which version, who is logged in.

It asks the programs themselves and calls no model; it installs nothing, logs nobody in, and reads no secret.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from agents.models import Agent
from agents.runtimes.registry import RuntimeName
from executions.adding.logins import Login, claude_login, codex_key_names, codex_login
from executions.worker.environment import ALLOWED, ALLOWED_PREFIXES
from trinity.kernel.text import clean, first_line

ANSWER_SECONDS = 8.0  # a program that takes longer to tell its version is not well
# Where installers put programs that a server's own PATH may not name.
USUAL_PLACES = (
    ".local/bin",
    ".claude/local",
    ".npm-global/bin",
    ".bun/bin",
    ".volta/bin",
    "node_modules/.bin",
    ".nvm/versions/node/*/bin",
)
_VERSION = re.compile(r"\d+\.\d+\.\d+[\w.-]*")


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """What is known of an agent's program beforehand."""

    runtime: RuntimeName
    title: str
    program: str
    install: str  # the command that brings it
    log_in: str
    key: str  # the variable that holds a key instead of a login
    tried_with: str  # the oldest version that our tests run
    variables: tuple[str, ...]  # that lead it to its account and its model, or through a proxy


_NETWORK = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS")
CLAUDE = KnownProgram(
    runtime=RuntimeName.CLAUDE_CODE,
    title="Claude Code",
    program="claude",
    install="npm install -g @anthropic-ai/claude-code",
    log_in="claude auth login",
    key="ANTHROPIC_API_KEY",
    tried_with="2.1.197",
    variables=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_MAX_RETRIES",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CONFIG_DIR",
        "ANTHROPIC_VERTEX_PROJECT_ID",
        "CLOUD_ML_REGION",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "AWS_PROFILE",
        "AWS_REGION",
        *_NETWORK,
    ),
)
CODEX = KnownProgram(
    runtime=RuntimeName.CODEX,
    title="Codex",
    program="codex",
    install="npm install -g @openai/codex",
    log_in="codex login",
    key="CODEX_API_KEY",
    tried_with="0.171.0",
    variables=("CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME", *_NETWORK),
)
KNOWN: dict[RuntimeName, KnownProgram] = {one.runtime: one for one in (CLAUDE, CODEX)}


@dataclass(frozen=True, slots=True)
class Found:
    """One known program as it is on this machine."""

    known: KnownProgram
    path: str = ""  # blank: it is not here
    version: str = ""
    login: Login | None = None
    variables: tuple[str, ...] = ()  # set here; an agent gets them by name
    missing: str = ""  # a sentence: what is wrong, and its remedy

    @property
    def here(self) -> bool:
        return bool(self.path)

    @property
    def ready(self) -> bool:
        return self.here and not self.missing


def look_around(environ: Mapping[str, str] | None = None) -> list[Found]:
    """All known programs, asked side by side; takes as long as the slowest one, at most some seconds."""
    around = os.environ if environ is None else environ
    with ThreadPoolExecutor(len(KNOWN)) as threads:
        return list(threads.map(lambda known: look_for(known, around), KNOWN.values()))


def look_for(known: KnownProgram, environ: Mapping[str, str], *, program: str = "") -> Found:
    """One program: on the PATH, in the usual places, or where `program` says."""
    path = find_program(program or known.program, environ)
    if path is None:
        return Found(known, missing=_not_here(known, program))
    variables = tuple(name for name in _variables_of(known, environ) if environ.get(name))
    seen = environment_for(variables, environ)
    said = ask([path, "--version"], seen)
    version = _VERSION.search(said.text)
    if said.code != 0 or version is None:
        told = first_line(said.text) or "it did not answer"
        return Found(known, path, missing=f"{path} does not run: {told}. Install it again: {known.install}")
    login = _login_of(known, path, seen)
    missing = "" if login.usable else _nobody(known, login)
    return Found(known, path, version[0], login, variables, missing)


def program_of(agent: Agent) -> Found | None:
    """The program of an agent as it is on this machine; None for a runtime that is not known beforehand."""
    known = KNOWN.get(RuntimeName(agent.runtime))
    return look_for(known, os.environ, program=agent.runtime_settings["program"]) if known is not None else None


def find_program(name: str, environ: Mapping[str, str]) -> str | None:
    """The absolute path of a program; links stay, since an update moves what they lead to."""
    if "/" in name:
        path = Path(name).expanduser().absolute()
        return str(path) if os.access(path, os.X_OK) and path.is_file() else None
    home = Path(environ.get("HOME") or Path.home())
    places = [str(folder) for place in USUAL_PLACES for folder in sorted(home.glob(place), reverse=True)]
    for folders in (environ.get("PATH", os.defpath), os.pathsep.join([*places, "/usr/local/bin", "/opt/homebrew/bin"])):
        if found := shutil.which(name, path=folders):
            return str(Path(found).absolute())
    return None


def environment_for(variables: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """What a program is asked in: as it will be called, with the operator's home and variables passed on by name."""
    passed = {name: text for name, text in environ.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)}
    named = {name: environ[name] for name in variables if name in environ}
    return {"PATH": os.defpath, **passed, "HOME": str(Path.home()), **named}


@dataclass(frozen=True, slots=True)
class Said:
    """What a program answered; `code` is None when it did not end in time or could not be started."""

    code: int | None
    text: str


def ask(argv: Sequence[str], env: Mapping[str, str], *, folder: str | None = None) -> Said:
    """Run a short command to its end, without a terminal and without input; never raises."""
    try:
        done = subprocess.run(
            argv,
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Said(None, clean(str(error), 500))
    return Said(done.returncode, clean(done.stdout.decode("utf-8", "replace"), 20_000))


def _variables_of(known: KnownProgram, environ: Mapping[str, str]) -> list[str]:
    return [*known.variables, *(codex_key_names(environ) if known is CODEX else ())]


def _login_of(known: KnownProgram, path: str, env: Mapping[str, str]) -> Login:
    if known is CLAUDE:
        said = ask([path, "auth", "status"], env)
        return claude_login(said.text)
    said = ask([path, "login", "status"], env)
    return codex_login(said.text, env, ended_well=said.code == 0)


def _not_here(known: KnownProgram, program: str) -> str:
    if program and program != known.program:
        return f"There is no program {program}. Correct the path, or install {known.title}: {known.install}"
    return f"{known.title} is not on this machine. Install it: {known.install} — then log in once: {known.log_in}"


def _nobody(known: KnownProgram, login: Login) -> str:
    why = login.words or "nobody is logged in"
    return f"{known.title}: {why}. Log in as the account that runs Trinity: {known.log_in} — or set {known.key}."
