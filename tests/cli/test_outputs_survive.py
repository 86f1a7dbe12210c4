"""Two runs in one folder, a full disk, a folder that cannot be written, kill -9: what was finished stays.

A line says what happened. For one run alone see test_run.py, for sweeps that go on see tests/host/sweep.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
from pathlib import Path

import pytest

from support.command import finish, one_line, refused, start, wait_until
from support.standin_problem import PROBLEM

SWEEP = f"""
name = "many"
problems = [{{ name = "{PROBLEM}", label = "standin" }}]
agents = ["random", "centre"]
budgets = ["2KiB", "4KiB", "8KiB"]
episodes = 60
seeds = 2
seeds_per_cell = 1
"""


def cells(folder):
    return {path.name: path.read_bytes() for path in (folder / "cells").glob("*.json")}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "many.toml"
    path.write_text(SWEEP)
    return path


def limit_files(most):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    return limit


def test_two_runs_into_one_folder_at_once_leave_the_files_of_one_and_the_results_of_both(tmp_path):
    folder, bases = tmp_path / "out", (0, 1000)
    folder.mkdir()
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)  # so that both come to saving before either has saved
    command = ["run", PROBLEM, "--agent", "random", "--episodes", "300", "--seeds", "2", "--quiet"]
    runs, shown = [], [tmp_path / f"{base}.txt" for base in bases]
    for base, path in zip(bases, shown, strict=True):
        options = {"stdout": path.open("w"), "env": os.environ | {"PYTHONUNBUFFERED": "1"}}
        runs.append(start(*command, "--seed-base", base, "--out", folder, **options))
        options["stdout"].close()
    wait_until(lambda: all("reward per episode" in path.read_text() for path in shown))
    assert list(folder.iterdir()) == []
    os.close(held)
    ended = [finish(process) for process in runs]
    codes = [code for code, _, _ in ended]
    assert sorted(codes) == [0, 2], ended
    line = ended[codes.index(2)][2]
    assert "another run has written here meanwhile" in one_line(line)
    written = json.loads((folder / "run.json").read_text())
    assert written["seed_base"] == bases[codes.index(0)], "the files are of the run that says so"


def test_two_sweeps_into_one_folder_at_once_are_told_apart(file, tmp_path):
    slow = tmp_path / "slow.toml"
    slow.write_text(SWEEP.replace("episodes = 60", "episodes = 9000"))
    first = start("sweep", slow, "--out", tmp_path / "out", "--jobs", 1)
    wait_until(lambda: (tmp_path / "out" / ".lock").exists() and cells(tmp_path / "out"))
    code, out, error = finish(start("sweep", file, "--out", tmp_path / "out", "--jobs", 1))
    first.kill()
    first.communicate()
    assert code == 2 and out == "" and "another sweep" in one_line(error)


def test_a_disk_that_is_full_stops_a_sweep_with_one_line_and_later_it_goes_on(file, tmp_path):
    folder = tmp_path / "out"
    code, _, error = finish(start("sweep", file, "--out", folder, "--jobs", 1, preexec_fn=limit_files(600)))
    assert code == 2, error
    assert "File too large" in error and "adamb: error: " in error.splitlines()[-1], error
    half = cells(folder)
    assert all(json.loads(content) for content in half.values()), "no half file"
    assert finish(start("sweep", file, "--out", folder, "--jobs", 1))[0] == 0
    assert {name: content for name, content in cells(folder).items() if name in half} == half
    assert len(cells(folder)) == 12


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that not even root may write")
def test_a_folder_that_cannot_be_written_stops_a_sweep_with_one_line(file, capsys):
    error = refused(capsys, "sweep", file, "--out", "/proc/self/out", "--jobs", 1)
    assert error.startswith("adamb: error: /proc/self/out"), error


def test_a_sweep_that_is_killed_loses_no_finished_cell(file, tmp_path):
    file.write_text(SWEEP.replace("episodes = 60", "episodes = 2000"))
    folder = tmp_path / "out"
    process = start("sweep", file, "--out", folder, "--jobs", 1, start_new_session=True)
    wait_until(lambda: len(cells(folder)) >= 3)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    half = cells(folder)
    assert len(half) >= 3 and all(json.loads(content) for content in half.values())
    code, _, error = finish(start("sweep", file, "--out", folder, "--jobs", 1))
    assert code == 0 and f"{len(half)} of them from before" in error, error
    assert {name: content for name, content in cells(folder).items() if name in half} == half
