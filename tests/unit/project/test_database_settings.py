"""How the database of many workers is reached."""

from typing import Any

from trinity.settings import POSTGRES_OPTIONS, postgres_database


def options_of(url: str) -> dict[str, Any]:
    options: Any = postgres_database(url, 7)["OPTIONS"]
    return dict(options)


def test_what_stands_in_the_address_is_kept_and_outranks_ours() -> None:
    options = options_of("postgresql://trinity:secret@db.example.com/trinity?sslmode=require&connect_timeout=2")

    assert options["sslmode"] == "require"
    assert int(options["connect_timeout"]) == 2
    assert options["options"] == POSTGRES_OPTIONS["options"]
    assert options["pool"]["max_size"] == 7


def test_a_server_that_is_cut_off_is_noticed_before_a_lease_of_thirty_seconds_runs_out() -> None:
    options = options_of("postgresql://db.example.com/trinity")

    assert options["tcp_user_timeout"] < 30_000
    silence = options["keepalives_idle"] + options["keepalives_interval"] * options["keepalives_count"]
    assert silence < 30
