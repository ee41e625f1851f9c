"""What a runtime is: how an agent is called, how its output is read; starts nothing, writes nothing."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


class ErrorKind(StrEnum):
    """Why an execution failed, for people and programs."""

    AGENT_ERROR = "agent_error"  # the agent itself said that it failed
    CRASHED = "crashed"  # it ended by itself, without an answer
    NOT_STARTED = "not_started"  # the program or its folder is not there
    NO_ANSWER = "no_answer"  # it ended well but printed no final object
    TIMEOUT = "timeout"
    LOST = "lost"
    ABANDONED = "abandoned"
    AUTH = "auth"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    USAGE_LIMIT = "usage_limit"
    TURN_LIMIT = "turn_limit"
    BUDGET = "budget"
    MCP_UNAVAILABLE = "mcp_unavailable"
    MEMORY_LIMIT = "memory_limit"  # it took more than its isolation lets it
    PROCESS_LIMIT = "process_limit"
    DISK_FULL = "disk_full"
    BROKEN = "broken"  # Trinity itself failed


class Ending(StrEnum):
    """The three ways in which one call of an agent can come out."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One call: what the agent is asked, and within which limits."""

    prompt: str
    model: str = ""  # blank: the runtime's own default
    allowed_tools: tuple[str, ...] | None = None  # None: unrestricted
    timeout_seconds: int = 900
    run_number: int = 1  # 1 for a call outside a loop


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """What the runner starts for one call."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)  # beside the allow-list and Trinity's own names
    env_names: tuple[str, ...] = ()  # variables of the worker to pass on, beside those of the setting `env`
    reads: tuple[str, ...] = ()  # absolute paths that the program needs, wherever they lie; for a sandbox
    final_types: tuple[str, ...] = ()  # JSON lines whose "type" says that the answer is complete
    interrupt_first: bool = True  # on timeout INT comes before TERM: some agents still print their cost


@dataclass(frozen=True, slots=True)
class Printed:
    """What one ended process left: the runner's facts and its capped output files."""

    stdout: Path
    stderr: Path
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    terminated: bool = False  # somebody asked the runner to end it
    hung: bool = False  # the final object stood there, but the process had to be ended
    start_error: str | None = None  # the program never ran: why
    spool_error: str | None = None  # errno name when the output could not be written, such as ENOSPC
    truncated_bytes: int = 0  # cut out of the middle of stdout
    timeout_seconds: int = 0
    call: AgentCall | None = None  # what was asked: who prints no model is priced by the one asked for
    ended_at: dt.datetime | None = None  # "resets 3am" is meant from here, however late it is read


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens as the agent's last word counts them; None is unknown."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


# One step of the neutral trajectory (section 4): the calls that the model issued together, each
# {"tool", "args"?, "result"?, "error"?, "agent"?, "id"?}; or {"event": …}, which is no model step.
Step = tuple[Mapping[str, Any], ...] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Away:
    """The model could not be reached before the agent did anything (section 3, "The model is away")."""

    kind: ErrorKind
    until: dt.datetime | None = None  # the reset time that was named


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one call, in the neutral words that everything above understands."""

    ending: Ending
    response: str = ""
    error_kind: ErrorKind | None = None
    error: str = ""  # a plain sentence
    cost_nano: int | None = None  # nano-dollars; None is unknown, never 0
    cost_estimated: bool = False
    tokens: TokenUsage = field(default_factory=TokenUsage)
    model: str = ""  # what the agent says it used
    steps: tuple[Step, ...] = ()
    permission_denials: tuple[str, ...] = ()  # tools that were refused, each once, in order
    away: Away | None = None
    duration_ms: int | None = None  # by the runner's monotonic clock
    commits: int | None = None  # what the workspace's git says; None outside a work tree
    lines_added: int | None = None
    lines_removed: int | None = None
    notes: tuple[str, ...] = ()  # sentences for the reader: what was cut, what the agent did not have

    @property
    def succeeded(self) -> bool:
        return self.ending is Ending.COMPLETED


class Runtime(Protocol):
    """How one kind of agent is called. Implementations hold no state."""

    name: str
    answers_in_worker: bool  # True only for `scripted`, which starts no process: see AnswersInWorker

    def clean_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings with defaults filled in; Refused at `runtime_settings.<key>` when one is wrong."""

    def restricts_tools(self, settings: Mapping[str, Any]) -> bool:
        """Whether `allowed_tools` can be kept; where not, a start that asks for it is refused."""

    def command(self, call: AgentCall, settings: Mapping[str, Any]) -> CommandSpec:
        """What to start for this call. Refused when it cannot be started so; nothing has run then."""

    def read(self, printed: Printed, settings: Mapping[str, Any]) -> Outcome:
        """What came of it; never raises for what an agent printed."""

    def activity(self, tail: bytes, settings: Mapping[str, Any]) -> str | None:
        """The last tool and its first argument (≤ 200 characters) from the end of what is printed so far."""


@runtime_checkable
class NeedsMore(Protocol):
    """A runtime that may lack something on a host where its settings are right."""

    def probe(self, settings: Mapping[str, Any]) -> None:
        """Refused with what is missing here, and its remedy. Asked when an agent is made or changed."""


@runtime_checkable
class AnswersInWorker(Runtime, Protocol):
    """A runtime that needs no process; `command`, `read` and `activity` are never asked of it."""

    def answer(self, call: AgentCall, settings: Mapping[str, Any]) -> Outcome:
        """The outcome at once; it takes no time of its own, `duration_ms` says what it stands for."""
