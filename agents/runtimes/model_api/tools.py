"""What the model is told of its tools, and how a call of it is checked and carried out; talks to no model."""

import asyncio
import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.runtimes.model_api import file_tools, search
from agents.runtimes.model_api.folder import Folder, ToolFault
from agents.runtimes.model_api.shell import Shell
from agents.runtimes.model_api.vocabulary import ToolName

_MOST = 2**31
_KINDS: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool; `kind` is JSON Schema's."""

    kind: str
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class ToolKind:
    """A tool as the model is told of it."""

    about: str
    arguments: dict[str, Argument]

    def schema(self) -> dict[str, Any]:
        """Its arguments as JSON Schema."""
        return {
            "type": "object",
            "properties": {
                name: {"type": argument.kind, "description": argument.about}
                for name, argument in self.arguments.items()
            },
            "required": [name for name, argument in self.arguments.items() if argument.required],
            "additionalProperties": False,
        }


_PATH = Argument("string", "A path in the workspace, such as src/main.py.", required=True)
_FOLDER = Argument("string", "A folder in the workspace; the workspace itself when left out.")
TOOLS: dict[ToolName, ToolKind] = {
    ToolName.READ: ToolKind(
        f"Read a text file. Of a long one, at most {file_tools.READ_LINES} lines at a time.",
        {
            "path": _PATH,
            "first_line": Argument("integer", "The line to begin with; 1 is the first."),
            "lines": Argument("integer", "How many lines to read."),
        },
    ),
    ToolName.WRITE: ToolKind(
        "Create a file or replace all that it holds; folders on the way are made.",
        {"path": _PATH, "content": Argument("string", "The whole new content.", required=True)},
    ),
    ToolName.EDIT: ToolKind(
        "Replace a passage of a file. It must stand there exactly once, unless `all` is set.",
        {
            "path": _PATH,
            "old": Argument("string", "The passage as it stands there, blanks and line ends included.", required=True),
            "new": Argument("string", "What is to stand there instead.", required=True),
            "all": Argument("boolean", "Replace it wherever it stands."),
        },
    ),
    ToolName.LIST: ToolKind(
        "List what a folder holds.",
        {
            "path": _FOLDER,
            "depth": Argument("integer", f"How many levels down, 1 to {file_tools.DEEPEST}; 1 when left out."),
            "pattern": Argument("string", "Show only names that match, such as *.py."),
        },
    ),
    ToolName.GREP: ToolKind(
        "Search the text of files for a regular expression (RE2).",
        {
            "pattern": Argument("string", "The regular expression.", required=True),
            "path": Argument("string", "A file or a folder; the whole workspace when left out."),
            "glob": Argument("string", "Search only files that match, such as *.py."),
            "ignore_case": Argument("boolean", "Take capitals and small letters for the same."),
        },
    ),
    ToolName.SHELL: ToolKind(
        "Run a command with /bin/sh in the workspace. Nobody answers its questions; one that takes too long is killed.",
        {
            "command": Argument("string", "The command.", required=True),
            "timeout_seconds": Argument("integer", "After how many seconds to kill it."),
        },
    ),
}


class NotAllowed(ToolFault):
    """A tool that exists, but not for this call."""


class Toolbox:
    """The tools of one call."""

    def __init__(self, allowed: Sequence[ToolName], folder: Folder, shell: Shell) -> None:
        self.allowed = tuple(allowed)
        self._folder = folder
        self._shell = shell
        self._ways: dict[ToolName, Callable[..., str]] = {
            ToolName.READ: file_tools.read,
            ToolName.WRITE: file_tools.write,
            ToolName.EDIT: file_tools.edit,
            ToolName.LIST: file_tools.list_folder,
            ToolName.GREP: search.grep,
        }

    async def use(self, name: str, arguments: Any) -> tuple[str, bool]:
        """What came of a call, and whether it failed. Raises ToolFault for a call that cannot be carried out."""
        tool = self._known(name)
        checked = check_arguments(TOOLS[tool], arguments)
        if tool is ToolName.SHELL:
            if "\0" in checked["command"]:
                raise ToolFault("The command must not contain a NUL character.")
            return await self._shell.run(**checked)
        return await asyncio.to_thread(self._ways[tool], self._folder, **checked), False

    def _known(self, name: str) -> ToolName:
        if name in self.allowed:
            return ToolName(name)
        theirs = ", ".join(self.allowed)
        if name in list(ToolName):
            raise NotAllowed(f"The tool {name} is not allowed here. Allowed: {theirs}.")
        raise ToolFault(f"There is no tool {name[:100]!r}. The tools are: {theirs}.")


def check_arguments(tool: ToolKind, given: Any) -> dict[str, Any]:
    """The arguments of a call. Raises ToolFault that says what is wrong with them.

    A whole number as text, or as 2.0, is taken for one: small models write them so. null is an argument left out.
    """
    if not isinstance(given, dict):
        raise ToolFault("The arguments must be a JSON object.")
    for name in given:
        if name not in tool.arguments:
            near = difflib.get_close_matches(name, tool.arguments, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ToolFault(f"There is no argument {name[:100]!r}.{hint} Known: {', '.join(tool.arguments)}.")
    checked = {}
    for name, argument in tool.arguments.items():
        if given.get(name) is not None:
            checked[name] = _checked(name, argument, given[name])
        elif argument.required:
            raise ToolFault(f"The argument {name} is required.")
    return checked


def _checked(name: str, argument: Argument, value: Any) -> Any:
    if argument.kind == "integer":
        return _count(name, value)
    if not isinstance(value, _KINDS[argument.kind]):
        raise ToolFault(f"The argument {name} must be a {argument.kind}.")
    return value


def _count(name: str, value: Any) -> int:
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < _MOST:
        raise ToolFault(f"The argument {name} must be a whole number above 0.")
    return value
