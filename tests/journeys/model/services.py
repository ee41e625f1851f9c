"""Model services of both protocols on loopback, which answer what a test lays out for them; they judge nothing."""

import json
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HANGS_SECONDS = 30


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` that are a text are sent as they stand, JSON or not."""

    tool: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True)
class Answer:
    """One answer of the model: texts and calls, and how it says that it ended."""

    parts: Sequence[str | Call] = ("Hello from the model.",)
    ended: str = ""  # in the protocol's own words; blank: as the parts have it
    usage: bool = True
    input_tokens: int = 1_000


@dataclass(frozen=True)
class Refusal:
    """An HTTP error."""

    status: int
    kind: str = "test_error"
    message: str = "turned away"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """Any bytes as a 200."""

    body: bytes
    content_type: str = "application/json"


class Hang:
    """No answer at all."""


Turn = Answer | Refusal | Raw | Hang


class ModelService(ThreadingHTTPServer):
    """One service. The N-th request gets the N-th turn; the last one repeats."""

    daemon_threads = True

    def __init__(self, handler: type["_Handler"], turns: Sequence[Turn]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.asked = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving(protocol: str, *turns: Turn) -> Iterator[ModelService]:
    service = ModelService(HANDLERS[protocol], turns or (Answer(),))
    threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelService
    path_of_answers: str

    def log_message(self, *_words: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.asked.set()
        turn = self.server.turns[min(len(self.server.requests), len(self.server.turns)) - 1]
        if self.path != self.path_of_answers:
            turn = Refusal(404, "not_found", self.path)
        match turn:
            case Refusal():
                self._send(turn.status, json.dumps(self.error(turn)).encode(), turn.headers)
            case Raw():
                self._send(200, turn.body, {"content-type": turn.content_type})
            case Answer() if body.get("stream"):
                self._stream(self.events(body, turn))
            case Answer():
                self._send(200, json.dumps(self.whole(body, turn)).encode())
            case _:
                time.sleep(HANGS_SECONDS)

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, events: Iterator[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            self.wfile.write(event.encode())
            self.wfile.flush()

    def error(self, refusal: Refusal) -> Any:
        raise NotImplementedError

    def whole(self, body: dict[str, Any], answer: Answer) -> Any:
        raise NotImplementedError

    def events(self, body: dict[str, Any], answer: Answer) -> Iterator[str]:
        raise NotImplementedError


class OpenAIHandler(_Handler):
    """Chat completions; every answer counts 400 of its tokens as cached, and 50 out."""

    path_of_answers = "/v1/chat/completions"

    def error(self, refusal: Refusal) -> Any:
        return {"error": {"message": refusal.message, "type": refusal.kind, "code": refusal.kind}}

    def whole(self, body: dict[str, Any], answer: Answer) -> Any:
        message = {"role": "assistant", "content": _text(answer), "tool_calls": self._calls(answer) or None}
        choice = {"index": 0, "finish_reason": self._ended(answer), "message": message}
        return {**self._head(body, "chat.completion"), "choices": [choice], **self._usage(answer)}

    def events(self, body: dict[str, Any], answer: Answer) -> Iterator[str]:
        head = self._head(body, "chat.completion.chunk")
        calls = [{"index": index, **call} for index, call in enumerate(self._calls(answer))]
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": _text(answer)}]
        deltas += [{"tool_calls": calls}] if calls else []
        for delta in deltas:
            yield self._event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield self._event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": self._ended(answer)}]})
        yield self._event({**head, "choices": [], **self._usage(answer)})
        yield "data: [DONE]\n\n"

    def _event(self, facts: Any) -> str:
        return f"data: {json.dumps(facts)}\n\n"

    def _head(self, body: dict[str, Any], kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": 1_796_000_000, "model": body["model"]}

    def _calls(self, answer: Answer) -> list[dict[str, Any]]:
        # Some services number the calls of each answer anew: the ids are the same in every answer.
        return [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call.tool, "arguments": _written(call)},
            }
            for number, call in enumerate(_calls(answer))
        ]

    def _ended(self, answer: Answer) -> str:
        return answer.ended or ("tool_calls" if _calls(answer) else "stop")

    def _usage(self, answer: Answer) -> dict[str, Any]:
        if not answer.usage:
            return {}
        usage = {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": 50,
            "total_tokens": answer.input_tokens + 50,
            "prompt_tokens_details": {"cached_tokens": 400},
        }
        return {"usage": usage}


class AnthropicHandler(_Handler):
    """The Messages API; every answer counts 500 tokens read from the cache beside its own, and 50 out."""

    path_of_answers = "/v1/messages"

    def do_POST(self) -> None:
        self.path = self.path.partition("?")[0]
        super().do_POST()

    def error(self, refusal: Refusal) -> Any:
        return {"type": "error", "error": {"type": refusal.kind, "message": refusal.message}}

    def whole(self, body: dict[str, Any], answer: Answer) -> Any:
        return {
            **self._head(body, answer),
            "content": self._blocks(answer),
            "stop_reason": self._ended(answer),
            "usage": self._usage(answer) | {"output_tokens": 50 if answer.usage else 0},
        }

    def events(self, body: dict[str, Any], answer: Answer) -> Iterator[str]:
        head = {**self._head(body, answer), "content": [], "stop_reason": None, "usage": self._usage(answer)}
        yield self._event("message_start", message=head)
        for index, (block, part) in enumerate(zip(self._blocks(answer), answer.parts, strict=True)):
            if isinstance(part, Call):
                empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": _written(part)}
            else:
                empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": part}
            yield self._event("content_block_start", index=index, content_block=empty)
            yield self._event("content_block_delta", index=index, delta=delta)
            yield self._event("content_block_stop", index=index)
        delta = {"stop_reason": self._ended(answer), "stop_sequence": None}
        yield self._event("message_delta", delta=delta, usage={"output_tokens": 50 if answer.usage else 0})
        yield self._event("message_stop")

    def _event(self, kind: str, **facts: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **facts})}\n\n"

    def _head(self, body: dict[str, Any], answer: Answer) -> dict[str, Any]:
        return {
            "id": f"msg_{uuid.uuid4().hex}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "stop_sequence": None,
        }

    def _blocks(self, answer: Answer) -> list[dict[str, Any]]:
        return [
            {
                "type": "tool_use",
                "id": f"toolu_{uuid.uuid4().hex}",
                "name": part.tool,
                "input": part.arguments if isinstance(part.arguments, dict) else {},
            }
            if isinstance(part, Call)
            else {"type": "text", "text": part}
            for part in answer.parts
        ]

    def _ended(self, answer: Answer) -> str:
        return answer.ended or ("tool_use" if _calls(answer) else "end_turn")

    def _usage(self, answer: Answer) -> dict[str, Any]:
        if not answer.usage:
            return {"input_tokens": 0, "output_tokens": 0}
        cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 500}
        return {"input_tokens": answer.input_tokens - 500, "output_tokens": 1, **cached}


HANDLERS: dict[str, type[_Handler]] = {"openai": OpenAIHandler, "anthropic": AnthropicHandler}


def results_in(request: dict[str, Any]) -> list[str]:
    """The tool results that a request carries, in order, whatever the protocol."""
    results = []
    for message in request["messages"]:
        if message["role"] == "tool":
            results.append(message["content"])
        elif isinstance(message["content"], list):
            blocks = [block for block in message["content"] if block.get("type") == "tool_result"]
            results += [_result(block["content"]) for block in blocks]
    return results


def tools_in(request: dict[str, Any]) -> list[str]:
    """The names of the tools that a request offers."""
    return [tool.get("name") or tool["function"]["name"] for tool in request.get("tools", [])]


def _result(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def _calls(answer: Answer) -> list[Call]:
    return [part for part in answer.parts if isinstance(part, Call)]


def _text(answer: Answer) -> str | None:
    return "".join(part for part in answer.parts if isinstance(part, str)) or None


def _written(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
