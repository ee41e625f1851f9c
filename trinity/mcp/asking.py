"""What both sides of the MCP door know of a request: who sent it, and how its database work is run; answers nothing."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from channels.db import database_sync_to_async

VIEWER = "trinity.viewer"  # in the scope of a request
REQUEST_ID = "trinity.request_id"


async def in_thread(job: Callable[..., Any], *arguments: Any) -> Any:
    """Run a job that uses the database in a thread of its own, as Django does for a request."""
    async with ThreadSensitiveContext():
        return await database_sync_to_async(job)(*arguments)
