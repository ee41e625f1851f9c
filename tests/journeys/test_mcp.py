"""The MCP door of a real server, used by the SDK's own client over loopback, and the server's end after it."""

import asyncio
import signal
import time
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.journeys.server import EmbeddedServer, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.once]


def ask(server: EmbeddedServer, act: Callable[[Client], Any], **client: Any) -> Any:
    """What a client of the door gets to know."""

    async def talk() -> Any:
        headers = {"authorization": f"Bearer {server.key}"}
        http = httpx2.AsyncClient(headers=headers, trust_env=False)
        async with http, Client(streamable_http_client(f"{server.address}/mcp", http_client=http), **client) as one:
            return await act(one)

    return asyncio.run(talk())


def call(server: EmbeddedServer, tool: str, **arguments: Any) -> Any:
    result = ask(server, lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.structured_content
    return result.structured_content


def test_a_loop_is_started_over_mcp_and_read_to_its_end(server: EmbeddedServer) -> None:
    started = call(server, "run_agent_loop", agent_name="practice", message="say a number", max_runs=2)

    def ended() -> Any:
        loop = call(server, "get_loop_status", loop_id=started["loop_id"])
        return loop if loop["status"] == "completed" else None

    loop = wait_for(ended, what="the loop to end")
    assert (loop["stop_reason"], len(loop["runs"])) == ("max_runs_reached", 2)
    assert call(server, "stop_loop", loop_id=loop["loop_id"])["status"] == "already_done"


def test_many_clients_at_once_are_answered(server: EmbeddedServer) -> None:
    async def talk() -> list[Any]:
        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {server.key}"}, trust_env=False, timeout=30)
        async with http:

            async def one() -> Any:
                async with Client(streamable_http_client(f"{server.address}/mcp", http_client=http)) as client:
                    return (await client.call_tool("list_agents", {})).is_error

            return await asyncio.gather(*(one() for _ in range(20)))

    assert asyncio.run(talk()) == [False] * 20


def test_the_server_ends_at_once_after_the_door_was_used(server: EmbeddedServer) -> None:
    call(server, "list_agents")

    server.send(signal.SIGTERM)
    began = time.monotonic()
    server.wait(seconds=15)

    assert time.monotonic() - began < 8
