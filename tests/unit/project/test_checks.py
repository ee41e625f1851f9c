"""Unsafe mixes of settings are refused, each with a sentence that names what to change."""

from typing import Any

import pytest
from django.core.checks import run_checks

from trinity.checks import LONGEST_RUN_SECONDS, refuse_unsafe_settings

pytestmark = pytest.mark.filterwarnings("ignore:Overriding setting DATABASES")  # nothing connects here
POSTGRES = {"default": {"ENGINE": "django.db.backends.postgresql", "OPTIONS": {"pool": {"max_size": 20}}}}
SQLITE = {"default": {"ENGINE": "django.db.backends.sqlite3"}}


@pytest.fixture
def embedded(settings: Any) -> Any:
    """Settings of the embedded server that are all right."""
    settings.IN_TESTS = False
    settings.DATABASES = SQLITE
    settings.REDIS_URL, settings.DISTRIBUTED = "", False
    settings.DEBUG, settings.HOST, settings.ALLOWED_HOSTS = False, "127.0.0.1", ["127.0.0.1", "localhost", "[::1]"]
    settings.SECRET_KEY_IS_GIVEN = False
    return settings


@pytest.fixture
def distributed(embedded: Any) -> Any:
    """Settings of many workers that are all right."""
    embedded.DATABASES = POSTGRES
    embedded.REDIS_URL, embedded.DISTRIBUTED = "redis://localhost", True
    embedded.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": LONGEST_RUN_SECONDS + 1}
    embedded.SECRET_KEY_IS_GIVEN = True
    return embedded


def found() -> dict[str, str]:
    """Our errors: number → sentence."""
    ours = [one for one in run_checks() if str(one.id).startswith("trinity.")]
    return {str(one.id): str(one.msg) for one in ours}


def test_the_embedded_server_needs_no_setting(embedded: Any) -> None:
    assert found() == {}


def test_postgresql_with_redis_and_a_key_is_fine(distributed: Any) -> None:
    assert found() == {}
    refuse_unsafe_settings()


def test_postgresql_without_redis_is_refused(distributed: Any) -> None:
    distributed.REDIS_URL, distributed.DISTRIBUTED = "", False

    assert "without REDIS_URL" in found()["trinity.E001"]


def test_redis_with_sqlite_is_refused(distributed: Any) -> None:
    distributed.DATABASES = SQLITE

    assert "without DATABASE_URL" in found()["trinity.E002"]


@pytest.mark.parametrize("seconds", [60, LONGEST_RUN_SECONDS])
def test_a_message_that_redis_hands_out_again_during_a_run_is_refused(distributed: Any, seconds: int) -> None:
    distributed.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": seconds}

    assert f"is {seconds} s" in found()["trinity.E003"]


@pytest.mark.parametrize(
    ("host", "allowed"),
    [("0.0.0.0", ["127.0.0.1"]), ("127.0.0.1", ["127.0.0.1", "trinity.example.com"]), ("localhost", ["*"])],
)
def test_debug_is_refused_where_others_come_in(embedded: Any, host: str, allowed: list[str]) -> None:
    embedded.DEBUG, embedded.HOST, embedded.ALLOWED_HOSTS = True, host, allowed

    assert "secrets would be shown" in found()["trinity.E004"]


def test_debug_on_this_machine_is_fine(embedded: Any) -> None:
    embedded.DEBUG = True

    assert found() == {}


def test_many_hosts_without_one_secret_key_are_refused(distributed: Any) -> None:
    distributed.SECRET_KEY_IS_GIVEN = False

    assert "SECRET_KEY is not set" in found()["trinity.E005"]


@pytest.mark.parametrize("seconds", [0.0, -3.0, 0.5])
def test_a_lease_that_nobody_can_keep_is_refused(embedded: Any, seconds: float) -> None:
    embedded.TRINITY_LEASE_SECONDS = seconds

    assert "no worker keeps its runs" in found()["trinity.E006"]


def test_a_pool_smaller_than_a_workers_threads_is_refused(distributed: Any) -> None:
    distributed.TRINITY_WORKER_THREADS = 17

    assert "need 21 sessions" in found()["trinity.E007"]


def test_a_process_that_is_refused_ends_with_all_sentences(distributed: Any) -> None:
    distributed.SECRET_KEY_IS_GIVEN = False
    distributed.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 60}

    with pytest.raises(SystemExit) as ended:
        refuse_unsafe_settings()

    assert "E003" in str(ended.value)
    assert "E005" in str(ended.value)
