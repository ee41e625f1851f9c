"""Installs programs of the system that tests need, where that needs no question to anybody.

It uses the system's own package manager only: it downloads, builds and configures nothing itself.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Unavailable(Exception):
    """What was asked for cannot be had on this machine; the text is a sentence for a person."""


class Product(StrEnum):
    """What the tests need of the system, in the words that a person knows it by."""

    POSTGRESQL = "PostgreSQL"
    REDIS = "Redis"
    CHROMIUM = "Chromium"
    NPM = "npm"
    BUBBLEWRAP = "bubblewrap"


@dataclass(frozen=True)
class PackageManager:
    """How one family of systems installs packages: `program *quietly verb names…`."""

    program: str
    verb: str
    quietly: Sequence[str]
    refresh: Sequence[str]
    packages: Mapping[Product, str]
    as_root: bool = True

    def install(self, names: Sequence[str]) -> list[str]:
        """The command that installs without a question; apt's front end would ask through its own."""
        return ["env", "DEBIAN_FRONTEND=noninteractive", self.program, *self.quietly, self.verb, *names]


def _packages(postgresql: str, redis: str, chromium: str, npm: str) -> dict[Product, str]:
    return dict(zip(Product, (postgresql, redis, chromium, npm, "bubblewrap"), strict=True))


MANAGERS = (
    PackageManager(
        "apt-get",
        "install",
        quietly=("-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120"),
        refresh=("-q", "update"),
        packages=_packages("postgresql", "redis-server", "chromium fonts-liberation", "npm"),
    ),
    PackageManager(
        "dnf",
        "install",
        quietly=("-q", "-y"),
        refresh=("-q", "makecache"),
        packages=_packages("postgresql-server", "redis", "chromium", "nodejs-npm"),
    ),
    PackageManager(
        "apk",
        "add",
        quietly=("--quiet",),
        refresh=("update",),
        packages=_packages("postgresql", "redis", "chromium", "npm"),
    ),
    PackageManager(
        "pacman",
        "-S",
        quietly=("--noconfirm", "--needed"),
        refresh=("-Sy", "--noconfirm"),
        packages=_packages("postgresql", "valkey", "chromium", "npm"),
    ),
    PackageManager(
        "brew",
        "install",
        quietly=(),
        refresh=("update",),
        packages=_packages("postgresql@17", "redis", "chromium", "node"),
        as_root=False,
    ),
)


def way_to_root() -> list[str] | None:
    """The words that stand before a command that needs root; None where nobody may become root unasked."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and _succeeds(["sudo", "-n", "true"]):
        return ["sudo", "-n"]
    return None


def install(product: Product) -> None:
    """Install a product with the system's package manager.

    Raises Unavailable with what a person can do instead.
    """
    manager = next((known for known in MANAGERS if shutil.which(known.program)), None)
    if manager is None:
        raise Unavailable(f"{product} is not here, and no package manager that we know either: install it")
    name = manager.packages[product]  # or names, with blanks between
    before = way_to_root() if manager.as_root else []
    if before is None:
        raise Unavailable(f"{product} is not here; to install it: sudo {manager.program} {manager.verb} {name}")
    print(f"Installing {product}: {manager.program} {manager.verb} {name} …", file=sys.stderr, flush=True)
    command = [*before, *manager.install(name.split())]
    # Lists that are old, or were never fetched, make the first try fail.
    if not (_succeeds(command) or (_succeeds([*before, manager.program, *manager.refresh]) and _runs(command))):
        raise Unavailable(f"{product} is not here, and {manager.program} could not install {name} (see above)")


def _succeeds(command: Sequence[str]) -> bool:
    return _returncode(command, output=subprocess.DEVNULL) == 0


def _runs(command: Sequence[str]) -> bool:
    """Like `_succeeds`, with the output in view; standard output belongs to what the caller prints."""
    return _returncode(command, output=sys.stderr.fileno()) == 0


def _returncode(command: Sequence[str], output: int) -> int:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False).returncode
    except OSError:
        return 127
