"""Tells from an agent's error what kind it is and what a person can do about it; reads no files."""

import datetime as dt
import re
from dataclasses import dataclass

from agents.runtimes.base import Away, ErrorKind
from agents.runtimes.keeping import SAID_CHARACTERS, cut_middle
from agents.runtimes.resets import named_time
from trinity.kernel.text import clean

AWAY_KINDS = frozenset({ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED, ErrorKind.USAGE_LIMIT})

_ADVICE = {
    ErrorKind.AGENT_ERROR: "The agent said that it failed. Read why, then change the task or the agent.",
    ErrorKind.AUTH: (
        "The agent's login or key was not accepted. Log in again as the account that runs it,"
        " or name the variable that holds its key in `env`."
    ),
    ErrorKind.RATE_LIMITED: "The model takes no more requests for now. Start again in some minutes.",
    ErrorKind.OVERLOADED: "The model is overloaded. Start again in some minutes, or choose another model.",
    ErrorKind.USAGE_LIMIT: "The account's usage limit is reached. Start again when it has been reset.",
    ErrorKind.TURN_LIMIT: "The agent used up its turns. Raise `max_turns`, or give it a smaller task.",
    ErrorKind.BUDGET: "The money for the model is used up. Raise the agent's budget, or add credit.",
    ErrorKind.MCP_UNAVAILABLE: (
        "An MCP server could not be reached. Start it, or correct or remove it in `mcp_servers`."
    ),
}

_BY_STATUS = {
    401: ErrorKind.AUTH,
    402: ErrorKind.BUDGET,
    403: ErrorKind.AUTH,
    429: ErrorKind.RATE_LIMITED,
    503: ErrorKind.OVERLOADED,
    529: ErrorKind.OVERLOADED,
}
_BY_WORD = {  # what Claude Code and the model services call it
    "error_max_turns": ErrorKind.TURN_LIMIT,
    "error_max_budget_usd": ErrorKind.BUDGET,
    "usage_limit_reached": ErrorKind.USAGE_LIMIT,
    "billing_error": ErrorKind.BUDGET,
    "insufficient_quota": ErrorKind.BUDGET,
    "authentication_failed": ErrorKind.AUTH,
    "authentication_error": ErrorKind.AUTH,
    "permission_error": ErrorKind.AUTH,
    "oauth_org_not_allowed": ErrorKind.AUTH,
    "account_on_hold": ErrorKind.AUTH,
    "verification_required": ErrorKind.AUTH,
    "cloud_credential_error": ErrorKind.AUTH,
    "rate_limit": ErrorKind.RATE_LIMITED,
    "rate_limit_error": ErrorKind.RATE_LIMITED,
    "rate_limit_exceeded": ErrorKind.RATE_LIMITED,
    "overloaded": ErrorKind.OVERLOADED,
    "overloaded_error": ErrorKind.OVERLOADED,
    "server_is_overloaded": ErrorKind.OVERLOADED,
}
# Only where such a sentence begins the error: a reply may tell of limits too.
_BY_SENTENCE = tuple(
    (re.compile(pattern, re.I), kind)
    for pattern, kind in (
        (r"(?:claude )?(?:ai |code )?usage limit reached", ErrorKind.USAGE_LIMIT),
        (r"you['’]ve (?:hit|reached) your .{0,60}\blimit\b", ErrorKind.USAGE_LIMIT),
        (r"(?:your )?(?:[\w-]+ ){0,3}limit reached\b.{0,5}resets", ErrorKind.USAGE_LIMIT),
        (r"you['’]re out of .{0,40}\bresets\b", ErrorKind.USAGE_LIMIT),
        (r"you['’]re out of (?:usage|extra|credits)", ErrorKind.BUDGET),
        (r"(?:your )?credit balance (?:is )?too low", ErrorKind.BUDGET),
        (r"quota exceeded|you exceeded your current quota", ErrorKind.BUDGET),
        (
            r"not logged in|invalid api key|please run /login|oauth token (?:has )?(?:expired|revoked)",
            ErrorKind.AUTH,
        ),
        (r"rate limit (?:exceeded|reached)", ErrorKind.RATE_LIMITED),
        (r"(?:the |selected )?model is (?:at capacity|overloaded)|overloaded\b", ErrorKind.OVERLOADED),
    )
)
_UNKNOWN_MODEL = re.compile(
    r"\bmodels?\b[^\n]{0,120}\b(?:may not|does not|doesn['’]t) exist\b"
    r"|\bmodel\b[\s\"'`(:][^\n]{0,60}\bnot (?:found|supported)\b"
    r"|\bmodel_not_found\b|\bnot_found_error\b[^\n]{0,80}\bmodel\b",
    re.I,
)
_STATUS_IN_TEXT = re.compile(
    r"(?:API Error[^0-9]{0,40}|unexpected status\s+|exceeded retry limit, last status:\s+)(\d{3})\b", re.I
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call failed: the kind, the sentence for a person, and when a limit ends."""

    kind: ErrorKind
    sentence: str
    until: dt.datetime | None = None

    def away(self, *, tool_used: bool) -> Away | None:
        """Set when the model was away before the agent did anything (section 3); else it is an outcome."""
        return Away(self.kind, self.until) if self.kind in AWAY_KINDS and not tool_used else None


def fault(
    said: str,
    *,
    now: dt.datetime,
    status: int | None = None,
    words: tuple[object, ...] = (),
    until: dt.datetime | None = None,
) -> Fault:
    """What an agent's error means.

    `said` are the agent's own words, `status` the HTTP status of the model's service, `words` the names
    that the agent or the service gave the error (what is no known name says nothing), `until` a reset time
    that is known without reading `said`.
    """
    said = clean(said).strip()
    kind = kind_of(said, status=status, words=words)
    if until is None and kind in AWAY_KINDS:
        until = named_time(said, now)
    return Fault(kind, advised(kind, said), until)


def kind_of(said: str, *, status: int | None = None, words: tuple[object, ...] = ()) -> ErrorKind:
    """The kind of an agent's error; the narrowest that anything names."""
    named = [_BY_WORD[word] for word in words if isinstance(word, str) and word in _BY_WORD]
    spoken = next((kind for pattern, kind in _BY_SENTENCE if pattern.match(said)), None)
    if status is None and (match := _STATUS_IN_TEXT.match(said)):
        status = int(match[1])
    # A usage limit comes with status 429 and the word rate_limit: the narrower ones are asked first.
    for kind in (ErrorKind.TURN_LIMIT, ErrorKind.USAGE_LIMIT, ErrorKind.BUDGET):
        if kind in named or kind is spoken:
            return kind
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None:
        return ErrorKind.AGENT_ERROR  # 400, 404, 500: neither a login nor the model's absence
    return named[0] if named else spoken or ErrorKind.AGENT_ERROR


def advised(kind: ErrorKind, said: str) -> str:
    """The sentence for a person: what it is, what to do, and the agent's own words."""
    advice = _ADVICE[kind]
    if kind is ErrorKind.AGENT_ERROR and _UNKNOWN_MODEL.search(said):
        advice = "The model's service does not know this model. Correct `model` of the agent or of the loop."
    return f"{advice} It said: {cut_middle(said, SAID_CHARACTERS)}" if said else advice
