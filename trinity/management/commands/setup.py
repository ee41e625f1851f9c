"""`manage.py setup`: makes the admin and the demo agents of an empty installation; does nothing to another."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from trinity import first_start


class Command(BaseCommand):
    help = "Set up an empty installation once: an admin with a password and a key, and the two demo agents."

    def handle(self, *args: Any, **options: Any) -> None:
        home = Path(settings.TRINITY_HOME)
        first = first_start.set_up(home)
        if first is None:
            self.stdout.write("There are users already; nothing was changed.")
        else:
            self.stdout.write(f"Trinity is set up; it will be at {settings.TRINITY_URL}/")
            self.stdout.write(first.in_words(home))
