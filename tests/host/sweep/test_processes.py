"""Workers that die and a cluster that shrinks cost no finished cell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.host_sim.experiments import dask_workers, local_workers
from adamb.host_sim.experiments.sweep import run_sweep
from support.command import wait_until
from support.paths import TESTS
from support.standin_problem import PROBLEM
from support.sweeps import BASIC, in_process, spec_of, tables

distributed = pytest.importorskip("distributed")

FRAGILE = """
import os, signal, sys
sys.path.insert(0, {folder!r})
from support.standin_problem import Standin

class Fragile(Standin):
    def begin_episode(self):
        if os.getpid() != {main}:
            try:
                os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().begin_episode()
"""


def test_a_worker_process_that_is_killed_costs_no_cell(tmp_path):
    marker = tmp_path / "died"
    problem = tmp_path / "fragile.py"
    problem.write_text(FRAGILE.format(folder=str(TESTS), marker=str(marker), main=os.getpid()))
    spec = spec_of(BASIC.replace(PROBLEM, f"{problem}:Fragile"))
    found = run_sweep(spec, tmp_path / "out", local_workers(2))
    assert marker.exists() and all(each.seeds == 5 for each in found)
    run_sweep(spec_of(), tmp_path / "calm", in_process)
    calm = (tmp_path / "calm" / "results.csv").read_text().replace(PROBLEM, f"{problem}:Fragile")
    assert (tmp_path / "out" / "results.csv").read_text() == calm


LONG = BASIC.replace("episodes = 20", "episodes = 1500").replace("seeds_per_cell = 2", "seeds_per_cell = 1")


@contextmanager
def cluster(tmp_path, workers):
    """A scheduler and its workers, each a process of its own, on loopback."""
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    python = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*python, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--no-show", "--scheduler-file", file], **quiet,
    )  # fmt: skip
    processes = [scheduler]
    try:
        wait_until(lambda: file.exists() and file.stat().st_size > 0)
        address = json.loads(file.read_text())["address"]
        worker = [*python, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny",
                  "--no-dashboard", "--host", "127.0.0.1"]  # fmt: skip
        processes += [subprocess.Popen(worker, **quiet) for _ in range(workers)]
        yield address, processes
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_a_cluster_loses_a_worker_in_the_middle_and_no_cell(tmp_path):
    spec, folder, killed = spec_of(LONG), tmp_path / "cluster", []

    def kill_one(done, total, cell):
        if done >= 5 and not killed:
            workers[0].kill()
            killed.append(done)

    with cluster(tmp_path, workers=2) as (address, (_, *workers)):
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        found = run_sweep(spec, folder, dask_workers(address, timeout_seconds=60), progress=kill_one)
        assert workers[0].wait() == -signal.SIGKILL and workers[1].poll() is None
    assert killed and killed[0] < 40
    assert len(found) == 8 and all(each.seeds == 5 for each in found)
    run_sweep(spec, tmp_path / "here", in_process)
    assert tables(folder) == tables(tmp_path / "here")


def test_a_cluster_without_workers_or_that_is_not_there_is_said(tmp_path):
    with cluster(tmp_path, workers=0) as (address, _), pytest.raises(InputError, match="has no workers"):
        run_sweep(spec_of(), tmp_path / "out", dask_workers(address, timeout_seconds=3))
    with pytest.raises(InputError, match=r"scheduler = 'tcp://127.0.0.1:1'"):
        run_sweep(spec_of(), tmp_path / "a", dask_workers("tcp://127.0.0.1:1", timeout_seconds=1))


def test_a_cluster_that_goes_away_keeps_the_finished_cells(tmp_path):
    folder = tmp_path / "out"
    with cluster(tmp_path, workers=1) as (address, processes):

        def end_all(done, total, cell):
            if done == 3:
                for process in processes:
                    process.kill()

        with pytest.raises(AdambError, match="went away; the finished cells are saved"):
            run_sweep(spec_of(LONG), folder, dask_workers(address, timeout_seconds=60), progress=end_all)
    assert len(list((folder / "cells").glob("*.json"))) >= 3
