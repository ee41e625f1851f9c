"""What each session with PostgreSQL is told at its start."""

import pytest
from django.db import connection

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def test_a_worker_that_is_cut_off_within_a_transaction_does_not_keep_its_agents_lock() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")

        assert cursor.fetchone() == ("30s",)
