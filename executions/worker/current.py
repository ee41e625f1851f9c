"""The one carrier of this process; made when the worker starts, gone when it stops."""

from pathlib import Path

from django.conf import settings

from executions.worker.carrier import Carrier
from trinity.kernel.errors import Broken

_carrier: Carrier | None = None


def start() -> Carrier:
    """Begin to carry out runs in this process."""
    global _carrier
    if _carrier is None:
        _carrier = Carrier(Path(settings.TRINITY_HOME))
        _carrier.start()
    return _carrier


def stop() -> None:
    """Stop taking work and release what is claimed; safe to repeat."""
    global _carrier
    if _carrier is not None:
        _carrier.stop()
        _carrier = None


def is_running() -> bool:
    """Whether this process carries out runs."""
    return _carrier is not None


def carrier() -> Carrier:
    """The carrier; Broken when this process is no worker or is just stopping."""
    if _carrier is None:
        raise Broken("This process carries out no runs.")
    return _carrier
