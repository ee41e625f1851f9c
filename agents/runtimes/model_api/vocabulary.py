"""The words of the model program: its tools, its lines, its failures; does nothing with them.

The runtime `model` reads what stands here; docs/how-to/model-agents.md describes the lines.
"""

from enum import StrEnum

LINES_VERSION = 1


class Protocol(StrEnum):
    """The two languages that model services speak."""

    OPENAI = "openai"  # chat completions: OpenAI, Ollama, vLLM, OpenRouter, … each by its base address
    ANTHROPIC = "anthropic"  # messages


KEY_VARIABLES = {Protocol.OPENAI: "OPENAI_API_KEY", Protocol.ANTHROPIC: "ANTHROPIC_API_KEY"}


class ToolName(StrEnum):
    """What the model may do in its folder."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    LIST = "list"
    GREP = "grep"
    SHELL = "shell"


class LineType(StrEnum):
    """The lines that the program prints; `END` is the last one, and the only one of its type."""

    START = "model.start"
    MESSAGE = "model.message"  # the model answered: its text, its calls, the totals so far
    RESULT = "model.result"  # what came of one call
    RETRY = "model.retry"  # the service turned a request away; it is asked again
    END = "model.end"


class Failure(StrEnum):
    """Why a call came to nothing, as far as the program itself can tell."""

    SERVICE = "service"  # the service answered with an error: its status and names stand beside
    UNREACHABLE = "unreachable"
    SILENT = "silent"  # no answer within the request timeout
    UNREADABLE = "unreadable"  # an answer that is none
    EMPTY = "empty"  # neither text nor calls
    CUT = "cut"  # the last answer reached its limit of tokens
    WITHHELD = "withheld"  # the service's content filter
    REQUEST_LIMIT = "request_limit"
    TOOL_LIMIT = "tool_limit"
    COST_LIMIT = "cost_limit"
    NO_PRICE = "no_price"  # a cost limit, and nothing to reckon with
    NO_KEY = "no_key"
    NO_PACKAGES = "no_packages"
    INTERRUPTED = "interrupted"
    BROKEN = "broken"
