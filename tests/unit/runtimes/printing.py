"""Makes what a runtime reads, out of recorded output or of lines written in a test; asserts nothing."""

import datetime as dt
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agents.runtimes.base import Outcome, Printed
from agents.runtimes.registry import runtime

FIXTURES = Path(__file__).parents[2] / "data" / "fixtures"
SAID_AT = dt.datetime(2026, 11, 30, 20, 32, tzinfo=dt.UTC)
FINAL = {"type": "result", "subtype": "success", "is_error": False, "result": "done", "total_cost_usd": 0.5}


def recorded(name: str, **facts: Any) -> Printed:
    """`name` is such as "claude/two_stream"; the process ended well unless `facts` say otherwise."""
    return Printed(
        **{
            "stdout": FIXTURES / f"{name}.out",
            "stderr": FIXTURES / "nothing",
            "exit_code": 0,
            "ended_at": SAID_AT,
            **facts,
        }
    )


def printed(folder: Path, stdout: bytes | str, stderr: bytes | str = b"", **facts: Any) -> Printed:
    """Output that a test wrote; the process ended well unless `facts` say otherwise."""
    for name, text in (("stdout", stdout), ("stderr", stderr)):
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    paths = {"stdout": folder / "stdout", "stderr": folder / "stderr"}
    return Printed(**{"exit_code": 0, "ended_at": SAID_AT, **paths, **facts})


def json_lines(*objects: Any) -> str:
    return "".join(json.dumps(part) + "\n" for part in objects)


def assistant(*blocks: dict[str, Any], id: str | None = "msg_1", parent: str | None = None, **marks: Any) -> dict:
    message = {"role": "assistant", "model": "claude-x", "content": list(blocks)}
    if id is not None:
        message["id"] = id
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent, **marks}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(tool: str, id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": tool, "input": arguments}


def result(id: str, content: Any, **marks: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": content, **marks}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def failure(said: str = "it broke", **marks: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": True, "result": said, **marks}


def read_stream(what: Printed) -> Outcome:
    return read_as("stream-json", what)


def read_as(output: str, what: Printed) -> Outcome:
    command = runtime("command")
    return command.read(what, command.clean_settings({"argv": ["agent"], "output": output}))


def calls(outcome: Outcome) -> list[list[str]]:
    """The tools of each step that has any."""
    return [[call["tool"] for call in step] for step in model_steps(outcome) if step]


def model_steps(outcome: Outcome) -> list[tuple[dict[str, Any], ...]]:
    return [step for step in outcome.steps if isinstance(step, tuple)]


def events(outcome: Outcome) -> list[dict[str, Any]]:
    return [step for step in outcome.steps if not isinstance(step, tuple)]


def one_call(outcome: Outcome) -> dict[str, Any]:
    (call,) = [call for step in model_steps(outcome) for call in step]
    return call


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w") as file:
        file.writelines(lines)


def init(*statuses: str) -> dict:
    servers = [{"name": f"server{number}", "status": status} for number, status in enumerate(statuses)]
    return {
        "type": "system",
        "subtype": "init",
        "model": "claude-x",
        "mcp_servers": servers,
        "tools": ["Bash"],
    }
