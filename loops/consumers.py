"""The sockets that tell what moved and to which version; they carry no text, hold no rule and make no query.

`/ws/agents/{name}/` tells of one agent, `/ws/loops/` of all that one may see (section 2, "Live events"). They tell of
loops; with `?everything`, as pages ask, of agents and of executions outside loops besides, which have no loop's id.
"""

import asyncio
import contextlib
import json
import random
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from accounts.sockets import viewer_of_scope
from accounts.viewers import Viewer
from agents.queries import heard_agent, heard_agents
from trinity import live_groups
from trinity.kernel.errors import Refused

EVERYTHING = b"everything"
NOT_LOGGED_IN, NOT_TO_BE_SEEN, START_AGAIN = 4401, 4404, 1012
ACCESS_SECONDS = 10.0  # how often access is asked again, give or take a fifth
SOON_SECONDS = 0.5  # after a change of access, the same


class LiveSocket(AsyncWebsocketConsumer):  # type: ignore[misc] # Channels is not typed
    """What both sockets do: let in, hand on, and close when access ends."""

    for_clients = False

    async def connect(self) -> None:
        self.joined: set[str] = set()
        self.asking: asyncio.Task[None] | None = None
        self.access_moved = asyncio.Event()
        self.hears_everything = EVERYTHING in parse_qs(self.scope["query_string"], keep_blank_values=True)
        await self.accept()  # a refusal before this would lose its code
        await live_groups.begin()
        if await self.join_what_may_be_seen():
            self.asking = asyncio.create_task(self._ask_again())

    async def disconnect(self, code: int) -> None:
        if self.asking is not None:
            self.asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.asking
        await self._join(set())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A page asks whether the line still holds; anything else is passed over."""
        if text_data == "beat":
            await self.send(json.dumps({"type": "beat"}))

    async def live_event(self, message: dict[str, Any]) -> None:
        await self.send(message["text"])

    async def live_besides(self, message: dict[str, Any]) -> None:
        """An agent changed, or an execution outside loops moved."""
        if self.hears_everything:
            await self.send(message["text"])

    async def live_missed(self, message: dict[str, Any]) -> None:
        """Events were lost on their way here: whoever listens begins again, and reads what it shows."""
        await self.close(START_AGAIN)

    async def live_access(self, message: dict[str, Any]) -> None:
        """Somebody's access changed: whether it is this one's is asked soon."""
        self.access_moved.set()

    async def join_what_may_be_seen(self) -> bool:
        """Hear of what may be seen now; close, and answer False, when there is no access."""
        groups, code = await database_sync_to_async(self._visible_now)()
        if code:
            await self.close(code)
            return False
        await self._join(groups | {live_groups.EVERYBODY})
        return True

    async def _ask_again(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.access_moved.wait(), ACCESS_SECONDS * _spread())
                await asyncio.sleep(SOON_SECONDS * _spread())
            self.access_moved.clear()
            known = self.joined
            if not await self.join_what_may_be_seen():
                return
            if self.joined != known and self.hears_everything:
                await self.send(json.dumps({"type": "access_changed"}))  # a page that lists agents reads again

    async def _join(self, wanted: set[str]) -> None:
        for group in self.joined - wanted:
            await self.channel_layer.group_discard(group, self.channel_name)
        for group in wanted - self.joined:
            await self.channel_layer.group_add(group, self.channel_name)
        self.joined = wanted

    def _visible_now(self) -> tuple[set[str], int]:
        """The groups to hear, or the code to close with."""
        viewer = viewer_of_scope(self.scope)
        if viewer is None:
            return set(), NOT_LOGGED_IN
        if viewer.is_client and not self.for_clients:
            return set(), NOT_TO_BE_SEEN
        try:
            return self.groups_of(viewer), 0
        except Refused:
            return set(), NOT_TO_BE_SEEN

    def groups_of(self, viewer: Viewer) -> set[str]:
        """The groups this socket tells of. Refused when what it is about may not be seen."""
        raise NotImplementedError


def _spread() -> float:
    """So that many sockets do not ask at once."""
    return random.uniform(0.8, 1.2)  # noqa: S311 — guards nothing


class AgentSocket(LiveSocket):
    """Tells of one agent."""

    def groups_of(self, viewer: Viewer) -> set[str]:
        return {live_groups.group_of(heard_agent(viewer, self.scope["url_route"]["kwargs"]["name"]))}


class LoopsSocket(LiveSocket):
    """Tells of all agents that one may see; one that is shared later is heard of soon after."""

    def groups_of(self, viewer: Viewer) -> set[str]:
        return {live_groups.group_of(pk) for pk in heard_agents(viewer).order_by().values_list("pk", flat=True)}


class NoSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Any other address."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(NOT_TO_BE_SEEN)
