"""Asks the model's service one request at a time, through pydantic-ai; tries nothing twice and decides nothing.

The only file that knows the library. What it raises is a `ServiceFault` in our own words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from agents.runtimes.model_api.orders import Orders
from agents.runtimes.model_api.prices import Tokens
from agents.runtimes.model_api.tools import TOOLS
from agents.runtimes.model_api.vocabulary import Failure, Protocol

SAID_CHARACTERS = 2_000
_PASSING = (exceptions.ModelRateLimitError, exceptions.ModelUnavailableError, exceptions.ModelServerError)
_TRIED_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)


class ServiceFault(Exception):
    """A request that brought no answer; `str()` are the service's own words."""

    def __init__(
        self,
        failure: Failure,
        said: str,
        *,
        status: int | None = None,
        names: Sequence[str | None] = (),
        retry_after: float | None = None,
        may_help_again: bool = False,
    ) -> None:
        super().__init__(said[:SAID_CHARACTERS])
        self.failure = failure
        self.status = status
        self.names = [name[:200] for name in names if isinstance(name, str)]
        self.retry_after = retry_after
        self.may_help_again = may_help_again


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of an answer. `arguments` is None when they are no JSON object."""

    tool: str
    arguments: dict[str, Any] | None
    written: Any  # as the model wrote them
    part: ToolCallPart


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model answered to one request."""

    text: str
    calls: tuple[Call, ...]
    tokens: Tokens | None  # None: the service did not say
    model: str
    cut: bool = False
    withheld: bool = False
    cost: Any = None  # dollars that the service itself told (a gateway), as a Decimal
    response: ModelResponse = field(repr=False, default_factory=lambda: ModelResponse(parts=[]))


class Service:
    """One model at one service, and the conversation with it so far."""

    def __init__(self, orders: Orders, key: str | None) -> None:
        self._orders = orders
        self._model = _model(orders, key)
        self._settings = _settings(orders)
        self._tools = ModelRequestParameters(
            function_tools=[
                ToolDefinition(name=name, description=TOOLS[name].about, parameters_json_schema=TOOLS[name].schema())
                for name in orders.tools
            ]
        )
        self._messages: list[ModelMessage] = []

    def say(self, prompt: str) -> None:
        """The task, to be sent with the next request."""
        self._messages.append(self._request([UserPromptPart(prompt)]))

    def keep(self, answer: Answer) -> None:
        """Let an answer stand in the conversation; each of its calls needs a result then."""
        self._messages.append(answer.response)

    def give_results(self, results: Sequence[tuple[Call, str, bool]]) -> None:
        """What came of the calls of the last answer, in order; the flag says that one failed."""
        self._messages.append(
            self._request(
                [
                    ToolReturnPart(
                        call.part.tool_name,
                        result,
                        call.part.tool_call_id,
                        outcome="failed" if failed else "success",
                    )
                    for call, result, failed in results
                ]
            )
        )

    async def ask(self) -> Answer:
        """The answer to the conversation as it stands. Raises ServiceFault."""
        try:
            response = await self._response()
        except exceptions.ModelHTTPError as error:
            raise _refusal(error, error.status_code) from error
        except (exceptions.ModelTimeoutError, exceptions.ModelRequestTimeout) as error:
            raise ServiceFault(Failure.SILENT, str(error), may_help_again=True) from error
        except exceptions.ModelConnectionError as error:
            raise ServiceFault(Failure.UNREACHABLE, _root_of(error), may_help_again=True) from error
        except exceptions.ModelAPIError as error:
            raise _refusal(error, None) from error
        except exceptions.ContentFilterError as error:
            raise ServiceFault(Failure.WITHHELD, str(error)) from error
        except Exception as error:  # an answer in no shape at all ends in any of the library's ways
            said = f"{type(error).__name__}: {error}"
            raise ServiceFault(Failure.UNREADABLE, said, may_help_again=True) from error
        return _answer(response)

    async def _response(self) -> ModelResponse:
        if not self._orders.stream:
            return await model_request(
                self._model, self._messages, model_settings=self._settings, model_request_parameters=self._tools
            )
        async with model_request_stream(
            self._model, self._messages, model_settings=self._settings, model_request_parameters=self._tools
        ) as stream:
            async for _ in stream:
                pass
            return stream.get()

    def _request(self, parts: Sequence[Any]) -> ModelRequest:
        return ModelRequest(parts=list(parts), instructions=self._orders.instructions or None)


def _model(orders: Orders, key: str | None) -> Model:
    if orders.protocol is Protocol.ANTHROPIC:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        address = None if orders.base_url is None else orders.base_url.rstrip("/").removesuffix("/v1")
        return AnthropicModel(orders.model, provider=AnthropicProvider(api_key=key or "none", base_url=address))
    from pydantic_ai.models.openai import OpenAIChatModel

    if orders.base_url is None:
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(orders.model, provider=OpenAIProvider(api_key=key or "none"))
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider("service", base_url=orders.base_url, api_key=key)
    return OpenAIChatModel(orders.model, provider=provider)


def _settings(orders: Orders) -> Any:
    """The library's model settings: a TypedDict of its own."""
    optional = {"max_tokens": orders.max_tokens, "temperature": orders.temperature, "extra_body": orders.extra_body}
    chosen: dict[str, Any] = {name: value for name, value in optional.items() if value is not None}
    if orders.protocol is Protocol.ANTHROPIC and orders.base_url is None:
        chosen["anthropic_cache"] = True  # each request repeats the conversation so far
    # Its client would try again by itself, unseen; that is our part.
    return chosen | {"timeout": orders.request_timeout_seconds, "max_retries": 0}


def _answer(response: ModelResponse) -> Answer:
    usage = response.usage
    measured = not getattr(usage, "unmeasured_requests", 0) and (usage.input_tokens or usage.output_tokens)
    return Answer(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        calls=tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart)),
        tokens=Tokens(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        if measured
        else None,
        model=response.model_name or "",
        cut=response.finish_reason == "length",
        withheld=response.finish_reason == "content_filter",
        cost=usage.cost,
        response=response,
    )


def _call(part: ToolCallPart) -> Call:
    try:
        arguments = part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError):
        return Call(part.tool_name, None, part.args, part)
    return Call(part.tool_name, arguments, arguments, part)


def _refusal(error: exceptions.ModelAPIError, status: int | None) -> ServiceFault:
    names: tuple[str | None, ...] = (error.provider_error_code, error.provider_error_type)
    quota = isinstance(error, exceptions.ModelQuotaExceededError)
    if quota:
        names = (*names, "insufficient_quota")
    again = not quota and (status in _TRIED_AGAIN or isinstance(error, _PASSING))
    return ServiceFault(
        Failure.SERVICE,
        _words_of(error),
        status=status,
        names=names,
        retry_after=error.retry_after,
        may_help_again=again,
    )


def _words_of(error: exceptions.ModelAPIError) -> str:
    """The message within the body that the service answered; the body itself when there is none."""
    body: Any = error.body
    for _ in range(2):
        if isinstance(body, dict):
            if isinstance(body.get("message"), str):
                return str(body["message"])
            body = body.get("error", body)
    return str(body) if body else str(error)


def _root_of(error: BaseException) -> str:
    """The innermost reason: "Connection error." says less than "connection refused"."""
    reasons = [str(error)]
    while (cause := error.__cause__ or error.__context__) is not None and len(reasons) < 10:
        error = cause
        if str(error) and str(error) not in reasons:
            reasons.append(str(error))
    return f"{reasons[0]} ({reasons[-1]})" if len(reasons) > 1 else reasons[0]
