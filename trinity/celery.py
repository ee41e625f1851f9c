"""The Celery app: queue and worker life only; what a task does stands in its app."""

import os
import threading
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_shutdown, worker_shutting_down
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "trinity.settings")

SECONDS_TO_LEAVE = 4.0

app = Celery("trinity")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Celery would replace the root logger; ours is set up by Django."""


@worker_init.connect
def begin(**_: Any) -> None:
    """Before the broker is reached, so that a worker whose Redis is away sweeps the database all the same."""
    from executions.worker import current
    from trinity import checks

    checks.refuse_unsafe_settings()
    if not settings.DISTRIBUTED and not current.is_running():  # the embedded server has begun before its Celery
        raise SystemExit(
            "DATABASE_URL and REDIS_URL are not set: SQLite serves one process only, and script/server starts it, "
            "with its worker inside."
        )
    current.start()


@worker_shutting_down.connect
def end(**_: Any) -> None:
    """On TERM: waits end at once; Celery itself would wait for its pool."""
    from executions.worker import current

    _leave_soon()
    current.stop()


@worker_shutdown.connect
def end_again(**_: Any) -> None:
    """However it ends, the claims are released."""
    from executions.worker import current

    current.stop()


def _leave_soon() -> None:
    """A thread that waits for a server which does not answer must not keep the process: its runs go on without it."""
    leaving = threading.Timer(SECONDS_TO_LEAVE, os._exit, (0,))
    leaving.daemon = True
    leaving.start()
