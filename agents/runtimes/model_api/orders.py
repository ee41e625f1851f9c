"""What one call was ordered to do, as the runtime hands it over in one argument; checks nothing that it checked."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from agents.runtimes.model_api.vocabulary import Protocol, ToolName


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens; what is read from and written to a cache costs as input where it is not said."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """One call: whom to ask, what may be used, and within which bounds."""

    protocol: Protocol
    model: str
    tools: tuple[ToolName, ...] = tuple(ToolName)
    base_url: str | None = None  # None: the address of the protocol's own provider
    key_variable: str | None = None  # the NAME of the variable with the key; None: a service that wants none
    instructions: str = ""
    max_requests: int = 100
    max_tool_calls: int = 500
    max_budget_usd: float | None = None
    max_tokens: int | None = None  # of one answer
    temperature: float | None = None
    extra_body: dict[str, Any] | None = None  # handed on with each request, such as {"num_ctx": 32768}
    price: Price | None = None
    stream: bool = True
    shell_timeout_seconds: int = 120  # the longest that one shell command may take
    request_timeout_seconds: int = 600  # without a word of the service
    retry_seconds: int = 120  # how long one request is tried again, once the agent has used a tool

    def written(self) -> str:
        """The orders as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> "Orders":
        """Raises ValueError, KeyError or TypeError for a text that no runtime wrote."""
        given = json.loads(text)
        price = given.get("price")
        return cls(
            **given
            | {
                "protocol": Protocol(given["protocol"]),
                "tools": tuple(ToolName(name) for name in given["tools"]),
                "price": None if price is None else Price(**price),
            }
        )
