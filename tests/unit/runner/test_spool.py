"""The bounded file of an output: what is kept, what is counted, what others can read meanwhile."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executions.runner import spool as spools
from executions.runner.spool import CappedSpool, json_cut_line


def opened(path, head_bytes=100, tail_bytes=1024, cut_line=json_cut_line):
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    return CappedSpool(fd, head_bytes=head_bytes, tail_bytes=tail_bytes, cut_line=cut_line)


def without_cut_line(kept):
    """What stands before the cut and what stands behind it, and what the cut says."""
    lines = kept.split(b"\n")
    at = next(n for n, line in enumerate(lines) if line.startswith(b'{"type":"trinity.cut"'))
    return b"\n".join(lines[:at]), b"\n".join(lines[at + 1 :]), json.loads(lines[at])["truncated_bytes"]


def test_what_fits_is_kept_byte_for_byte(tmp_path):
    spool = opened(tmp_path / "out")
    printed = os.urandom(100 + 2 * 1024)

    spool.write(printed)
    spool.close()

    assert (tmp_path / "out").read_bytes() == printed
    assert (spool.cut_bytes, spool.printed_bytes) == (0, len(printed))


def test_the_cut_falls_between_lines(tmp_path):
    spool = opened(tmp_path / "out")

    for n in range(1000):
        spool.write(b'{"n":%d}\n' % n)
    spool.close()

    lines = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert [line["n"] for line in lines if "n" in line][:3] == [0, 1, 2]
    assert lines[-1] == {"n": 999}
    assert sum("truncated_bytes" in line for line in lines) == 1


def test_a_head_of_one_long_line_is_cut_and_the_cut_line_still_stands_alone(tmp_path):
    spool = opened(tmp_path / "out", head_bytes=10)

    spool.write(b"x" * 10_000 + b"\nlast\n")
    spool.close()

    head, tail, cut = without_cut_line((tmp_path / "out").read_bytes())
    assert head == b"x" * 10
    assert tail.endswith(b"\nlast\n")
    assert len(head) + len(tail) + cut == 10_006


def test_without_a_head_only_the_end_is_kept(tmp_path):
    spool = opened(tmp_path / "out", head_bytes=0)

    spool.write(b"line\n" * 2000)
    spool.close()

    kept = (tmp_path / "out").read_bytes()
    assert kept.startswith(b'{"type":"trinity.cut"')
    assert kept.endswith(b"line\n")


@settings(max_examples=60, deadline=None)
@given(
    chunks=st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 300)), max_size=30),
    head_bytes=st.integers(0, 3000),
)
def test_the_newest_bytes_stand_at_the_end_and_every_byte_is_kept_or_counted(tmp_path_factory, chunks, head_bytes):
    path = tmp_path_factory.mktemp("spool") / "out"
    spool = opened(path, head_bytes=head_bytes)
    printed = b""

    for number, (length, width) in enumerate(chunks):
        chunk = (b"%d" % number * width + b"\n") * (length // width)
        spool.write(chunk)
        printed += chunk
        kept = path.read_bytes()
        newest = min(len(printed), 512)
        assert kept[-newest:] == printed[-newest:] or not printed
        assert len(kept) <= head_bytes + 2 * 1024 + spool._line_bytes
    spool.close()

    kept = path.read_bytes()
    if not spool.cut_bytes:
        assert kept == printed
        return
    head, tail, cut = without_cut_line(kept)
    assert cut == spool.cut_bytes
    assert printed.startswith(head)
    assert printed.endswith(tail)
    assert len(kept) - spool._line_bytes <= len(printed) - cut <= len(kept) - spool._line_bytes + 1


@pytest.fixture
def full_after(monkeypatch):
    """A disk that takes no byte beyond the given size of a file."""
    disk = {"bytes": 0}
    real = os.pwrite

    def pwrite(fd, chunk, offset):
        room = disk["bytes"] - offset
        if room <= 0:
            raise OSError(28, "No space left on device")
        return real(fd, bytes(chunk)[:room], offset)

    monkeypatch.setattr(spools.os, "pwrite", pwrite)
    return disk


def test_on_a_full_disk_the_last_line_is_kept_within_what_there_is(tmp_path, full_after):
    full_after["bytes"] = 8000
    spool = opened(tmp_path / "out", head_bytes=100_000)

    for n in range(20_000):
        spool.write(b"%07d\n" % n)
    spool.close()

    kept = (tmp_path / "out").read_bytes()
    assert spool.error == "ENOSPC"
    assert kept.startswith(b"0000000\n0000001\n")
    assert kept.endswith(b"0019998\n0019999\n")
    assert len(kept) <= 8000
    assert spool.printed_bytes == 160_000
    assert 160_000 - spool.cut_bytes == len(kept) - len(json_cut_line(0))


def test_on_a_disk_that_shrinks_further_the_rest_is_only_counted(tmp_path, full_after):
    full_after["bytes"] = 8000
    spool = opened(tmp_path / "out", head_bytes=100_000)
    spool.write(b"x" * 9 + b"\n" * 9000)

    full_after["bytes"] = 0
    spool.write(b"y" * 5000)
    spool.close()

    assert spool.error == "ENOSPC"
    assert spool.printed_bytes == 9 + 9000 + 5000
    assert spool.cut_bytes >= 5000


def test_a_disk_that_was_full_from_the_start_costs_everything_but_no_error_is_raised(tmp_path, full_after):
    spool = opened(tmp_path / "out")

    spool.write(b"x" * 5000)
    spool.close()

    assert (spool.error, spool.cut_bytes, (tmp_path / "out").read_bytes()) == ("ENOSPC", 5000, b"")
