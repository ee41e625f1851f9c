"""Holds one conversation with the model to its end: asks, carries out calls, keeps the limits; prints as it goes."""

import asyncio
import random
import time
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from agents.runtimes.model_api import prices
from agents.runtimes.model_api.folder import ToolFault
from agents.runtimes.model_api.orders import Orders
from agents.runtimes.model_api.prices import Tokens
from agents.runtimes.model_api.printing import Printer
from agents.runtimes.model_api.service import Answer, Call, Service, ServiceFault
from agents.runtimes.model_api.tools import NotAllowed, Toolbox
from agents.runtimes.model_api.vocabulary import Failure, LineType

RESULT_CHARACTERS = 60_000
FIRST_TRIES = 2  # before a tool was used: beyond, the run waits outside, where it holds no slot
FIRST_WAIT_SECONDS = 5.0
LONGEST_WAIT_SECONDS = 30.0
EMPTY_ANSWERS = 2


class Failed(Exception):
    """The call came to nothing; `str()` says more."""

    def __init__(self, failure: Failure, said: str) -> None:
        super().__init__(said)
        self.failure = failure


@dataclass
class Totals:
    """What the call used so far. A number is unknown from the first answer on that does not tell it."""

    requests: int = 0
    tool_calls: int = 0
    tokens: Tokens | None = field(default_factory=Tokens)
    cost: Decimal | None = Decimal(0)
    cost_estimated: bool = False

    def add(self, answer: Answer, orders: Orders) -> None:
        self.requests += 1
        self.tokens = self.tokens + answer.tokens if self.tokens is not None and answer.tokens is not None else None
        told = answer.cost
        if told is None and answer.tokens is not None:
            told = prices.cost_of(answer.tokens, model=answer.model, orders=orders)
            self.cost_estimated = True
        self.cost = self.cost + told if self.cost is not None and told is not None else None

    def facts(self) -> dict[str, Any]:
        """As lines carry them; the cost in dollars is text, since a float would round it."""
        return {
            "requests": self.requests,
            "tool_calls": self.tool_calls,
            "tokens": None if self.tokens is None or not self.requests else asdict(self.tokens),
            "cost_usd": None if self.cost is None or not self.requests else f"{self.cost:f}",
            "cost_estimated": self.cost_estimated,
        }


class Conversation:
    """One task from its prompt to the reply. `asking` says that a request is out: what it costs is not known yet."""

    def __init__(self, orders: Orders, service: Service, toolbox: Toolbox, printer: Printer) -> None:
        self.totals = Totals()
        self.last_text = ""
        self.asking = False
        self._orders = orders
        self._service = service
        self._toolbox = toolbox
        self._printer = printer

    async def hold(self, prompt: str) -> str:
        """The model's reply. Raises Failed, or ServiceFault when the service did."""
        if self._orders.max_budget_usd is not None and not prices.is_known(self._orders):
            raise Failed(Failure.NO_PRICE, f"{self._orders.model} is in no price list")
        self._service.say(prompt)
        empty = 0
        while True:
            self._check_limits()
            answer = await self._ask_patiently()
            self._note(answer)
            if answer.calls:
                self._service.keep(answer)
                self._service.give_results(
                    [await self._use(call, number) for number, call in enumerate(answer.calls, 1)]
                )
                continue
            if answer.text.strip() or answer.cut or answer.withheld:
                return self._reply(answer)
            empty += 1
            if empty == EMPTY_ANSWERS:
                raise Failed(Failure.EMPTY, "neither text nor tool calls, twice")

    def _check_limits(self) -> None:
        orders, totals = self._orders, self.totals
        if totals.requests >= orders.max_requests:
            raise Failed(Failure.REQUEST_LIMIT, f"{totals.requests} requests of at most {orders.max_requests}")
        if orders.max_budget_usd is None:
            return
        if totals.cost is None:
            raise Failed(Failure.NO_PRICE, "the service does not tell how many tokens an answer took")
        if totals.cost >= Decimal(str(orders.max_budget_usd)):
            raise Failed(Failure.COST_LIMIT, f"${totals.cost:f} of at most ${orders.max_budget_usd}")

    async def _ask_patiently(self) -> Answer:
        began, tries = time.monotonic(), 0
        self.asking = True
        while True:
            try:
                answer = await self._service.ask()
            except ServiceFault as fault:
                seconds = self._wait_seconds(fault, tries, time.monotonic() - began)
                if seconds is None:
                    self.asking = False
                    raise
                facts = {"failure": fault.failure, "status": fault.status, "names": fault.names, "said": str(fault)}
                self._printer.line(LineType.RETRY, seconds=round(seconds, 1), **facts)
                await asyncio.sleep(seconds)
                tries += 1
            else:
                self.asking = False
                return answer

    def _wait_seconds(self, fault: ServiceFault, tries: int, elapsed: float) -> float | None:
        """How long to wait before the next try; None when there is none.

        Before a tool was used the run can wait in the queue, for hours and without a slot; afterwards only here.
        """
        if not fault.may_help_again:
            return None
        wait = max(fault.retry_after or 0.0, min(2.0**tries, LONGEST_WAIT_SECONDS)) * random.uniform(1.0, 1.25)  # noqa: S311 - jitter
        longest = float(self._orders.retry_seconds)
        if not self.totals.tool_calls:
            longest = min(longest, FIRST_WAIT_SECONDS)
            if tries >= FIRST_TRIES:
                return None
        return wait if elapsed + wait <= longest else None

    def _note(self, answer: Answer) -> None:
        self.totals.add(answer, self._orders)
        self.last_text = answer.text
        calls = [
            {"id": self._id(number), "tool": call.tool, "args": call.written}
            for number, call in enumerate(answer.calls, 1)
        ]
        self._printer.line(
            LineType.MESSAGE,
            number=self.totals.requests,
            model=answer.model,
            text=answer.text,
            calls=calls,
            totals=self.totals.facts(),
        )

    def _id(self, number: int) -> str:
        """Our own, since services give the same id to calls of different answers."""
        return f"{self.totals.requests}.{number}"

    async def _use(self, call: Call, number: int) -> tuple[Call, str, bool]:
        if self.totals.tool_calls >= self._orders.max_tool_calls:
            raise Failed(
                Failure.TOOL_LIMIT, f"{self.totals.tool_calls} tool calls of at most {self._orders.max_tool_calls}"
            )
        self.totals.tool_calls += 1
        refused = False
        try:
            if call.arguments is None:
                raise ToolFault("The arguments are no JSON object.")
            result, failed = await self._toolbox.use(call.tool, call.arguments)
        except ToolFault as fault:
            result, failed, refused = str(fault), True, isinstance(fault, NotAllowed)
        except OSError as error:
            result, failed = f"This machine could not do it: {error.strerror or error}.", True
        result = _shortened(result)
        facts = {"refused": True} if refused else {}
        self._printer.line(LineType.RESULT, id=self._id(number), tool=call.tool, result=result, error=failed, **facts)
        return call, result, failed

    def _reply(self, answer: Answer) -> str:
        if answer.cut:
            raise Failed(Failure.CUT, "the answer reached the most tokens that it may have")
        if answer.withheld:
            raise Failed(Failure.WITHHELD, "the service's content filter withheld the answer")
        return answer.text


def _shortened(text: str) -> str:
    if len(text) <= RESULT_CHARACTERS:
        return text
    half = RESULT_CHARACTERS // 2
    return f"{text[:half]}\n[cut: {len(text) - 2 * half:,} characters left out here]\n{text[-half:]}"
