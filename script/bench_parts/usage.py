"""Processor time and memory of programs with all that they started, from /proc; None where there is no /proc."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench_parts.programs import Program

PROC = Path("/proc")
_SESSION, _UTIME, _STIME = 3, 11, 12  # counted behind the name in stat, which may hold blanks and brackets
_TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(programs: Iterable[Program]) -> float | None:
    """What the living processes of these programs' sessions have used so far."""
    if not PROC.is_dir():
        return None
    return sum(int(stat[_UTIME]) + int(stat[_STIME]) for _, stat in _processes(programs)) / _TICKS


def resident_mib(programs: Iterable[Program]) -> float | None:
    """Their resident memory; a page that several share counts for each in its part (PSS)."""
    if not PROC.is_dir():
        return None
    return sum(map(_pss_kib, (process for process, _ in _processes(programs)))) / 1024


def _processes(programs: Iterable[Program]) -> Iterator[tuple[Path, list[str]]]:
    sessions = {str(program.pid) for program in programs}
    for process in PROC.glob("[0-9]*"):
        try:
            stat = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if stat[_SESSION] in sessions:
            yield process, stat


def _pss_kib(process: Path) -> int:
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def open_files(program: Program) -> int | None:
    """Files and sockets that the program itself holds open."""
    try:
        return len(os.listdir(PROC / str(program.pid) / "fd"))
    except OSError:
        return None


def mentioning(folder: str) -> list[int]:
    """Processes whose command or environment names the folder, or one in it."""
    wanted, found = folder.encode(), []
    for process in PROC.glob("[0-9]*"):
        try:
            named = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if wanted in named:
            found.append(int(process.name))
    return found


def mib_of(pids: Iterable[int]) -> float:
    """Their proportional memory together."""
    return sum(_pss_kib(PROC / str(pid)) for pid in pids) / 1024
