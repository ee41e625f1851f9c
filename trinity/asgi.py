"""ASGI: what Daphne serves: pages, the MCP door and sockets."""

import os

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "trinity.settings")
django.setup(set_prefix=False)  # before anything that holds models

import agents.mcp_tools  # noqa: E402
import loops.mcp_tools  # noqa: E402
from agents.models import NAME_PATTERN  # noqa: E402
from loops.consumers import AgentSocket, LoopsSocket, NoSocket  # noqa: E402
from trinity import checks, embedded  # noqa: E402
from trinity.mcp.mount import WithMcp  # noqa: E402
from trinity.pages_handler import PagesHandler  # noqa: E402
from workspace.consumers import RoomSocket, RoomsSocket  # noqa: E402

checks.refuse_unsafe_settings()
agents.mcp_tools.register()
loops.mcp_tools.register()
embedded.refuse_to_serve_alone()

application = ProtocolTypeRouter(
    {
        "http": WithMcp(PagesHandler()),
        "websocket": URLRouter(
            [
                re_path(rf"^ws/agents/(?P<name>{NAME_PATTERN})/\Z", AgentSocket.as_asgi()),
                re_path(r"^ws/loops/\Z", LoopsSocket.as_asgi()),
                re_path(r"^ws/rooms/\Z", RoomsSocket.as_asgi()),
                re_path(r"^ws/rooms/(?P<room_id>room_[A-Za-z0-9_-]{16})/\Z", RoomSocket.as_asgi()),
                re_path(r"", NoSocket.as_asgi()),
            ]
        ),
    }
)
