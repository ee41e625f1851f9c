"""Calls the MCP door with the SDK's own client, through the application that Daphne serves."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from django.db import connections
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from accounts.models import AuditEvent
from accounts.services import create_key
from agents.models import AgentPermission, AgentShare
from trinity.asgi import application

ADDRESS = "http://testserver/mcp"


class McpCaller:
    """One key, and what it may do."""

    def __init__(self, secret: str | None) -> None:
        self.headers = {} if secret is None else {"authorization": f"Bearer {secret}"}

    def call(self, tool: str, **arguments: Any) -> tuple[bool, Any]:
        """Whether it was refused, and the body."""
        result = self._with_client(lambda client: client.call_tool(tool, arguments))
        return result.is_error, result.structured_content

    def tools(self) -> Any:
        return self._with_client(lambda client: client.list_tools()).tools

    def send(self, method: str = "POST", path: str = "/mcp", **headers: str) -> httpx2.Response:
        """One bare request."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"accept": "application/json, text/event-stream"}

        async def send() -> httpx2.Response:
            async with self._http(self.headers | accept | headers) as http:
                return await http.request(method, f"http://testserver{path}", json=body)

        return asyncio.run(_then_close(send))

    def _with_client(self, act: Callable[[Client], Any]) -> Any:
        async def talk() -> Any:
            http = self._http(self.headers)
            async with http, Client(streamable_http_client(ADDRESS, http_client=http)) as client:
                return await act(client)

        return asyncio.run(_then_close(talk))

    def _http(self, headers: dict[str, str]) -> httpx2.AsyncClient:
        # The whole application takes websockets too; a request is for its HTTP part.
        transport = httpx2.ASGITransport(application.application_mapping["http"])
        return httpx2.AsyncClient(transport=transport, headers=headers)


async def _then_close(act: Callable[[], Any]) -> Any:
    try:
        return await act()
    finally:
        await application.application_mapping["http"]._server.close()


@pytest.fixture(autouse=True)
def closed_connections(transactional_db: None) -> Any:
    yield
    connections.close_all()


@pytest.fixture
def people(
    agent: Any, make_agent: Any, alice: Any, bob: Any, carol: Any, mallory: Any, admin_user: Any
) -> dict[str, McpCaller]:
    """Carol is a client, Mallory a stranger, Bob shared with; editor may call scribe, hermit may not."""
    AgentShare.objects.create(agent=agent, user=bob)
    editor, hermit = make_agent("editor"), make_agent("hermit")
    AgentPermission.objects.create(caller=editor, target=agent)
    users = {"carol": carol, "mallory": mallory, "bob": bob, "alice": alice, "admin": admin_user}
    keys = {name: create_key(user=user).secret for name, user in users.items()}
    keys |= {one.name: create_key(agent_id=one.pk).secret for one in (agent, editor, hermit)}
    return {name: McpCaller(secret) for name, secret in keys.items()} | {"nobody": McpCaller(None)}


@pytest.fixture
def refusals() -> Callable[[], list[tuple[str, str]]]:
    """What the audit log says of refused agents."""
    return lambda: list(AuditEvent.objects.filter(refused=True).order_by("at", "pk").values_list("action", "target"))
