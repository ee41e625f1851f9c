"""The embedded server: Daphne, and the same Celery app with its worker in a thread, in one process on SQLite.

Knows how to begin and to end them; what they do stands elsewhere.
"""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import structlog
from django.conf import settings

from executions.worker import current
from executions.worker.home import OneServer
from trinity.celery import app as celery_app
from trinity.kernel.errors import Broken

log = structlog.get_logger(__name__)
CLOSE_SECONDS = 2  # for requests that are open when the server is told to end


_held: OneServer | None = None


def only_one(home: Path) -> OneServer:
    """Hold the data for this process; Broken, with a sentence, when another server has it."""
    global _held
    lock = OneServer(home)
    if not lock.take():
        raise Broken(
            f"Another Trinity server (process {lock.holder()}) works on the data in {home}. "
            "End it first, or set TRINITY_HOME to another folder."
        )
    _held = lock
    return lock


def refuse_to_serve_alone() -> None:
    """End a web server that was started by itself on SQLite: nobody would carry out what it queues."""
    if not settings.DISTRIBUTED and _held is None and not getattr(settings, "IN_TESTS", False):
        raise SystemExit(
            "DATABASE_URL and REDIS_URL are not set: on SQLite pages, API and worker are one process. "
            "Start script/server, or set both."
        )


def run(host: str, port: int, *, ready: Callable[[], None]) -> bool:
    """Serve until INT or TERM; False when the address could not be listened on. HUP (a closed terminal) is ignored.

    `ready` is called once, when requests are answered.
    """
    from daphne.endpoints import build_endpoint_description_strings
    from daphne.server import Server
    from twisted.internet import reactor

    from trinity.asgi import application

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    logging.raiseExceptions = False  # the terminal may be gone; a log line that finds no reader is no failure
    server = Server(
        application=application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        application_close_timeout=CLOSE_SECONDS,
        server_name="trinity",
        verbosity=0,
        websocket_max_message_size=64 * 1024,
    )

    def begin() -> None:
        if not server.listening_addresses:
            return
        current.start()
        threading.Thread(target=_run_celery, name="celery", daemon=True).start()
        ready()

    reactor.callWhenRunning(begin)
    reactor.addSystemEventTrigger("before", "shutdown", current.stop)  # type: ignore[arg-type]
    server.run()
    return bool(server.listening_addresses)


def _run_celery() -> None:
    """The worker's own consumer; its thread ends with the process (a broker in memory needs no goodbye)."""
    worker = celery_app.WorkController(
        app=celery_app,
        pool_cls="threads",
        concurrency=1,  # its tasks only hand on
        without_heartbeat=True,
        without_mingle=True,
        without_gossip=True,
        loglevel="WARNING",
    )
    worker.start()


def leave(code: int) -> None:
    """End the process at once: Python would wait for pool threads, which only wait for work that will not come."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
