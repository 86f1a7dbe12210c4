"""Traces: what `adamb inspect` tells of one, how a run replays it, and one line for whatever is wrong with it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

from support.command import adamb, refused

QUICK = ["--episodes", 3, "--seeds", 2, "--agent", "centre", "--quiet", "--json", "-"]
CACHE = [*QUICK[:5], "half", "--quiet", "--json", "-", "--set", "requests=500"]


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "requests.gz"
    lines = np.random.default_rng(3).zipf(1.3, 4000) % 500
    path.write_bytes(gzip.compress("".join(f"0x{n * 64:x} {'RW'[n % 2]}\n" for n in lines).encode()))
    return path


def test_the_summary_names_format_requests_writes_footprint_rows_and_misses(capsys, trace):
    code, out, error = adamb(capsys, "inspect", trace)
    assert code == 0 and error == ""
    for promised in ("ramulator", "4,000", "writes", "footprint", "row hits", "LRU miss ratio", "#"):
        assert promised in out


def test_json_and_a_picture_are_written(capsys, trace, tmp_path):
    code, out, _ = adamb(capsys, "inspect", trace, "--json", "-")
    found = json.loads(out)
    assert code == 0 and found["requests"] == 4000 and found["format"] == "ramulator"
    assert found["miss_ratio"][0][0] == 1 and 0 <= found["row_hit_rate"] <= 1
    assert adamb(capsys, "inspect", trace, "--out", tmp_path / "picture.svg")[0] == 0
    assert (tmp_path / "picture.svg").read_bytes().startswith(b"<?xml")
    assert ".png" in refused(capsys, "inspect", trace, "--out", tmp_path / "picture.doc")
    assert "nowhere" in refused(capsys, "inspect", tmp_path / "nowhere")


# ---- replayed by a run ---------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """Two traces of 6000 requests with different locality."""
    paths = []
    for seed, objects in ((1, 300), (2, 3000)):
        lines = np.random.default_rng(seed).integers(0, objects, 6000)
        path = tmp_path / f"{objects}.trace"
        path.write_text("".join(f"0x{n * 4096:x} {'RW'[n % 2]}\n" for n in lines))
        paths.append(path)
    return paths


def test_a_trace_changes_the_result(capsys, files):
    returns = []
    for source in (["--set", f"trace={files[0]}"], ["--set", f"trace={files[1]}"], []):
        code, out, error = adamb(capsys, "run", "dram-1x1", *source, *QUICK)
        assert code == 0, error
        returns.append(json.loads(out)["reward_per_episode"])
    assert returns[2] != returns[0] != returns[1]


def test_statistics_are_printed_on_request_and_kept(capsys, files):
    line = ["run", "dram-1x1", "--set", f"trace={files[0]}", *QUICK[:6], "--quiet"]
    code, out, error = adamb(capsys, *line, "--explain")
    assert code == 0, error
    for promised in ("row hits", "bank conflicts", "closed rows", "cycles of a read", "#"):
        assert promised in out
    _, out, _ = adamb(capsys, *line, "--json", "-")
    kept = json.loads(out)["statistics"]
    assert sum(row[2] for row in kept["latency"]) == kept["reads"] > 3000
    assert "row hits" not in adamb(capsys, *line)[1]
    assert "row hits" not in adamb(capsys, "run", "oil-laplace", "--episodes", 5, "--explain", "--quiet")[1]


@pytest.mark.parametrize("budget", [["--budget", "4KiB"], []])
def test_on_a_trace_the_rules_of_the_problem_stand_beside_the_controller(capsys, files, budget):
    line = ["run", "dram-1x1", "--set", f"trace={files[0]}", "--episodes", 3, "--seeds", 2, "--quiet", *budget]
    code, out, error = adamb(capsys, *line)
    assert code == 0, error
    names = [row.split("  ")[0].strip() for row in out.splitlines()]
    rules = {"adaptive", "open", "closed", "fcfs", "t-star", "best-static", "static", "random"}
    assert {"adamb 4 KiB" if budget else "adamb", *rules} <= set(names)


def test_two_traces_are_two_tenants_in_the_order_given(capsys, files):
    returns = []
    for first, second in (files, files[::-1]):
        code, out, error = adamb(capsys, "run", "cache-2x1", "--set", f"trace={first},{second}", *CACHE)
        assert code == 0, error
        returns.append(json.loads(out)["reward_per_episode"]["mean"])
    assert returns[0] != returns[1]


def test_a_wrong_number_of_traces_is_one_line(capsys, files):
    cache = refused(capsys, "run", "cache-2x1", "--set", f"trace={files[0]}", *CACHE)
    assert "must be two files separated by a comma, one per tenant" in cache
    assert "trace" in refused(capsys, "run", "oil-laplace", "--set", f"trace={files[0]}", *QUICK)


# ---- broken --------------------------------------------------------------------------------------------

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


def watched(folder, *command):
    """Exit code, errors and peak of memory in KiB of a command in a process of its own."""
    environment = {"ADAMB_CACHE": str(folder / "cache"), "PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command],
        capture_output=True, text=True, check=True, cwd=folder, env=environment,
    )  # fmt: skip
    code, peak = map(int, done.stdout.split()[-2:])
    return code, done.stderr, peak


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("command", [["inspect", "{}"], ["run", "dram-1x1", "--quiet", "--set", "trace={}"]])
def test_a_broken_trace_is_one_line_exit_code_2_and_little_memory(tmp_path, name, command):
    content, named = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content())
    code, error, peak = watched(tmp_path, *(word.format(path) for word in command))
    assert code == 2 and error.count("\n") == 1, error
    assert str(path) in error and named in error and len(error) < 1500
    assert peak < MOST_KIB, f"{peak / 1024:.0f} MiB"


def test_a_trace_of_50_megabytes_needs_little_memory(tmp_path):
    path, numbers = tmp_path / "large.trace", np.random.default_rng(5).integers(0, 2**34, 100_000) * 64
    text = "".join(f"0x{n:011x} {'RW'[n >> 6 & 1]}\n" for n in numbers.tolist())
    with path.open("w") as file:
        while file.tell() < 50 * 10**6:
            file.write(text)
    run = ("run", "dram-1x1", "--episodes", "1", "--seeds", "1", "--agent", "centre", "--quiet", "--set")
    code, error, peak = watched(tmp_path, *run, f"trace={path}")
    assert code == 0 and peak < MOST_KIB, (error, peak)
