"""Keeps a random secret in a file that only its owner can read; prints it nowhere."""

import contextlib
import os
import secrets
from pathlib import Path


def secret_from_file(path: Path) -> str:
    """The secret in `path`, made on first use (mode 600). Two processes that come at once agree on one."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(encoding="ascii").strip()
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    write_private(fresh, secrets.token_urlsafe(48))
    try:
        os.link(fresh, path)  # link, not rename: the first one wins
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return path.read_text(encoding="ascii").strip()


def write_private(path: Path, text: str) -> None:
    """Write `text` and a line end to `path`, readable by its owner only, from its first byte on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text + "\n")
