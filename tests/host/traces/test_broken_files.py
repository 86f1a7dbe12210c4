"""A broken trace is refused with file and line, in bounded memory."""

from __future__ import annotations

import gzip
import subprocess
import sys

import numpy as np
import pytest

from adamb.budgets.errors import InputError
from adamb.host_sim.traces import TraceReader
from adamb.host_sim.traces.info import trace_info
from support.trace_files import FORMATS, oracle, refused, rows

SEED = 5
pytestmark = pytest.mark.usefixtures("empty_cache")


def test_a_truncated_gzip_says_how_far_it_was_read(tmp_path):
    numbers = np.random.default_rng(SEED).integers(0, 2**30, 300_000)
    lines = "".join(f"0x{i * 64 + 2**30:x} R\n" for i in numbers)
    path = tmp_path / "cut.gz"
    packed = gzip.compress(lines.encode())
    path.write_bytes(packed[: len(packed) // 2])
    message = refused(path)
    assert "truncated" in message and "lines" in message and "after 0 lines" not in message


def test_damaged_gzip_is_refused(tmp_path):
    path = tmp_path / "bad.gz"
    packed = bytearray(gzip.compress(b"0x40 R\n" * 1000))
    packed[30:40] = b"\xff" * 10
    path.write_bytes(packed)
    assert "gzip" in refused(path)
    path.write_bytes(b"\x1f\x8b")
    assert "gzip" in refused(path)


def test_binary_junk_is_refused(tmp_path):
    path = tmp_path / "junk"
    for seed in range(20):
        path.write_bytes(np.random.default_rng(seed).bytes(5000))
        assert "0 lines" in refused(path)


def test_mixed_formats_name_the_line(tmp_path):
    path = tmp_path / "mixed"
    path.write_text("0x40 R\n" * 70_000 + "LD 0x40\n")
    message = refused(path)
    assert f"{path}:70001" in message and "70000 lines were read" in message and "ramulator" in message


@pytest.mark.parametrize("name", FORMATS)
def test_a_bad_line_in_every_format_names_file_and_line(tmp_path, name):
    path = tmp_path / "trace"
    good = FORMATS[name][0]
    path.write_text(good + "?? nonsense ??\n")
    line = good.count("\n") + 1
    message = refused(path)
    assert f"{path}:{line} = " in message
    assert f"{line - 1} lines were read" in message if line != 2 else "; 1 line was read" in message


def test_one_line_is_not_one_lines(tmp_path):
    path = tmp_path / "trace"
    path.write_text("0x40 R\n?? nonsense ??\n")
    assert refused(path).endswith("; 1 line was read")


@pytest.mark.parametrize("address", ["0x1" + "0" * 16, "0x" + "f" * 400, "0x"])
def test_huge_addresses_are_refused(tmp_path, address):
    path = tmp_path / "trace"
    path.write_text(f"0x40 R\n{address} R\n")
    assert f"{path}:2" in refused(path)


def test_the_largest_address_is_accepted(tmp_path):
    path = tmp_path / "trace"
    path.write_text("0xffffffffffffffff R\n0x40 W\n" * 200)
    assert rows(path)[0][1] == 2**64 - 1
    info = trace_info(path)
    assert info.requests == 400 and round(info.objects) == 2


def test_empty_files_and_files_of_comments_are_refused(tmp_path):
    path = tmp_path / "trace"
    path.write_text("")
    assert "0 lines were read" in refused(path)
    path.write_bytes(gzip.compress(b""))
    assert "empty" in refused(path)
    path.write_text("# only\n\n# comments\n")
    assert "no request" in refused(path)
    with pytest.raises(InputError, match="no such file"):
        TraceReader(tmp_path / "missing")


def test_oracle_general_that_ends_in_the_middle_or_points_back_is_refused(tmp_path):
    path = tmp_path / "trace"
    data = oracle(range(1000), [1] * 1000, [-1] * 1000)
    path.write_bytes(data[:-5])
    assert "record 1000" in refused(path) and "999 records were read" in refused(path)
    back = oracle(range(2000), [1] * 2000, [-1] * 1500 + [3] + [-1] * 499)
    path.write_bytes(back)
    assert "record 1501" in refused(path)


LIMITED = """
from pathlib import Path

from adamb.budgets.errors import InputError
{work}
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def peak_kib(work, tmp_path):
    """Peak memory of the work in a process of its own; getrusage would count the forking test process too."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(work=work)], capture_output=True, text=True, check=True,
        env={"ADAMB_CACHE": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    return int(done.stdout.split()[-1]), done.stdout


def test_a_line_of_10_megabytes_is_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "long"
    path.write_bytes(b"0x40 R\n" + b"1" * 10_000_000)
    work = f"""
from adamb.host_sim.traces import TraceReader
try:
    for _ in TraceReader(Path({str(path)!r})): pass
except InputError as error:
    print(error)
"""
    peak, printed = peak_kib(work, tmp_path)
    assert f"{path}:2" in printed and "at most 65536 bytes" in printed
    assert peak < 150 * 1024


def test_a_trace_of_100_megabytes_needs_less_than_200(tmp_path):
    path = tmp_path / "large.trace"
    rng = np.random.default_rng(SEED)
    with path.open("w") as file:
        for _ in range(50):
            numbers = rng.integers(0, 2**34, 100_000) * 64
            file.write("".join(f"0x{n:011x} {'RW'[n >> 6 & 1]}\n" for n in numbers.tolist()))
        while file.tell() < 100 * 10**6:
            file.write("0x123456780 R\n" * 100_000)
    work = f"""
from adamb.host_sim.traces.formats import recognise
from adamb.host_sim.traces.info import trace_info
from adamb.host_sim.problem import make_problem
info = trace_info(Path({str(path)!r}))
assert info.requests > 5_000_000, info.requests
problem = make_problem("dram-1x1", [1], params={{"trace": {str(path)!r}}})
problem.begin_episode()
"""
    peak, _ = peak_kib(work, tmp_path)
    assert peak < 200 * 1024, f"{peak / 1024:.0f} MiB"
