"""Whether a sandbox can be made here, asked once; makes none for any test."""

import shutil
import subprocess

import pytest


def _works() -> bool:
    bind = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    argv = ["bwrap", "--unshare-user", "--unshare-pid", *bind, "true"]
    return shutil.which("bwrap") is not None and subprocess.run(argv, capture_output=True, check=False).returncode == 0


needs_bubblewrap = pytest.mark.skipif(
    not _works(), reason="bubblewrap is not installed (apt-get install bubblewrap), or namespaces are denied here"
)
