"""The shell scripts: they parse everywhere, install only what changed, and say plainly why they cannot go on."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHELL_SCRIPTS = sorted(
    path
    for path in [*(ROOT / "script").iterdir(), ROOT / ".ci" / "run"]
    if path.is_file() and (path.suffix == ".sh" or path.read_text(errors="replace").startswith("#!"))
)
# What script/server itself calls; a PATH of these alone is a machine without Python.
PLAIN_TOOLS = ("basename", "cat", "cmp", "cp", "dirname", "flock", "grep", "id", "readlink", "sed", "sh")


def names(paths: Sequence[Path]) -> list[str]:
    return [path.name for path in paths]


@pytest.mark.parametrize("script", SHELL_SCRIPTS, ids=names(SHELL_SCRIPTS))
def test_a_script_parses_in_bash_and_in_the_plain_shell(script: Path) -> None:
    first_line = script.read_text().splitlines()[0]
    shells = ["bash"] if "bash" in first_line else ["bash", "sh"]

    said = [subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False) for shell in shells]

    assert [(answer.returncode, answer.stderr) for answer in said] == [(0, "")] * len(shells)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not here")
@pytest.mark.parametrize("script", SHELL_SCRIPTS, ids=names(SHELL_SCRIPTS))
def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    shell = "bash" if "bash" in script.read_text().splitlines()[0] else "dash"
    command = ["shellcheck", "--shell", shell, "--external-sources", "--source-path", ROOT / "script", script]

    said = subprocess.run(command, capture_output=True, text=True, check=False)

    assert said.stdout == ""


@pytest.mark.parametrize("script", SHELL_SCRIPTS, ids=names(SHELL_SCRIPTS))
def test_a_script_that_is_called_may_be_run(script: Path) -> None:
    assert script.suffix == ".sh" or os.access(script, os.X_OK)


class Project:
    """A copy of script/server in a folder with a blank in its name, whose server only says how it was started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a project"
        shutil.copytree(ROOT / "script", self.folder / "script", ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder / "requirements.txt").write_text("")
        (self.folder / "manage.py").write_text(
            "import os, sys\nprint(sys.argv[1:], os.getcwd(), os.environ.get('TRINITY_HOME'))\n"
        )

    def start(self, *arguments: str, cwd: Path | None = None, **variables: str) -> "subprocess.CompletedProcess[str]":
        environment = {"PATH": os.environ["PATH"], "TRINITY_PYTHON": sys.executable, **variables}
        return subprocess.run(
            [self.folder / "script" / "server", *arguments],
            cwd=cwd or self.folder,
            env={name: text for name, text in environment.items() if text},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose first start is over; it found an environment whose Python had gone away. It needs no network."""
    project = Project(tmp_path_factory.mktemp("server"))
    programs = project.folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to("/nowhere/python3")
    shutil.copy(project.folder / "requirements.txt", programs.parent / ".installed-requirements.txt")
    first = project.start()
    assert first.returncode == 0, first.stderr
    assert "Making .venv" in first.stderr
    return project


def test_the_server_starts_in_its_project_wherever_it_is_called_from(installed: Project, tmp_path: Path) -> None:
    started = installed.start("--noreload", cwd=tmp_path, TRINITY_HOME="here")

    assert started.stdout == f"['serve', '--noreload'] {installed.folder} {tmp_path}/here\n"


def test_a_second_start_installs_nothing_and_costs_next_to_nothing(installed: Project) -> None:
    def processor_seconds() -> float:  # a machine that is busy with other work costs the start no more of them
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = installed.start()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert started.stderr == ""
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(processor_seconds() for _ in range(5)) < 0.1


def test_changed_pins_are_installed_before_the_server_starts(installed: Project) -> None:
    (installed.folder / "requirements.txt").write_text("# another pin\n")

    assert "Installing" in installed.start().stderr
    assert installed.start().stderr == ""


def test_pins_that_cannot_be_installed_stop_the_start_with_a_sentence(installed: Project) -> None:
    before = (installed.folder / "requirements.txt").read_text()
    (installed.folder / "requirements.txt").write_text("./no-such-folder\n")

    started = installed.start()

    assert started.returncode == 1
    assert started.stdout == ""
    assert "pip could not install the packages of requirements.txt" in started.stderr
    assert "Installing" in installed.start().stderr  # it left no mark of success
    (installed.folder / "requirements.txt").write_text(before)


def test_optional_packages_that_cannot_be_had_do_not_stop_the_start(installed: Project) -> None:
    (installed.folder / "requirements-model.txt").write_text("./no-such-folder\n")
    assert installed.start().stderr == ""  # nobody has asked for them here

    stamp = installed.folder / ".venv" / ".installed-requirements-model.txt"
    stamp.write_text("# what was installed once\n")
    started = installed.start()
    stamp.unlink()

    assert (started.returncode, started.stdout[:9]) == (0, "['serve']")
    assert "Going on without requirements-model.txt" in started.stderr


def test_a_linked_environment_is_never_emptied(tmp_path: Path) -> None:
    project = Project(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    (project.folder / ".venv").symlink_to(elsewhere)

    started = project.start()

    assert started.returncode == 1
    assert "is a link to an environment that does not work" in started.stderr
    assert (elsewhere / "precious").exists()


def fake_python(folder: Path, version: str) -> None:
    """A Python that is too old: it knows its version, and fails whatever it is asked for."""
    program = folder / "python3"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "Python {version}" && exit 0\nexit 1\n')
    program.chmod(0o755)


@pytest.mark.parametrize(("version", "told"), [(None, "none"), ("3.9.2", "Python 3.9.2")])
def test_without_a_new_enough_python_it_says_what_is_needed(tmp_path: Path, version: str | None, told: str) -> None:
    project = Project(tmp_path)
    path = tmp_path / "bin"
    path.mkdir()
    for tool in PLAIN_TOOLS:
        if found := shutil.which(tool):
            (path / tool).symlink_to(found)
    if version:
        fake_python(path, version)

    started = project.start(PATH=str(path), TRINITY_PYTHON="")

    assert started.returncode == 1
    assert started.stderr == (
        f"server: Trinity needs Python 3.11 or newer, and none was found (python3 on the PATH: {told}). "
        "Install one, or give its path in TRINITY_PYTHON.\n"
    )


def test_a_service_unit_quotes_what_systemd_would_read_and_spares_the_runners(tmp_path: Path) -> None:
    project = Project(tmp_path)

    unit = project.start("--service", PORT="9000", TRINITY_HOME='/a b/100%"', TRINITY_PYTHON="").stdout.splitlines()

    assert f'ExecStart="{project.folder}/script/server"' in unit
    assert 'Environment="PORT=9000"' in unit
    assert 'Environment="TRINITY_HOME=/a b/100%%\\""' in unit
    assert "KillMode=process" in unit
    assert "Restart=on-failure" in unit
    assert "WantedBy=default.target" in unit
    assert not any(line.startswith('Environment="HOST=') for line in unit)
    assert not (project.folder / ".venv").exists()
