"""The setting `isolation`: what it may say, and what a person reads of it."""

import pytest

from agents.isolation.telling import holds_of
from agents.runtimes.isolation import Bubblewrap, Isolation, isolation_of
from agents.runtimes.registry import runtime
from trinity.kernel.errors import Refused


def clean(isolation):
    return runtime("command").clean_settings({"argv": ["agent"], "isolation": isolation})


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, Isolation()),
        ({}, Isolation()),
        ({"bwrap": False, "user": None}, Isolation()),
        ({"bwrap": True}, Isolation(bwrap=Bubblewrap())),
        ({"user": "agent_1", "memory_mb": 64.0}, Isolation(user="agent_1", memory_bytes=64 * 1024 * 1024)),
        (
            {"bwrap": {"read": ["/opt/tools"], "network": False}, "processes": 5},
            Isolation(bwrap=Bubblewrap(read=("/opt/tools",), network=False), processes=5),
        ),
    ],
)
def test_what_is_asked_for_is_kept_and_nothing_else(given, wanted):
    kept = clean(given)

    assert isolation_of(kept) == wanted
    assert wanted.is_any == (kept["isolation"] is not None)
    assert clean(kept["isolation"]) == kept


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("bwrap", ""),
        ({"sandbox": True}, ""),
        ({"user": "root"}, ".user"),
        ({"user": "../x"}, ".user"),
        ({"user": 0}, ".user"),
        ({"bwrap": "yes"}, ".bwrap"),
        ({"bwrap": {"hide": []}}, ".bwrap"),
        ({"bwrap": {"read": "/opt"}}, ".bwrap.read"),
        ({"bwrap": {"read": ["/opt", "opt"]}}, ".bwrap.read.1"),
        ({"bwrap": {"write": ["/"]}}, ".bwrap.write.0"),
        ({"bwrap": {"write": ["/opt/../etc"]}}, ".bwrap.write.0"),
        ({"bwrap": {"network": 0}}, ".bwrap.network"),
        ({"memory_mb": 1}, ".memory_mb"),
        ({"memory_mb": "512"}, ".memory_mb"),
        ({"processes": 0}, ".processes"),
        ({"processes": True}, ".processes"),
    ],
)
def test_what_makes_no_sense_is_refused_at_its_path(given, path):
    with pytest.raises(Refused) as refused:
        clean(given)

    assert list(refused.value.errors) == [f"runtime_settings.isolation{path}"]


def told(**wishes):
    return {hold.sentence: hold.holds for hold in holds_of(Isolation(**wishes))}


def test_an_agent_without_isolation_is_said_to_be_free():
    assert not any(told().values())
    assert any("as free as the account" in sentence for sentence in told())


def test_what_holds_and_what_does_not_stand_side_by_side():
    sandbox = told(bwrap=Bubblewrap(write=("/data",), network=False), memory_bytes=512 * 1024 * 1024)
    user = told(user="trinity-agent", processes=50)

    assert sandbox["It writes in its workspace and its home, and /data; nowhere else (bubblewrap)."]
    assert sandbox["It reaches no network, not even Trinity or a model's service."]
    assert not sandbox["It reads the rest of the system, such as /etc and /usr."]
    assert any("512 MiB" in sentence and holds for sentence, holds in sandbox.items())
    assert not sandbox["It may start as many processes as its account may."]
    assert any("runs as the user trinity-agent" in sentence and holds for sentence, holds in user.items())
    assert any("The kernel refuses trinity-agent" in sentence for sentence in user)
    assert not user["It may use all memory of its host."]


def test_the_operators_home_is_said_to_be_open():
    told_of_home = [
        hold for hold in holds_of(Isolation(bwrap=Bubblewrap()), operator_home=True) if "logins" in hold.sentence
    ]

    assert [hold.holds for hold in told_of_home] == [False]


def test_an_agent_that_starts_nothing_reaches_nothing():
    (only,) = holds_of(Isolation(), starts_a_process=False)

    assert only.holds
