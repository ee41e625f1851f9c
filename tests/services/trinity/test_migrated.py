"""A start tells from names alone whether migrations are missing."""

import pytest
from django.db import connection

from trinity.migrated import migrations_are_missing

pytestmark = pytest.mark.django_db


def test_a_database_with_all_migrations_misses_none() -> None:
    assert not migrations_are_missing()


def test_one_that_was_not_applied_is_missed() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'loops'")

    assert migrations_are_missing()
