"""Whether the database holds all migrations, told from file names alone; applies none."""

from pathlib import Path

from django.apps import apps
from django.db import connection
from django.db.utils import DatabaseError


def migrations_are_missing() -> bool:
    """Django builds its whole graph to find that nothing is to be done; a start should not wait for that."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    except DatabaseError:  # a new database
        return True
    return not _on_disk() <= applied


def _on_disk() -> set[tuple[str, str]]:
    return {
        (app.label, path.stem)
        for app in apps.get_app_configs()
        for path in (Path(app.path) / "migrations").glob("[0-9]*.py")
    }
