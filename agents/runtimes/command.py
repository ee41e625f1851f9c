"""The runtime `command`: any program as an agent; its argv never meets a shell, its tools are not ours."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from agents.runtimes import plain, stream_json
from agents.runtimes.base import AgentCall, CommandSpec, Outcome, Printed
from agents.runtimes.settings import MOST_ARGUMENT_BYTES, Setting, cleaned, setting_refused
from agents.runtimes.values import WrongValue, a_list, one_of
from trinity.kernel.errors import refused_field
from trinity.kernel.text import clean

MOST_ARGUMENTS = 1_000
MOST_ARGV_BYTES = 1024 * 1024  # of all arguments: the kernel takes about twice that, the environment counted
PROMPT_PLACE = "{prompt}"
MODEL_PLACE = "{model}"
MODEL_VARIABLE = "TRINITY_MODEL"

_PLACES = re.compile(r"\{(?:prompt|model)\}")


class Output(StrEnum):
    """The shapes in which an agent may print."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


class PromptBy(StrEnum):
    """How the prompt reaches the program."""

    STDIN = "stdin"
    ARGUMENT = "argument"


class CommandRuntime:
    """Starts the program of the setting `argv` and reads the shape of the setting `output`."""

    name = "command"
    answers_in_worker = False

    def clean_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        kept = cleaned(settings, _SETTINGS, patience_seconds=0)
        has_place = any(PROMPT_PLACE in argument for argument in kept["argv"])
        if kept["prompt"] == PromptBy.ARGUMENT and not has_place:
            raise setting_refused("argv", f"With prompt: argument, {PROMPT_PLACE} must stand in one argument.")
        if kept["prompt"] == PromptBy.STDIN and has_place:
            raise setting_refused("prompt", f"{PROMPT_PLACE} stands in argv: this must be argument then.")
        return kept

    def restricts_tools(self, settings: Mapping[str, Any]) -> bool:
        return False

    def command(self, call: AgentCall, settings: Mapping[str, Any]) -> CommandSpec:
        """Refused when a prompt is too long for an argument, argv needs a model, or tools are to be kept."""
        if call.allowed_tools is not None:
            raise refused_field("allowed_tools", "A command cannot restrict its tools.")
        by_argument = settings["prompt"] == PromptBy.ARGUMENT
        return CommandSpec(
            argv=_filled(settings["argv"], call),
            stdin=b"" if by_argument else clean(call.prompt).encode(),
            env={MODEL_VARIABLE: clean(call.model)} if call.model else {},
            final_types=() if settings["output"] == Output.TEXT else stream_json.FINAL_TYPES,
        )

    def read(self, printed: Printed, settings: Mapping[str, Any]) -> Outcome:
        if settings["output"] == Output.TEXT:
            return plain.read(printed)
        is_stream = settings["output"] == Output.STREAM_JSON
        heard = stream_json.hear(printed, whole_document=not is_stream)
        return stream_json.judge(heard, printed, steps_seen=is_stream)

    def activity(self, tail: bytes, settings: Mapping[str, Any]) -> str | None:
        return stream_json.activity(tail) if settings["output"] == Output.STREAM_JSON else None


def _argument(value: Any) -> str:
    if not isinstance(value, str):
        raise WrongValue("Must be a text.")
    if "\0" in value:
        raise WrongValue("Must not contain a NUL character.")
    if value != clean(value):
        raise WrongValue("Must not contain half of a surrogate pair.")
    if len(value.encode()) > MOST_ARGUMENT_BYTES:
        raise WrongValue(f"Must not be longer than {MOST_ARGUMENT_BYTES:,} bytes.")
    return value


def _argv(value: Any) -> list[str]:
    argv = a_list(value, _argument, least=1, most=MOST_ARGUMENTS)
    if not argv[0].strip():
        raise WrongValue("Must name a program.", ".0")
    if _PLACES.search(argv[0]):  # whoever starts a loop would choose what runs here
        raise WrongValue("The program itself must not come from the prompt or the model.", ".0")
    return argv


_SETTINGS = (
    Setting("argv", _argv, required=True),
    Setting("output", one_of(Output), default=Output.TEXT.value),
    Setting("prompt", one_of(PromptBy), default=PromptBy.STDIN.value),
)


def _filled(argv: list[str], call: AgentCall) -> tuple[str, ...]:
    """`argv` with its places filled in one pass: what a prompt contains is never filled again."""
    if not call.model and any(MODEL_PLACE in argument for argument in argv):
        raise refused_field("model", f"The agent's argv contains {MODEL_PLACE}, but no model is set.")
    values = {PROMPT_PLACE: clean(call.prompt), MODEL_PLACE: clean(call.model)}
    filled = tuple(_PLACES.sub(lambda place: values[place[0]], argument) for argument in argv)
    sizes = [len(argument.encode()) for argument in filled]
    if max(sizes) > MOST_ARGUMENT_BYTES or sum(sizes) > MOST_ARGV_BYTES:
        raise refused_field(
            "prompt",
            f"The prompt has {len(values[PROMPT_PLACE].encode()):,} bytes, too many for an argument"
            f" (at most {MOST_ARGUMENT_BYTES:,}). Let the agent read it from stdin (prompt: stdin).",
            longest_argument_bytes=MOST_ARGUMENT_BYTES,
        )
    return filled
