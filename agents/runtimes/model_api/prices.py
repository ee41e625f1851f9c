"""What an answer cost: by the price that was ordered, else by the public price list; unknown is None, never 0."""

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

from agents.runtimes.model_api.orders import Orders, Price

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one answer, or of several; `input` includes what was read from and written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


def cost_of(tokens: Tokens, *, model: str, orders: Orders) -> Decimal | None:
    """Dollars, an estimate; None for a model without a known price.

    An address that the list does not know may be a proxy of the protocol's own provider: its models go by that
    provider's prices. A model of another name is a local one or somebody else's, and has no price.
    """
    if orders.price is not None:
        return _by(orders.price, tokens)
    for provider in _providers(orders):
        for name in dict.fromkeys((model, orders.model)):
            if name and (cost := _listed(tokens, name, provider)) is not None:
                return cost
    return None


def is_known(orders: Orders) -> bool:
    """Whether what this call costs can be told."""
    return cost_of(Tokens(input=1, output=1), model=orders.model, orders=orders) is not None


def _by(price: Price, tokens: Tokens) -> Decimal:
    plain = max(0, tokens.input - tokens.cache_read - tokens.cache_write)
    parts = (
        (plain, price.input),
        (tokens.cache_read, price.input if price.cache_read is None else price.cache_read),
        (tokens.cache_write, price.input if price.cache_write is None else price.cache_write),
        (tokens.output, price.output),
    )
    return sum((Decimal(count) * Decimal(str(dollars)) for count, dollars in parts), Decimal(0)) / MILLION


def _providers(orders: Orders) -> list[dict[str, str]]:
    by_protocol = {"provider_id": str(orders.protocol)}
    if orders.base_url is None:
        return [by_protocol]
    return [{"provider_api_url": _without_login(orders.base_url)}, by_protocol]


def _without_login(address: str) -> str:
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _listed(tokens: Tokens, model: str, provider: dict[str, str]) -> Decimal | None:
    from genai_prices import Usage, calc_price  # its list takes a second

    usage = Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
    )
    try:
        price: Decimal = calc_price(usage, model, **provider).total_price  # type: ignore[call-overload]
    except (LookupError, ValueError):  # an unknown model or address; or more cached tokens than tokens
        return None
    return price
