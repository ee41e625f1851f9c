"""The one list of runtimes: a name leads to how its agents are called; knows nothing of any of them."""

import difflib
from enum import StrEnum

from agents.runtimes.base import Runtime
from agents.runtimes.claude_code import ClaudeCodeRuntime
from agents.runtimes.codex import CodexRuntime
from agents.runtimes.command import CommandRuntime
from agents.runtimes.model import ModelRuntime
from agents.runtimes.scripted import ScriptedRuntime
from trinity.kernel.errors import refused_field


class RuntimeName(StrEnum):
    """The runtimes that an agent can have."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    COMMAND = "command"
    MODEL = "model"
    SCRIPTED = "scripted"


_RUNTIMES: dict[RuntimeName, Runtime] = {
    RuntimeName.CLAUDE_CODE: ClaudeCodeRuntime(),
    RuntimeName.CODEX: CodexRuntime(),
    RuntimeName.COMMAND: CommandRuntime(),
    RuntimeName.MODEL: ModelRuntime(),
    RuntimeName.SCRIPTED: ScriptedRuntime(),
}


def runtime(name: str) -> Runtime:
    """The runtime of that name. Refused at `runtime`, with the known ones, when there is none."""
    try:
        return _RUNTIMES[RuntimeName(name)]
    except ValueError:
        near = difflib.get_close_matches(str(name), list(RuntimeName), n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise refused_field("runtime", f"Must be one of {', '.join(RuntimeName)}.{hint}") from None
