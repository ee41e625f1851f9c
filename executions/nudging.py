"""Tells the workers of a place that an agent has work; carries an id only, and may be lost without harm."""

import time
from collections.abc import Callable, Sequence

import structlog
from django.conf import settings

from trinity.kernel.postman import Postman

log = structlog.get_logger(__name__)
# After a failure nothing is sent for so long: a Redis that hangs costs its socket timeout each time.
QUIET_SECONDS = 5.0
_quiet_until = 0.0


def _send_to_queue(agent_id: int, place: str) -> None:
    from executions.tasks import take_work  # tasks import the worker, which imports the services that nudge

    if _somebody_hears():
        take_work.apply_async((agent_id,), queue=queue_of(place))


def _somebody_hears() -> bool:
    """A broker in memory ends at this process: beside the embedded server (a command) nobody would hear it."""
    from executions.worker import current  # as above

    return settings.DISTRIBUTED or current.is_running()


def queue_of(place: str) -> str:
    """The Celery queue of a place, so that an agent's folder and its runners are met again."""
    return f"place.{place}"


def _send_all(nudges: Sequence[tuple[int, str]]) -> None:
    """One message per agent, however often it was nudged meanwhile: who hears it takes all that there is."""
    for agent_id, place in dict.fromkeys(nudges):
        _try(_send_to_queue, agent_id, place)


_postman: Postman[tuple[int, str]] = Postman("nudges", _send_all)
_send: Callable[[int, str], None] | None = None


def send_with(send: Callable[[int, str], None] | None) -> None:
    """Replace how a nudge travels (None: by Celery, on a thread of its own)."""
    global _send, _quiet_until
    _send, _quiet_until = send, 0.0


def tell_of_abandoned(place: str) -> None:
    """Let the workers of a place look for abandoned runs now; when this is lost, their next renewal does."""
    from executions.tasks import end_abandoned  # as above

    try:
        if _somebody_hears():
            end_abandoned.apply_async(queue=queue_of(place))
    except Exception as error:
        log.warning("not told of an abandoned run; the next renewal finds it", place=place, error=repr(error))


def nudge(agent_id: int, place: str) -> None:
    """Say that the agent has work. Nobody waits for the broker, and when it is away the sweep finds the work."""
    if _send is None:
        _postman.post([(agent_id, place)])
    else:
        _try(_send, agent_id, place)


def _try(send: Callable[[int, str], None], agent_id: int, place: str) -> None:
    global _quiet_until
    if time.monotonic() < _quiet_until:
        return
    try:
        send(agent_id, place)
    except Exception as error:
        _quiet_until = time.monotonic() + QUIET_SECONDS
        log.warning("nudge not sent; the sweep will find the work", agent_id=agent_id, error=repr(error))
