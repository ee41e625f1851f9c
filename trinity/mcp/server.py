"""The MCP server: lists the tools and calls them, and translates what they raise; holds no rule and no session."""

import json
from collections.abc import Mapping
from typing import Any

import structlog
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from accounts.viewers import Viewer
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode
from trinity.mcp.asking import REQUEST_ID, VIEWER, in_thread
from trinity.mcp.tools import ToolDoor, tools
from trinity.rest.parsers import MAX_BYTES
from trinity.rest.problems import as_refusal, problem_of

log = structlog.get_logger(__name__)
INSTRUCTIONS = """\
Trinity runs AI agents in loops: the same task, sent to one agent again and again, strictly one run after another, \
until a guardrail ends it. A loop goes on by itself on the server: start it, and read now and then how it stands."""


def build_app(path: str) -> Starlette:
    """An ASGI application of all registered tools, without sessions; it serves until its lifespan ends."""
    server: Server[Any] = Server(
        "trinity", title="Trinity", instructions=INSTRUCTIONS, on_list_tools=_list, on_call_tool=_call
    )
    return server.streamable_http_app(
        streamable_http_path=path,
        stateless_http=True,
        json_response=True,
        max_request_body_size=MAX_BYTES,
        # Ours, which knows ALLOWED_HOSTS, has asked already.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


async def _list(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_told(name, tool) for name, tool in tools.entries()])


def _told(name: str, tool: ToolDoor) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title, read_only_hint=tool.read_only, destructive_hint=False, open_world_hint=False
    )
    return types.Tool(name=name, title=tool.title, description=tool.about, input_schema=tool.schema, annotations=hints)


async def _call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    scope = context.request.scope
    viewer, request_id = scope[VIEWER], scope[REQUEST_ID]
    with structlog.contextvars.bound_contextvars(request_id=request_id, tool=params.name[:100]):
        try:
            return _result(await in_thread(_act, viewer, params.name, params.arguments or {}))
        except Exception as error:  # the outermost edge of this door, as the 500 handler is that of REST
            refusal = as_refusal(error)
            if refusal is None:
                log.exception("a tool of the MCP door failed")
                refusal = Refused("Trinity itself failed; its log says more.", code=RefusalCode.UNAVAILABLE)
            _, problem = problem_of(refusal, request_id)
            return _result(problem, is_error=True)


def _act(viewer: Viewer, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(name for name, _ in tools.entries())
        raise Refused(f"There is no tool {name[:100]!r}. Known: {known}.", code=RefusalCode.NOT_FOUND)
    return tool.act(viewer, given)


def _result(body: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    """Both as text, which every client hands to its model, and as a value."""
    text = json.dumps(body, ensure_ascii=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=body, is_error=is_error
    )
