"""What an agent in a sandbox sees and may write, tried with the real bubblewrap; and what is refused when it is set."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from agents.isolation import accounts, bubblewrap, probing
from agents.isolation.bubblewrap import wrapped
from agents.runtimes.base import CommandSpec
from agents.runtimes.isolation import Bubblewrap, Isolation
from tests.bubblewrap import needs_bubblewrap
from trinity.kernel.errors import Refused

TRUE = CommandSpec(argv=("sh", "-c", "true"))


pytestmark = pytest.mark.once


@pytest.fixture
def trinity_home(tmp_path, settings) -> Path:
    """Trinity's own files, one of them an agent's workspace and one its home."""
    settings.TRINITY_HOME = tmp_path / "trinity"
    for name in ("agents/scribe/workspace", "agents/scribe/home", "agents/other/workspace"):
        (settings.TRINITY_HOME / name).mkdir(parents=True)
    (settings.TRINITY_HOME / "trinity.sqlite3").write_text("passwords")
    return settings.TRINITY_HOME


@pytest.fixture
def workspace(trinity_home) -> Path:
    return trinity_home / "agents" / "scribe" / "workspace"


@pytest.fixture
def home(trinity_home) -> Path:
    return trinity_home / "agents" / "scribe" / "home"


@pytest.fixture
def inside(workspace, home):
    """What a shell command prints in the sandbox."""

    def inside(command: str, *, folder: Path | None = None, **wishes) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        spec = CommandSpec(argv=("sh", "-c", command))
        argv = wrapped(spec, Bubblewrap(**wishes), workspace=str(folder or workspace), environment=environment)
        found = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
        return (found.stdout + found.stderr).strip()

    return inside


def refusal(wanted: Isolation, *, workspace: Path, home: Path, command: CommandSpec = TRUE) -> dict[str, list[str]]:
    with pytest.raises(Refused) as refused:
        probing.probe(wanted, command, workspace=str(workspace), own_home=home)
    return refused.value.errors


# --- the sandbox -------------------------------------------------------------------------------------------


@needs_bubblewrap
def test_it_writes_in_its_workspace_and_its_home_and_nowhere_else(inside, workspace, home):
    told = inside(
        "pwd; touch made; touch ~/made; for path in /etc /usr /usr/local/bin /; do touch $path/made 2>/dev/null"
        " && echo $path; done; touch /tmp/mine && echo /tmp"
    )

    assert told.split() == [str(workspace), "/tmp"]
    assert (workspace / "made").exists()
    assert (home / "made").exists()
    assert not Path("/tmp/mine").exists()


@needs_bubblewrap
def test_trinitys_own_files_and_other_agents_are_out_of_sight(inside, trinity_home):
    told = inside(
        f"ls -A {trinity_home} {trinity_home}/agents; cat {trinity_home}/trinity.sqlite3; ls /home /root /run"
    )

    assert "passwords" not in told
    assert "other" not in told
    assert "sqlite3: No such file" in told


@needs_bubblewrap
def test_a_workspace_around_trinitys_own_files_does_not_show_them(inside, trinity_home):
    told = inside(f"ls {trinity_home}; touch beside && echo writes", folder=trinity_home.parent)

    assert told == "agents\nwrites"
    assert (trinity_home.parent / "beside").exists()


@needs_bubblewrap
def test_other_processes_are_out_of_its_sight_and_it_has_no_power(inside):
    told = inside("ls /proc | grep -c '^[0-9]'; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status | tr -d '\\t0'")

    count, *powers = told.split()
    assert int(count) < 8
    assert powers == ["CapEff:", "NoNewPrivs:1"]


@needs_bubblewrap
def test_what_the_setting_names_is_shown_or_may_be_written(inside, tmp_path):
    for name in ("shown", "open", "hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)

    told = inside(
        f"cd {tmp_path}; cat */file; touch open/made && echo made; touch shown/made 2>/dev/null || echo kept",
        read=(str(tmp_path / "shown"),),
        write=(str(tmp_path / "open"),),
    )

    assert told == "openshownmade\nkept"


@needs_bubblewrap
@pytest.mark.skipif(not os.access("/var", os.W_OK), reason="may not make a folder in /var")
def test_links_to_what_is_shown_lead_there_whether_they_are_hidden_or_not(workspace, home, tmp_path):
    """An environment of Python's, or a home, is often a link."""
    place = Path(tempfile.mkdtemp(prefix="trinity-test-", dir="/var"))  # not hidden
    try:
        (tmp_path / "real").mkdir()
        (tmp_path / "real" / "file").write_text("seen\n")
        for link in (place / "link", tmp_path / "link"):
            link.symlink_to(tmp_path / "real")
        environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        for link in (place / "link", tmp_path / "link"):
            spec = CommandSpec(argv=("sh", "-c", f"cat {link}/file; touch {link}/made"))
            wanted = Bubblewrap(write=(str(link),))
            argv = wrapped(spec, wanted, workspace=str(workspace), environment=environment)
            assert subprocess.run(argv, env=environment, capture_output=True, check=False).stdout == b"seen\n"
        assert (tmp_path / "real" / "made").exists()
    finally:
        shutil.rmtree(place)


@needs_bubblewrap
def test_without_a_network_there_is_none(inside):
    names = "cat /proc/net/dev | grep -c ':'"

    assert int(inside(names, network=False)) == 1  # its own loopback
    assert inside("readlink /proc/self/ns/net") == os.readlink("/proc/self/ns/net")
    assert inside("readlink /proc/self/ns/net", network=False) != os.readlink("/proc/self/ns/net")


@needs_bubblewrap
def test_a_program_in_a_hidden_folder_is_shown_with_its_folder(inside, tmp_path, monkeypatch):
    folder = tmp_path / "bin" / "tool"
    folder.mkdir(parents=True)
    program = folder / "agent"
    program.write_text("#!/bin/sh\necho works\n")
    program.chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path)}

    argv = wrapped(CommandSpec(argv=("agent",)), Bubblewrap(), workspace=str(tmp_path), environment=environment)

    assert subprocess.run(argv, env=environment, capture_output=True, text=True, check=False).stdout == "works\n"


@needs_bubblewrap
def test_the_model_program_finds_its_packages_in_the_sandbox(workspace, home):
    from agents.runtimes.base import AgentCall
    from agents.runtimes.registry import runtime

    kind = runtime("model")
    spec = kind.command(AgentCall(prompt="x", model="m"), kind.clean_settings({"protocol": "openai"}))
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}

    argv = wrapped(spec, Bubblewrap(), workspace=str(workspace), environment=environment)
    found = subprocess.run(argv, env=environment, input=b"x", capture_output=True, check=False)

    assert b'"failure": "no_' in found.stdout  # no key, or no packages: it ran


# --- what is refused when it is set ------------------------------------------------------------------------


@needs_bubblewrap
def test_a_sandbox_that_works_is_let_through(workspace, home):
    probing.probe(Isolation(bwrap=Bubblewrap()), TRUE, workspace=str(workspace), own_home=home)


def test_without_bubblewrap_it_says_how_to_get_it(workspace, home, monkeypatch):
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda *_args, **_facts: None)

    errors = refusal(Isolation(bwrap=Bubblewrap()), workspace=workspace, home=home)

    assert "apt-get install bubblewrap" in errors["runtime_settings.isolation.bwrap"][0]


def test_denied_namespaces_are_named(workspace, home, monkeypatch, tmp_path):
    denied = tmp_path / "bwrap"
    denied.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    denied.chmod(0o755)
    monkeypatch.setattr(probing, "wrapped", lambda command, *_args, **_facts: (str(denied), *command.argv))

    errors = refusal(Isolation(bwrap=Bubblewrap()), workspace=workspace, home=home)

    assert "user namespaces" in errors["runtime_settings.isolation.bwrap"][0]


@needs_bubblewrap
def test_a_program_that_the_sandbox_hides_is_named_with_the_remedy(workspace, home):
    missing = CommandSpec(argv=("/tmp/nowhere/agent",))

    errors = refusal(Isolation(bwrap=Bubblewrap()), workspace=workspace, home=home, command=missing)

    assert "/tmp/nowhere/agent" in errors["runtime_settings.isolation.bwrap.read"][0]


@needs_bubblewrap
def test_a_folder_of_the_setting_that_is_not_there_is_named(workspace, home):
    errors = refusal(Isolation(bwrap=Bubblewrap(write=("/no/such",))), workspace=workspace, home=home)

    assert list(errors) == ["runtime_settings.isolation.bwrap.write.0"]


def test_a_user_that_is_not_there_is_named_with_the_remedy(workspace, home):
    errors = refusal(Isolation(user="no-such-user"), workspace=workspace, home=home)

    assert "useradd" in errors["runtime_settings.isolation.user"][0]


def test_root_by_another_name_is_refused(workspace, home, monkeypatch):
    import pwd

    toor = pwd.struct_passwd(("toor", "x", 0, 0, "", "/root", "/bin/sh"))
    monkeypatch.setattr(accounts.pwd, "getpwnam", lambda _name: toor)

    errors = refusal(Isolation(user="toor"), workspace=workspace, home=home)

    assert "root by another name" in errors["runtime_settings.isolation.user"][0]


def test_an_account_without_the_power_to_change_is_told_what_it_needs(workspace, home, monkeypatch):
    monkeypatch.setattr(accounts, "_missing_capabilities", lambda: ["CAP_KILL", "CAP_SETUID"])

    errors = refusal(Isolation(user="nobody"), workspace=workspace, home=home)

    assert "CAP_KILL, CAP_SETUID" in errors["runtime_settings.isolation.user"][0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may start programs as another user")
class TestAsRoot:
    """`nobody` has no home, so the tests give it one."""

    @pytest.fixture(autouse=True)
    def home_of_nobody(self, monkeypatch, tmp_path_factory):
        import pwd
        import tempfile

        found = pwd.getpwnam("nobody")
        with tempfile.TemporaryDirectory(prefix="trinity-test-") as folder:
            os.chmod(folder, 0o755)
            for name in ("home", "workspace"):
                (Path(folder) / name).mkdir()
                os.chown(Path(folder) / name, found.pw_uid, found.pw_gid)
            account = pwd.struct_passwd((*found[:5], f"{folder}/home", found[6]))
            monkeypatch.setattr(accounts.pwd, "getpwnam", lambda _name: account)
            yield Path(folder)

    def test_a_user_that_can_work_there_is_let_through(self, home_of_nobody):
        workspace = home_of_nobody / "workspace"

        probing.probe(Isolation(user="nobody"), TRUE, workspace=str(workspace), own_home=home_of_nobody)

    def test_a_workspace_that_the_user_may_not_write_is_named(self, workspace, home):
        errors = refusal(Isolation(user="nobody"), workspace=workspace, home=home)

        assert f"may not enter, read and write {workspace}" in errors["workspace"][0]

    def test_a_user_without_a_home_is_told(self, home_of_nobody):
        (home_of_nobody / "home").rmdir()

        errors = refusal(Isolation(user="nobody"), workspace=home_of_nobody / "workspace", home=home_of_nobody)

        assert "no home" in errors["runtime_settings.isolation.user"][0]

    def test_a_program_that_the_user_may_not_run_is_told(self, home_of_nobody, tmp_path):
        program = tmp_path / "agent"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o700)

        errors = refusal(
            Isolation(user="nobody"),
            workspace=home_of_nobody / "workspace",
            home=home_of_nobody,
            command=CommandSpec(argv=(str(program),)),
        )

        assert "may not run" in errors["runtime_settings.isolation.user"][0]

    @needs_bubblewrap
    def test_a_user_in_a_sandbox_is_let_through(self, home_of_nobody):
        probing.probe(
            Isolation(user="nobody", bwrap=Bubblewrap()),
            TRUE,
            workspace=str(home_of_nobody / "workspace"),
            own_home=home_of_nobody,
        )
