"""An MCP server on stdin and stdout with the tool `agents`: asks Trinity, with the key of the run that started it."""

import json
import os
import sys
import urllib.request


def agents() -> str:
    request = urllib.request.Request(
        os.environ["TRINITY_URL"] + "/api/agents", headers={"Authorization": f"Bearer {os.environ['TRINITY_API_KEY']}"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return ", ".join(one["name"] for one in json.load(answer))


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "trinity", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": "agents", "description": "agents", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": agents()}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": reply}), flush=True)
