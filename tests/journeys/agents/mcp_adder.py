"""An MCP server on stdin and stdout with two tools, `add` and `boom`; for tests of agents that use one."""

import json
import sys

INTEGERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "adder", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": name, "description": name, "inputSchema": INTEGERS} for name in ("add", "boom")]}
    if method == "tools/call":
        arguments = params["arguments"]
        return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": reply}), flush=True)
