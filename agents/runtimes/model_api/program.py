"""Runs one call from standard input to the end line, whatever happens; holds no rule of the conversation.

Standard input is the prompt. INT or TERM ends it: what it cost so far is printed first.
"""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agents.runtimes.model_api.orders import Orders
from agents.runtimes.model_api.printing import Printer
from agents.runtimes.model_api.vocabulary import LINES_VERSION, Failure, LineType

if TYPE_CHECKING:
    from agents.runtimes.model_api.conversation import Conversation

PACKAGE = "pydantic_ai"
PR_SET_DUMPABLE = 4
INSTRUCTIONS = """\
You carry out one task by yourself, in the folder {folder}, which is your workspace. Nobody reads along and nobody \
answers questions: decide what is open, and go on. Your tools: {tools}. Paths are relative to the workspace.
When the task is done, answer with the result and call no more tools: your last message is your reply."""


def main(arguments: Sequence[str]) -> int:
    """Carry out the orders in the only argument; the exit code is 0 when there is a reply."""
    if len(arguments) != 1:
        print("usage: python -m agents.runtimes.model_api ORDERS < PROMPT", file=sys.stderr)
        return 2
    try:
        orders = Orders.read(arguments[0])
    except (ValueError, KeyError, TypeError) as error:
        print(f"These are no orders: {error!r}", file=sys.stderr)
        return 2
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    return asyncio.run(Call(orders, Printer()).carry_out(prompt))


class Call:
    """One call. Its end line is printed exactly once."""

    def __init__(self, orders: Orders, printer: Printer) -> None:
        self._orders = orders
        self._printer = printer
        self._conversation: Conversation | None = None

    async def carry_out(self, prompt: str) -> int:
        """The exit code."""
        self._printer.line(
            LineType.START, version=LINES_VERSION, model=self._orders.model, tools=list(self._orders.tools)
        )
        work = asyncio.current_task()
        assert work is not None  # noqa: S101 - this is a task
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        try:
            return self._end(reply=await self._reply(prompt))
        except asyncio.CancelledError:
            return self._fail(Failure.INTERRUPTED, "it was ended by a signal", request_unpaid=self._is_asking)
        except ModuleNotFoundError as error:
            return self._fail(Failure.NO_PACKAGES, f"the package {error.name} is not installed")
        except _Refused as refused:
            return self._fail(refused.failure, str(refused))
        except Exception as error:  # the outermost edge: an end line is always printed
            return self._fail_by(error)

    @property
    def _is_asking(self) -> bool:
        return self._conversation is not None and self._conversation.asking

    async def _reply(self, prompt: str) -> str:
        # Here and not above: without the packages the end line can still say so.
        from agents.runtimes.model_api.conversation import Conversation
        from agents.runtimes.model_api.folder import Folder
        from agents.runtimes.model_api.service import Service
        from agents.runtimes.model_api.shell import Shell
        from agents.runtimes.model_api.tools import Toolbox

        orders = self._orders
        key = _key(orders)
        _hide_environment()
        folder = Folder(os.getcwd())
        environment = {name: value for name, value in os.environ.items() if name != orders.key_variable}
        shell = Shell(folder.root, environment, orders.shell_timeout_seconds)
        told = _with_instructions(orders, folder.root)
        toolbox = Toolbox(orders.tools, folder, shell)
        self._conversation = Conversation(orders, Service(told, key), toolbox, self._printer)
        return await self._conversation.hold(prompt)

    def _fail_by(self, error: Exception) -> int:
        from agents.runtimes.model_api.conversation import Failed
        from agents.runtimes.model_api.service import ServiceFault

        match error:
            case Failed():
                return self._fail(error.failure, str(error))
            case ServiceFault():
                facts = {"status": error.status, "names": error.names, "retry_after_seconds": error.retry_after}
                return self._fail(error.failure, str(error), **facts)
            case _:
                sys.excepthook(type(error), error, error.__traceback__)
                return self._fail(Failure.BROKEN, f"{type(error).__name__}: {error}")

    def _fail(self, failure: Failure, said: str, **facts: Any) -> int:
        last_text = self._conversation.last_text if self._conversation else ""
        self._print_end(reply=last_text, failure=failure, said=said[:2_000], **facts)
        return 1

    def _end(self, *, reply: str) -> int:
        self._print_end(reply=reply, failure=None)
        return 0

    def _print_end(self, **facts: Any) -> None:
        totals = self._conversation.totals.facts() if self._conversation else None
        self._printer.line(LineType.END, totals=totals, **facts)


class _Refused(Exception):
    """It cannot begin; `str()` says why."""

    def __init__(self, failure: Failure, said: str) -> None:
        super().__init__(said)
        self.failure = failure


def _key(orders: Orders) -> str | None:
    if orders.key_variable is None:
        return None
    key = os.environ.get(orders.key_variable, "").strip()
    if not key:
        raise _Refused(Failure.NO_KEY, f"the variable {orders.key_variable} is not set for the worker")
    return key


def _hide_environment() -> None:
    """Else a command of the model's could read the key in /proc, as the same account."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _with_instructions(orders: Orders, folder: str) -> Orders:
    from dataclasses import replace

    own = INSTRUCTIONS.format(folder=folder, tools=", ".join(orders.tools))
    return replace(orders, instructions=f"{own}\n\n{orders.instructions}".strip())
