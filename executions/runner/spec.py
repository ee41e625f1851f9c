"""What the detached runner reads of its orders; the launcher's `RunnerSpec` is what writes them.

Loaded by the detached runner: no dataclass and no typing here, they cost a megabyte in every living runner.
"""

import json

from executions.runner import folder as files


class Spec:
    """One run's orders. Raises KeyError, TypeError or ValueError for a file that no launcher wrote."""

    def __init__(self, text: str) -> None:
        orders = json.loads(text)
        self.argv: list[bytes] = [_bytes(part) for part in orders["argv"]]
        self.cwd: bytes = _bytes(orders["cwd"])
        self.timeout_seconds = float(orders["timeout_seconds"])
        self.grace_seconds = float(orders["grace_seconds"])
        self.linger_seconds = float(orders["linger_seconds"])
        self.final_types: list[str] = list(orders["final_types"])
        self.interrupt_first = bool(orders["interrupt_first"])
        self.head_bytes = int(orders["head_bytes"])
        self.tail_bytes = int(orders["tail_bytes"])
        self.limits: dict[str, int] = dict(orders["limits"])
        self.git = bool(orders["git"])
        self.account: dict[str, object] | None = orders["account"]
        self.memory_bytes = int(orders["memory_bytes"])
        self.processes = int(orders["processes"])
        self.wrapped = bool(orders["wrapped"])


def _bytes(text: str) -> bytes:
    """Independent of the locale that the environment happens to name; a lone surrogate is replaced."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def agent_environment(folder: bytes) -> dict[bytes, bytes]:
    """The environment exactly as the launcher gave it, and the mark.

    Not os.environb: under the C locale the interpreter adds LC_CTYPE to its own.
    """
    with open("/proc/self/environ", "rb") as file:
        pairs = [entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry]
    env = {pair[0]: pair[1] for pair in pairs}
    env[files.ENV_MARK.encode()] = folder
    return env
