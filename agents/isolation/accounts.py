"""The account of an agent that is not the one that runs Trinity; changes to none."""

import os
import pwd
from dataclasses import dataclass

from trinity.kernel.errors import Refused, refused_field

FIELD = "runtime_settings.isolation.user"
NEEDED_CAPABILITIES = {5: "CAP_KILL", 6: "CAP_SETGID", 7: "CAP_SETUID"}


@dataclass(frozen=True, slots=True)
class HostAccount:
    """An account of this host."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str


def account_of(name: str) -> HostAccount:
    """The account of that name. Refused when this host has none, or one that may do anything."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise refused_field(
            FIELD, f"This host has no user {name}. Make one: sudo useradd --system --create-home {name}"
        ) from None
    if found.pw_uid == 0:
        raise refused_field(FIELD, f"The user {name} is root by another name; name an account of less power.")
    groups = tuple(os.getgrouplist(name, found.pw_gid))
    return HostAccount(name, found.pw_uid, found.pw_gid, groups, found.pw_dir)


def refuse_unless_it_can_be_taken_on() -> None:
    """Refused when this process may not start others as another user."""
    missing = _missing_capabilities()
    if missing:
        raise cannot_change_account(", ".join(missing))


def cannot_change_account(missing: str) -> Refused:
    """The refusal of an account that may not start programs as another one."""
    return refused_field(
        FIELD,
        f"Trinity runs as {_own_name()}, which may not start programs as another user. Run its workers as root, or give"
        f" them {missing} (systemd: AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL).",
    )


def _missing_capabilities() -> list[str]:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        line = next((line for line in file if line.startswith("CapEff:")), "CapEff: 0")
    held = int(line.split()[1], 16)
    return [name for bit, name in NEEDED_CAPABILITIES.items() if not held >> bit & 1]


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"the account {os.geteuid()}"
