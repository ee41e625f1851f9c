"""A machine with programs that we wrote: they answer as the real ones do, and call no model."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

LOGGED_IN = '{"loggedIn": true, "email": "alice@example.com", "subscriptionType": "max"}'


class Machine:
    """A PATH with one folder, and a home."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.home = folder / "bin", folder / "home"
        self.bin.mkdir()
        self.home.mkdir()
        self.environ = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}

    def program(self, name: str, script: str, *, where: str = "") -> Path:
        folder = self.home / where if where else self.bin
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def claude(self, *, version: str = "2.1.332", status: str = LOGGED_IN, where: str = "") -> Path:
        return self.program(
            "claude",
            f"case \"$1\" in --version) echo '{version} (Claude Code)';; auth) echo '{status}';; esac",
            where=where,
        )

    def codex(self, *, version: str = "0.171.0", said: str = "Logged in using an API key", code: int = 0) -> Path:
        return self.program(
            "codex", f"case \"$1\" in --version) echo 'codex-cli {version}';; login) echo '{said}'; exit {code};; esac"
        )


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("machine"))
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE", "CODEX", "OPENAI_", "AWS_", "NODE_EXTRA")):
            monkeypatch.delenv(name)
    for name, text in machine.environ.items():
        monkeypatch.setenv(name, text)
    return machine


@pytest.fixture
def repo(tmp_path: Path, machine: Machine) -> Path:
    """A git work tree with one commit."""
    folder = tmp_path / "My Repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    git(folder, "-c", "user.name=Alice", "-c", "user.email=alice@localhost", "commit", "-q", "--allow-empty", "-m", "x")
    return folder


def git(folder: Path, *arguments: str) -> None:
    import subprocess

    subprocess.run(["git", *arguments], cwd=folder, check=True)


Make = Callable[..., Path]
