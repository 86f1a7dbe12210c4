"""Whatever is wrong with a trace: one line that names the file and where, exit code 2, bounded memory."""

from __future__ import annotations

import gzip
import subprocess
import sys

import numpy as np
import pytest

GOOD = b"0x40 R\n" * 3000
MOST_KIB = 150 * 1024

#: Prints the exit code and the peak of its own memory; getrusage would count the forking test process too.
WATCHED = """
import sys
from pathlib import Path

from adamb.tools.cli import main

code = main(sys.argv[1:])
print(code, Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def truncated() -> bytes:
    lines = np.random.default_rng(5).integers(0, 2**30, 300_000)
    packed = gzip.compress("".join(f"0x{line * 64:x} R\n" for line in lines).encode(), compresslevel=1)
    return packed[: len(packed) // 2]


BROKEN = {
    "truncated.gz": (truncated, "lines"),
    "junk": (lambda: np.random.default_rng(6).bytes(50_000), "binary data"),
    "mixed": (lambda: GOOD + b"LD 0x40\n", "mixed:3001"),
    "huge-address": (lambda: GOOD + b"0x1" + b"0" * 40 + b" R\n", "huge-address:3001"),
    "long-line": (lambda: GOOD + b"1" * 10_000_000 + b"\n", "long-line:3001"),
    "empty": (lambda: b"", "0 lines"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("command", [["trace", "info"], ["run", "dram-1x1", "--quiet", "--trace"]])
def test_a_broken_trace_is_one_line_exit_code_2_and_little_memory(tmp_path, name, command):
    content, named = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content())
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command, str(path)], capture_output=True, text=True, check=True,
        cwd=tmp_path, env={"ADAMB_CACHE": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin",
                           "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    code, peak = map(int, done.stdout.split())
    assert code == 2 and done.stderr.count("\n") == 1, done.stderr
    assert str(path) in done.stderr and named in done.stderr and len(done.stderr) < 1500
    assert peak < MOST_KIB, f"{peak / 1024:.0f} MiB"
