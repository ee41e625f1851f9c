"""Takes costs and tokens out of what an agent reports, and prices tokens that come without a cost.

Unknown is None and never 0; nothing here asks the network.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from agents.runtimes.base import TokenUsage
from trinity.kernel.money import to_nano

MOST_TOKENS = 2**63 - 1  # fits a BigInteger column

_OF_MODEL = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadInputTokens",
    "cache_write": "cacheCreationInputTokens",
}
_OF_TURN = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


def whole_number(value: object) -> int | None:
    """A count that can be stored; None for a boolean, a fraction, a text, a negative or an absurd one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def cost_nano(dollars: object) -> int | None:
    """Nano-dollars of a reported cost; None unless it is a finite number that is not negative."""
    if isinstance(dollars, str):
        return None
    nano = to_nano(dollars)
    return nano if nano is not None and nano >= 0 else None


def claude_tokens(final: Mapping[str, Any]) -> TokenUsage:
    """The tokens of a whole run.

    `modelUsage` counts everything, sub-agents too; `usage` only the main agent's last turn: it comes second.
    """
    models = [usage for usage in _models(final).values() if isinstance(usage, dict)]
    if models:
        return TokenUsage(**{name: _sum(models, key) for name, key in _OF_MODEL.items()})
    usage = final.get("usage")
    if not isinstance(usage, dict):
        return TokenUsage()
    return TokenUsage(**{name: whole_number(usage.get(key)) for name, key in _OF_TURN.items()})


def cost_is_invented(final: Mapping[str, Any]) -> bool:
    """Claude Code gives a model that it has no price for some other price.

    A newer client says so (`costBasis`). Of an older one the name tells it: its list holds Claude's only.
    """
    return any(
        usage["costBasis"] == "unknown" if usage.get("costBasis") else "claude" not in model.lower()
        for model, usage in _models(final).items()
        if isinstance(usage, dict)
    )


def price_nano(tokens: TokenUsage, *, model: str, provider: str | None, at: dt.datetime) -> int | None:
    """An estimate of what `tokens` cost; None for a model that the price list does not know.

    `tokens.input` includes what was read from and written to the cache.
    """
    if not model or tokens.input is None or tokens.output is None:
        return None
    from genai_prices import Usage, calc_price  # its list takes a second and 70 MB: only who prices pays that

    usage = Usage(
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cache_read or 0,
        cache_write_tokens=tokens.cache_write or 0,
        output_tokens=tokens.output,
    )
    try:
        price = calc_price(usage, model_ref=model, provider_id=provider, genai_request_timestamp=at)
    except (LookupError, ValueError):  # an unknown model; or more cached tokens than tokens
        return None
    return cost_nano(price.total_price)


def _models(final: Mapping[str, Any]) -> dict[str, Any]:
    models = final.get("modelUsage")
    return models if isinstance(models, dict) else {}


def _sum(models: list[dict[str, Any]], key: str) -> int | None:
    counts = [whole_number(usage.get(key)) for usage in models]
    known = [count for count in counts if count is not None]
    return min(sum(known), MOST_TOKENS) if len(known) == len(counts) else None
