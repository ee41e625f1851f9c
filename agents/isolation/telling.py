"""Says in sentences what holds an agent and what does not, for its page; asks no host and decides nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.runtimes.isolation import MEBIBYTE, Bubblewrap, Isolation


@dataclass(frozen=True, slots=True)
class Hold:
    """One sentence; `holds` is False for what is not held back."""

    holds: bool
    sentence: str


def holds_of(
    wanted: Isolation, *, starts_a_process: bool = True, names_folders: bool = True, operator_home: bool = False
) -> list[Hold]:
    """What an agent with this isolation is held by, and what it is free to do all the same.

    Which folders its host has is for those only who may change the agent; others read how many.
    """
    if not starts_a_process:
        return [Hold(True, "It answers from a list and starts no process: it reaches nothing.")]
    home = [Hold(False, "Its home is that of Trinity's account, with its logins and keys.")] if operator_home else []
    return [
        *_of_account(wanted),
        *home,
        *_of_files(wanted.bwrap, names_folders),
        *_of_memory(wanted),
        *_of_processes(wanted),
    ]


def _of_account(wanted: Isolation) -> Iterator[Hold]:
    if wanted.user:
        yield Hold(True, f"It runs as the user {wanted.user}, and can become no other: sudo does nothing for it.")
        if wanted.bwrap is None:
            yield Hold(False, f"It reads, writes and connects to whatever {wanted.user} may on its host.")
    elif wanted.bwrap is None:
        yield Hold(
            False,
            "It is as free as the account that runs Trinity's workers: it may read and write whatever that account may,"
            " Trinity's own database and keys included.",
        )
    else:
        yield Hold(
            False, "It runs as the account that runs Trinity's workers; what that may read of the system, it reads."
        )


def _of_files(bwrap: Bubblewrap | None, names_folders: bool) -> Iterator[Hold]:
    if bwrap is None:
        return
    more = f", and {_folders(bwrap.write, names_folders)}" if bwrap.write else ""
    yield Hold(True, f"It writes in its workspace and its home{more}; nowhere else (bubblewrap).")
    shown = f" (but for {_folders(bwrap.read, names_folders)})" if bwrap.read else ""
    yield Hold(True, f"Other homes, Trinity's own files, /run and other processes are out of its sight{shown}.")
    yield Hold(False, "It reads the rest of the system, such as /etc and /usr.")
    if bwrap.network:
        yield Hold(False, "It reaches every network that its host reaches, the host's own services included.")
    else:
        yield Hold(True, "It reaches no network, not even Trinity or a model's service.")


def _folders(paths: tuple[str, ...], by_name: bool) -> str:
    return ", ".join(paths) if by_name else f"{len(paths)} folder{'s' if len(paths) > 1 else ''} more"


def _of_memory(wanted: Isolation) -> Iterator[Hold]:
    if not wanted.memory_bytes:
        yield Hold(False, "It may use all memory of its host.")
        return
    most = f"{wanted.memory_bytes // MEBIBYTE:,} MiB"
    yield Hold(
        True,
        f"A run whose processes hold more than {most} together is ended. It is measured four times a second: what is"
        " taken faster stands for that long.",
    )


def _of_processes(wanted: Isolation) -> Iterator[Hold]:
    if not wanted.processes:
        yield Hold(False, "It may start as many processes as its account may.")
        return
    yield Hold(
        True,
        f"A run with more than {wanted.processes:,} processes at once is ended; they are counted four times a second.",
    )
    if wanted.user:
        yield Hold(
            True,
            f"The kernel refuses {wanted.user} any more processes than that, all of its runs together.",
        )
