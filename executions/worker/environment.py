"""What an agent's process gets to see: a small allow-list, its home, named variables; never the server's secrets."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from agents.isolation.accounts import account_of
from agents.runtimes.isolation import isolation_of
from agents.runtimes.settings import Home as HomeKind
from executions import tokens
from executions.models import Execution
from executions.worker.home import Home

ALLOWED = (
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
ALLOWED_PREFIXES = ("LC_",)
NEVER = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL")
COMMANDS = Path(__file__).parent / "agent_bin"  # the `trinity` command (section 7, "Asking the agent to loop")

OUR_COMMAND = (str(COMMANDS), str(COMMANDS.parent / "agent_command.py"))  # what a sandbox must show of it


def agent_environment(execution: Execution, home: Home, also: Sequence[str] = ()) -> dict[str, str]:
    """The whole environment of one call (section 3); `also` names variables that the runtime passes on."""
    chosen = execution.agent.runtime_settings
    names = [name for name in os.environ if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)]
    names += [name for name in (*chosen["env"], *also) if name in os.environ and name not in NEVER]
    environment = {name: os.environ[name] for name in names}
    environment["PATH"] = os.pathsep.join((str(COMMANDS), environment.get("PATH", os.defpath)))
    environment["HOME"] = str(agent_home(execution, home, chosen["home"]))
    user = isolation_of(chosen).user
    environment |= {"USER": user, "LOGNAME": user} if user else {}
    return environment | {
        "TRINITY_URL": settings.TRINITY_URL,
        "TRINITY_AGENT": execution.agent.name,
        "TRINITY_EXECUTION_ID": execution.pk,
        "TRINITY_LOOP_ID": execution.loop_id,
        "TRINITY_RUN_NUMBER": str(execution.run_number or ""),
        "TRINITY_ROOM_ID": execution.room_id,
        "TRINITY_PYTHON": sys.executable,
        "TRINITY_API_KEY": tokens.token_of(execution),
    }


def agent_home(execution: Execution, home: Home, kind: str) -> Path:
    """`operator`: the account that runs Trinity, with its logins and keys; `own`: a folder in $TRINITY_HOME.

    An agent that is another user has that user's home: $TRINITY_HOME is closed to it.
    """
    user = isolation_of(execution.agent.runtime_settings).user
    if user:
        return Path(account_of(user).home)
    if kind == HomeKind.OPERATOR:
        return Path.home()
    path = home.root / "agents" / execution.agent.name / "home"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
