"""What apps above do when a loop is started from a room: they register here, as loops knows no rooms; calls nothing."""

from collections.abc import Callable

from accounts.viewers import Viewer
from executions.step import AgentStep
from loops.models import Loop
from trinity.kernel.registry import Registry

# Called in the transaction that starts the loop, under its agent's lock; what it refuses is not started.
started_in_room: Registry[Callable[[AgentStep, Viewer, Loop], None]] = Registry("who is told of a room's loops")
