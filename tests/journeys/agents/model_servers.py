"""Small model services on loopback, so that real command-line agents run without a model; they judge nothing.

A prompt that contains "SCENARIO:name" gets the turns of that scenario, one per request, by the number of tool
results that the conversation already holds.
"""

import json
import re
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Say = str
Call = tuple[str, dict[str, Any]]
Turn = list[Say | Call]

HELLO: list[Turn] = [["Hello from the model."]]


class ModelServer(ThreadingHTTPServer):
    """One service; `scenarios` maps a name to its turns, or to the HTTP status it fails with."""

    daemon_threads = True

    def __init__(self, handler: type["_Handler"], scenarios: dict[str, list[Turn] | int]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.scenarios = scenarios
        self.requests: list[dict[str, Any]] = []
        self.limit_resets_at: int | None = None  # with it a 429 is a usage limit

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def turn(self, words: str, number: int) -> Turn | int:
        name = re.search(r"SCENARIO:(\w+)", words)
        turns = self.scenarios.get(name[1], HELLO) if name else HELLO
        return turns if isinstance(turns, int) else turns[min(number, len(turns) - 1)]


@contextmanager
def serving(handler: type["_Handler"], scenarios: dict[str, list[Turn] | int]) -> Iterator[ModelServer]:
    server = ModelServer(handler, scenarios)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_words: object) -> None:
        pass

    def do_GET(self) -> None:
        self.answer(404, {"error": {"message": "not here", "type": "not_found"}})

    do_HEAD = do_GET

    def body(self) -> dict[str, Any]:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        self.server.requests.append(body)
        return body

    def answer(self, status: int, facts: Any, headers: dict[str, str] | None = None) -> None:
        text = json.dumps(facts).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, type: str, **facts: Any) -> None:
        self.wfile.write(f"event: {type}\ndata: {json.dumps({'type': type, **facts})}\n\n".encode())
        self.wfile.flush()


class AnthropicHandler(_Handler):
    """The Messages API; every answer counts 1000 tokens in and 50 out."""

    def do_POST(self) -> None:
        body = self.body()
        if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
            self.answer(404, {"type": "error", "error": {"type": "not_found_error", "message": self.path}})
            return
        users = json.dumps([message["content"] for message in body["messages"] if message["role"] == "user"])
        turn = self.server.turn(users, _tool_turns(body["messages"]))
        if isinstance(turn, int):
            self._fail(turn)
        elif turn == ["…"]:
            time.sleep(60)
        else:
            self._stream(body, turn)

    def _fail(self, status: int) -> None:
        kind = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
        headers = {"request-id": "req_test"}
        if status == 429 and self.server.limit_resets_at is not None:
            reset = str(self.server.limit_resets_at)
            headers |= {
                "anthropic-ratelimit-unified-status": "rejected",
                "anthropic-ratelimit-unified-reset": reset,
                "anthropic-ratelimit-unified-representative-claim": "five_hour",
                "anthropic-ratelimit-unified-5h-status": "rejected",
                "anthropic-ratelimit-unified-5h-reset": reset,
            }
        error = {"type": kind.get(status, "invalid_request_error"), "message": f"status {status}"}
        self.answer(status, {"type": "error", "error": error}, headers)

    def _stream(self, body: dict[str, Any], turn: Turn) -> None:
        usage = {"input_tokens": 1000, "output_tokens": 1}
        message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "content": []}
        self.begin_stream()
        self.event("message_start", message={**message, "model": body["model"], "usage": usage})
        for index, part in enumerate(turn):
            self._block(index, part)
        reason = "end_turn" if all(isinstance(part, str) for part in turn) else "tool_use"
        self.event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 50})
        self.event("message_stop")

    def _block(self, index: int, part: Say | Call) -> None:
        if isinstance(part, str):
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": part}
        else:
            tool, arguments = part
            block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": tool, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        self.event("content_block_start", index=index, content_block=block)
        self.event("content_block_delta", index=index, delta=delta)
        self.event("content_block_stop", index=index)


class OpenAIHandler(_Handler):
    """The Responses API; every answer counts 1000 tokens in, 400 of them cached, and 50 out."""

    def do_POST(self) -> None:
        body = self.body()
        if not self.path.endswith("/responses"):
            self.answer(404, {"error": {"message": self.path, "type": "not_found"}})
            return
        users = json.dumps([part for part in body["input"] if part.get("role") == "user"])
        turn = self.server.turn(users, _call_turns(body["input"]))
        if isinstance(turn, int):
            self._fail(turn)
        else:
            self._stream(body, turn)

    def _fail(self, status: int) -> None:
        error = {"message": f"status {status}", "type": "test", "code": "test"}
        if status == 429 and self.server.limit_resets_at is not None:
            error = {
                "type": "usage_limit_reached",
                "message": "limit",
                "resets_at": self.server.limit_resets_at,
            }
        self.answer(status, {"error": error})

    def _stream(self, body: dict[str, Any], turn: Turn) -> None:
        output = [self._part(part) for part in turn]
        usage = {
            "input_tokens": 1000,
            "input_tokens_details": {"cached_tokens": 400},
            "output_tokens": 50,
            "output_tokens_details": {"reasoning_tokens": 10},
            "total_tokens": 1050,
        }
        response = {"id": "resp_test", "object": "response", "model": body["model"], "output": []}
        self.begin_stream()
        self.event("response.created", response={**response, "status": "in_progress"})
        for index, part in enumerate(output):
            self.event("response.output_item.added", output_index=index, item={**part, "status": "in_progress"})
            self.event("response.output_item.done", output_index=index, item=part)
        done = {**response, "status": "completed", "output": output, "usage": usage}
        self.event("response.completed", response=done)

    def _part(self, part: Say | Call) -> dict[str, Any]:
        if isinstance(part, str):
            content = [{"type": "output_text", "text": part, "annotations": []}]
            return {
                "type": "message",
                "id": f"msg_{uuid.uuid4().hex}",
                "role": "assistant",
                "content": content,
            }
        tool, arguments = part
        namespace, _, name = tool.rpartition("/")
        return {
            "type": "function_call",
            "id": f"fc_{uuid.uuid4().hex}",
            "call_id": f"call_{uuid.uuid4().hex}",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
            **({"namespace": namespace} if namespace else {}),
        }


def _tool_turns(messages: list[dict[str, Any]]) -> int:
    """How often the model has called tools already."""
    return sum(
        message["role"] == "assistant"
        and isinstance(message["content"], list)
        and any(block.get("type") == "tool_use" for block in message["content"])
        for message in messages
    )


def _call_turns(parts: list[dict[str, Any]]) -> int:
    kinds = [part.get("type") for part in parts]
    return sum(
        kind == "function_call" and (index == 0 or kinds[index - 1] != "function_call")
        for index, kind in enumerate(kinds)
    )
