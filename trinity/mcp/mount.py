"""Puts the MCP server beside Django at /mcp: knows who asks before anything is read, and keeps no session.

Every request brings its bearer key, so a key that ends, ends at once; and any web process may answer any request.
"""

import asyncio
import contextvars
import importlib
import json
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from accounts.authentication import viewer_of_bearer
from accounts.viewers import Viewer
from trinity.kernel.errors import Refused
from trinity.kernel.ids import new_id
from trinity.kernel.vocabulary import RefusalCode
from trinity.mcp.asking import REQUEST_ID, VIEWER, in_thread
from trinity.rest.problems import CHALLENGE, MEDIA_TYPE, as_refusal, problem_of

PATH = "/mcp"
CLOSE_SECONDS = 5
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]


class WithMcp:
    """An ASGI application: /mcp is the MCP server's, everything else `pages`'."""

    def __init__(self, pages: App) -> None:
        self._pages = pages
        self._server = Living()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] not in (PATH, f"{PATH}/"):
            await self._pages(scope, receive, send)
            return
        request_id = new_id("req")
        try:
            viewer = await self._viewer(scope)
        except Exception as error:  # what is no refusal is Django's to answer and to log
            refusal = as_refusal(error)
            if refusal is None:
                raise
            await _refuse(send, refusal, request_id)
            return
        # `/mcp/` as `/mcp`: a redirect of a POST is not followed by every client.
        own = {**scope, "path": PATH, "raw_path": PATH.encode(), "root_path": ""}
        app = await self._server.app()
        await app({**own, VIEWER: viewer, REQUEST_ID: request_id}, receive, send)

    async def _viewer(self, scope: Scope) -> Viewer:
        """Who asks. Refused: a strange host or origin, another method, no key, and clients."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        _refuse_strangers(headers)
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise Refused("No key was given: send `Authorization: Bearer <key>`.", code=RefusalCode.UNAUTHENTICATED)
        viewer: Viewer | None = await in_thread(viewer_of_bearer, secret.strip())
        if viewer is None:
            raise Refused("The key is unknown, expired or revoked.", code=RefusalCode.UNAUTHENTICATED)
        if viewer.is_client:  # to a client agents and loops do not exist, so neither does their door
            raise Refused("There is nothing here.", code=RefusalCode.NOT_FOUND)
        if scope["method"] != "POST":
            raise Refused(
                "Only POST: this server keeps no session and sends nothing by itself.",
                code=RefusalCode.METHOD_NOT_ALLOWED,
            )
        return viewer


class Living:
    """The MCP application of the running event loop, begun with the first request.

    Daphne tells an application neither of its start nor of its end, and the application needs both; it may begin only
    once, so a new event loop (each test has one) gets a new one.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready: asyncio.Future[App]
        self._ended: asyncio.Event
        self._task: asyncio.Task[None]

    async def app(self) -> App:
        """The application, once it has begun."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._ready, self._ended = loop, loop.create_future(), asyncio.Event()
            # In a context of its own: else it would keep that of the first request.
            self._task = loop.create_task(self._live(self._ready, self._ended), context=contextvars.Context())
            self._end_with_daphne()
        return await asyncio.shield(self._ready)

    async def close(self) -> None:
        """End it, and what it has begun."""
        if self._loop is None:
            return
        self._loop = None
        self._ended.set()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)

    async def _live(self, ready: "asyncio.Future[App]", ended: asyncio.Event) -> None:
        try:
            # Not at the start of the server: the library takes a second to load, and many never need it.
            server = await asyncio.to_thread(importlib.import_module, "trinity.mcp.server")
            app = server.build_app(PATH)
            async with app.router.lifespan_context(app):
                ready.set_result(app)
                await ended.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
                self._loop = None  # the next request tries again
            raise

    def _end_with_daphne(self) -> None:
        """Before the reactor stops: what waits in a thread of the library's would keep the process alive."""
        if "daphne.server" not in sys.modules or getattr(settings, "IN_TESTS", False):
            return
        from twisted.internet import defer, reactor

        def close() -> Any:
            return defer.Deferred.fromFuture(asyncio.ensure_future(self.close()))

        reactor.addSystemEventTrigger("before", "shutdown", close)  # type: ignore[arg-type]


def _refuse_strangers(headers: dict[str, str]) -> None:
    """A page of another site, in a browser of somebody's, is not let in; it could not have a key either."""
    host, _ = split_domain_port(headers.get("host", ""))
    allowed = settings.ALLOWED_HOSTS or (["localhost", "127.0.0.1", "[::1]"] if settings.DEBUG else [])
    if not host or not validate_host(host, allowed):
        raise Refused("The Host header names a host that this server does not serve.", code=RefusalCode.MALFORMED)
    origin = headers.get("origin")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return
    if urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
        raise Refused("This Origin may not ask here.", code=RefusalCode.FORBIDDEN)


async def _refuse(send: Send, refusal: Refused, request_id: str) -> None:
    status, body = problem_of(refusal, request_id)
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"cache-control", b"no-store")]
    if refusal.code is RefusalCode.UNAUTHENTICATED:
        headers.append((b"www-authenticate", CHALLENGE.encode()))
    if refusal.code is RefusalCode.METHOD_NOT_ALLOWED:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
