"""`manage.py serve`: the embedded server, from an empty folder to a page; `script/server` calls it."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from trinity import embedded, first_start
from trinity.kernel.errors import Broken
from trinity.migrated import migrations_are_missing


class Command(BaseCommand):
    help = "Serve Trinity in one process on SQLite: pages, API, and the worker that carries out runs."
    requires_system_checks = [Tags.compatibility]  # the settings' own; script/check has seen the rest

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DISTRIBUTED or settings.DATABASE_URL:
            raise CommandError(
                "DATABASE_URL or REDIS_URL is set: start `daphne trinity.asgi:application` and "
                "`celery -A trinity worker -P threads` instead (see the Procfile)."
            )
        home = Path(settings.TRINITY_HOME)
        try:
            lock = embedded.only_one(home)  # kept open as long as the process lives
        except Broken as error:
            raise CommandError(str(error)) from error
        if migrations_are_missing():
            call_command("migrate", verbosity=0, interactive=False)
        first = first_start.set_up(home)
        listening = embedded.run(
            settings.HOST, settings.PORT, ready=lambda: self._say_ready(first, Path(settings.TRINITY_HOME))
        )
        if not listening:
            self.stderr.write(f"Port {settings.PORT} on {settings.HOST} is taken; set PORT to a free one.")
        os.close(lock.descriptor or -1)
        embedded.leave(0 if listening else 1)

    def _say_ready(self, first: first_start.FirstStart | None, home: Path) -> None:
        host = f"[{settings.HOST}]" if ":" in settings.HOST else settings.HOST
        self.stdout.write(f"Trinity is at http://{host}:{settings.PORT}/  (Ctrl-C ends it; runs go on)")
        if first is not None:
            self.stdout.write(first.in_words(home))
        self.stdout.flush()
