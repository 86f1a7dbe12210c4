"""Folders that reports are made of, the pages that tests in a browser look at, and processes that serve one."""

from __future__ import annotations

import json
import re
import signal
import urllib.request
from contextlib import contextmanager

import numpy as np
import pytest

from adamb.host_sim.results.sweep import PaperCurves, problem_curves
from support.command import finish, start

NASTY = "</script><img src=x onerror=alert(1)>"


def score(agent, share, peak, cap=2048, problem="oil-laplace", **changes):
    row = {"problem": problem, "budget_bytes": cap, "agent": agent, "status": "ok", "unit": "V*"}
    return row | {"reward_mean": 3.5, "score": share, "score_ci95": 0.01, "bytes_peak": peak} | changes


def write_benchmark(folder, *more):
    """Three contenders on two problems under two caps; one has a name that wants to be markup."""
    scores = [
        score(agent, share - 0.1 * i + 0.02 * k, peak * (k + 1), cap, problem)
        for i, problem in enumerate(("oil-laplace", "ambulance-1"))
        for k, cap in enumerate((2048, 4096))
        for agent, share, peak in (("adamb", 0.9, 900), ("adaql", 0.8, 600), (f"mine{NASTY}", 0.7, 80))
    ]
    cells = [
        {"problem": "oil-laplace", "budget_bytes": cap, "against": "all", "baseline": "adaql",
         "outcome": outcome, "gain": gain, "gain_ci95": 0.01}
        for cap, outcome, gain in ((2048, "win", 0.12), (4096, "loss", -0.05))
    ]  # fmt: skip
    target = {"target": "1a", "statement": "within 1 %", "against": "all", "figures": "1 of 2",
              "verdict": "does not hold"}  # fmt: skip
    content = {"quick": True, "seeds": [1, 2], "tune_seeds": [11], "version": "0.1.0", "spec_hash": 1,
               "core": "c", "verdicts": [target], "cells": cells, "scores": [*scores, *more]}  # fmt: skip
    folder.mkdir()
    (folder / "benchmark.json").write_text(json.dumps(content))
    return folder


def add_claims(folder):
    """What an analysis adds to the folder of a sweep."""
    rows = [
        {"claim": "smaller", "statement": "adaptive partitions are smaller", "problem": problem,
         "compared": "AdaMB : epsilonMB", "figures": "35 : 245 leaves", "difference": "reward +0.1",
         "holds": holds, "undecided": not holds and problem == "two",
         "verdict": "holds" if holds else "does not hold", "seeds": 3}
        for problem, holds in (("one", True), ("two", False), ("three", False))
    ]  # fmt: skip
    content = {"seeds": [0, 1, 2], "note": "Guarantees cover the mode paper.", "claims": rows}
    (folder / "claims.json").write_text(json.dumps(content))
    at, rng = np.array([10, 20, 30]), np.random.default_rng(4)
    found = {
        name: (at, rng.random((3, 3)), None if name == "flat" else 10 * rng.random((3, 3)) + 5)
        for name in ("AdaMB", "AdaQL", "flat", *(f"more {i}" for i in range(5)))
    }
    problems = {name: problem_curves(found, 4.0) for name in ("one", f"two{NASTY}")}
    (folder / "curves.json").write_text(json.dumps(PaperCurves(problems=problems).to_json()))
    return folder


def write_sweep(folder, refused="", peak="900"):
    """A finished sweep with two caps."""
    folder.mkdir()
    (folder / "meta.json").write_text(json.dumps({
        "name": "caps", "spec_hash": "x", "seeds": [0, 1], "cells": 2, "finished": True,
        "command": "adamb sweep", "versions": {"adamb": "0.1.0"},
    }))  # fmt: skip
    header = "problem,agent,bonus,budget_bytes,seeds,refused,reward_per_episode_mean,"
    header += "reward_per_episode_ci95,optimal_mean,bytes_peak_max\n"
    rows = f"oil,adamb,auto,1024,2,,3.1,0.1,4.0,{peak}\noil,adamb,auto,2048,2,{refused},3.2,0.1,4.0,1500\n"
    (folder / "summary.csv").write_text(header + rows)
    header = "problem,agent,bonus,budget_bytes,seed,status,reward_per_episode,bytes_peak\n"
    rows = f"oil,adamb,auto,1024,0,ok,3.05,{peak}\noil,adamb,auto,1024,1,ok,3.15,880\n"
    (folder / "results.csv").write_text(header + rows)
    return folder


CAMPAIGN = pytest.mark.campaign
RECORDED = ("full", pytest.param("steps", marks=CAMPAIGN), pytest.param("wide", marks=CAMPAIGN))
KINDS = (*RECORDED, pytest.param("compared", marks=CAMPAIGN), "block")


LONG = ("run", "oil-laplace", "--budget", "4KiB", "--episodes", 2_000_000, "--seeds", 1, "--quiet")


@contextmanager
def served(*arguments):
    """The process and its address, after it has said that it serves; afterwards it is ended."""
    with start(*arguments) as process:
        try:
            said = process.stderr.readline()
            found = re.match(r"live page: (http://127\.0\.0\.1:\d+/) ", said)
            assert found, said + process.stderr.read()
            yield process, found[1]
        finally:
            process.kill()


def interrupt(process):
    """Exit code, output and errors after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    return finish(process)


def ask(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
        return answer.read().decode()


def state(address):
    return json.loads(ask(f"{address}state.json"))


def change(folder, name, **values):
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def first_line(page):
    """The first words that a reader sees, and the class that colours them."""
    found = re.search(r'<header class="verdict (\w+)">.*?<h1>(.*?)</h1>', page, re.DOTALL)
    return found[1], found[2]
