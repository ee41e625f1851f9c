"""Sockets as browsers and programs open them, against the application that Daphne serves."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import Client

from trinity import live_groups

HOST = b"testserver"
ORIGIN = b"http://testserver"
Socket = WebsocketCommunicator
Open = Callable[..., Socket]


@pytest.fixture
async def opened(transactional_db: None) -> AsyncIterator[Open]:
    """Opens sockets, and closes them at the end; nothing of them may be left behind."""
    from trinity.asgi import application

    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    sockets: list[Socket] = []

    def open_socket(path: str, *, cookie: str = "", key: str = "", origin: bytes | None = ORIGIN) -> Socket:
        headers = [(b"host", HOST)]
        if origin is not None:
            headers.append((b"origin", origin))
        if cookie:
            headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode()))
        if key:
            headers.append((b"authorization", f"Bearer {key}".encode()))
        socket = WebsocketCommunicator(application, path, headers=headers)
        sockets.append(socket)
        return socket

    yield open_socket
    for socket in sockets:
        await socket.disconnect()
    await live_groups.end()
    assert get_channel_layer().groups == {}
    settings.ALLOWED_HOSTS = settings.ALLOWED_HOSTS[:-1]


async def session_of(user: Any) -> str:
    """The session cookie of a fresh login."""
    client = Client()
    await sync_to_async(client.force_login)(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


async def key_of(**owner: Any) -> str:
    from accounts.services import create_key

    return (await sync_to_async(create_key)(**owner)).secret


async def closed_with(socket: Socket) -> int:
    """The code that it is closed with."""
    connected, _ = await socket.connect()
    assert connected, "a refusal before the handshake has no code"
    return int((await socket.receive_output(timeout=5))["code"])
