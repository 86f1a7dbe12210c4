"""Memory of the controller over a long run: measured at log-spaced episodes, capped and uncapped.

Both controllers of a mode meet the same instances with the same random draws. They step together, as one
array of blocks, because what a call costs on the host is most of the time; rewards are not compared here.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adamb.budgets.bounds.paper import partition_size, single_path_time, storage
from adamb.budgets.bounds.paper import time as paper_time
from adamb.budgets.controller import MEMORY_OPTIONS, make_config
from adamb.budgets.errors import InputError
from adamb.budgets.growth import Exponent, Violation, fit_exponent, log_points, violations
from adamb.budgets.ledger import UNIT_BYTES, Ledger
from adamb.budgets.planner import PlannedJob
from adamb.budgets.thresholds import exact
from adamb.firmware_model import _spec
from adamb.tools.measure.fleet import Fleet

QUANTITIES = ("bytes", "leaves", "units", "entries")
WORD_BYTES = 2
Meter = Callable[[int], object]
"""Told of every episode that is done; what is true ends the measurement there."""
FULL_WORDS = [_spec.H_RECLAIMS, _spec.H_REFUSED, _spec.H_NO_ROOM]


@dataclass(frozen=True)
class GrowthTask:
    """What to measure for one mode."""

    problem: str
    mode: str
    episodes: int
    seeds: tuple[int, ...]
    budget_bytes: int | None
    horizon: int | None = None
    continuing: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    per_decade: int = 6


@dataclass
class Track:
    """One controller per seed: quantities (seeds, points), the episode that first felt the cap, and the
    ledger of the first seed after the last episode."""

    budget_bytes: int | None
    values: dict[str, np.ndarray]
    cap_bound_at: np.ndarray
    ledger: Ledger

    def __getitem__(self, quantity: str) -> np.ndarray:
        return self.values[quantity]


@dataclass
class Profile:
    """The measurement of one mode with the bounds of its job at the same points."""

    task: GrowthTask
    job: PlannedJob
    points: list[int]
    tracks: dict[str, Track]
    bounds: dict[str, list[int]]
    paper: dict[str, list[float]]
    paper_met: bool
    seconds: float

    @property
    def episodes(self) -> int:
        """Fewer than the task asks for when the measurement was stopped."""
        return self.points[-1]

    @property
    def exponent(self) -> Exponent | None:
        """Growth of the pool (the header is constant and would flatten it), uncapped."""
        return fit_exponent(self.points, self.tracks["uncapped"]["units"])

    def exponents(self) -> dict[str, Any]:
        """The measured exponent beside the paper's, for memory; for time, what the paper says and a path."""
        fit, job = self.exponent, self.job
        d, d_s, gamma = job.d_s + job.d_a, job.d_s, float(exact("gamma", job.settings["gamma"]))
        given: Any = {"horizon": 1, "d_s": d_s, "gamma": gamma}
        return {
            "measured": None if fit is None else fit.measured,
            "ci95": None if fit is None else fit.ci95,
            "seeds": len(self.task.seeds),
            "from_episode": None if fit is None else fit.first_episode,
            "paper": storage(1e6, d=d, **given).exponent,
            "paper_condition_met": self.paper_met,
            "single_path": d_s / gamma,
            "time": {
                "paper": paper_time(1e6, d=d, **given).exponent,
                "single_path": single_path_time(1e6, **given).exponent,
            },
        }

    def violations(self) -> list[Violation]:
        """Every measurement of either track above the upper bound."""
        return [
            found
            for track in self.tracks.values()
            for name in QUANTITIES
            for found in violations(name, self.points, track[name], self.bounds[name], self.task.seeds)
        ]


class MeasuredGrowth:
    """The controllers of one mode, capped and uncapped, at work; what was recorded at the points so far."""

    def __init__(self, task: GrowthTask) -> None:
        from adamb.host_sim.agents import check_horizon
        from adamb.host_sim.registry import make_problem

        self.began, self.task, self.budgets = time.perf_counter(), task, _budgets(task)
        self.problem = problem = make_problem(
            task.problem,
            list(task.seeds) * len(self.budgets),
            episodes=task.episodes,
            horizon=task.horizon,
            continuing=task.continuing,
            params=dict(task.parameters),
        )
        check_horizon(problem.horizon)
        config = make_config(problem.d_s, problem.d_a, problem.horizon, {"mode": task.mode, **task.options})
        given: Any = {key: task.options.get(key) for key in MEMORY_OPTIONS}
        self.job = PlannedJob(problem.d_s, problem.d_a, problem.horizon, task.episodes, task.mode, **given)
        self.points = log_points(task.episodes, task.per_decade)
        self.fleet = Fleet(config, task.seeds, self.budgets)
        self.felt = np.zeros(len(self.fleet.blocks), dtype=np.int64)
        self.episode, self.done = 0, list[int]()
        self.taken = {name: {key: list[np.ndarray]() for key in QUANTITIES} for name in self.budgets}

    def play(self) -> None:
        """One episode; every one is watched for a full pool."""
        problem, fleet = self.problem, self.fleet
        states = problem.begin_episode()
        for h in range(problem.horizon):
            rewards, states = problem.step(h, fleet.act(h, states))
            fleet.observe(h, rewards, states)
        fleet.end_episode()
        self.episode += 1
        full = fleet.blocks[:, FULL_WORDS]
        if full.any():
            self.felt[full.any(axis=1) & (self.felt == 0)] = self.episode

    def record(self) -> None:
        self.done.append(self.episode)
        for name in self.budgets:
            for key, values in self.fleet.record(name).items():
                self.taken[name][key].append(values)

    def profile(self) -> Profile:
        """Of the points so far."""
        points, job = list(self.done), self.job
        tracks = {name: self._track(name, budget) for name, budget in self.budgets.items()}
        paper, met = _paper(job, points)
        seconds = time.perf_counter() - self.began
        return Profile(self.task, job, points, tracks, _bounds(job, points), paper, met, seconds)

    def _track(self, name: str, budget: int | None) -> Track:
        values = {key: np.stack(taken, axis=1) for key, taken in self.taken[name].items()}
        return Track(budget, values, self.felt[self.fleet.rows[name]].copy(), self.fleet.ledgers(name)[0])


def _budgets(task: GrowthTask) -> dict[str, int | None]:
    return {"uncapped": None} | ({} if task.budget_bytes is None else {"capped": task.budget_bytes})


def measure(task: GrowthTask, meter: Meter | None = None) -> Profile:
    """Run the controllers of one mode, and compute their bounds; where the meter asks to stop is the end."""
    growth, stop = MeasuredGrowth(task), False
    wanted = set(growth.points)
    while growth.episode < growth.points[-1] and not stop:
        growth.play()
        stop = meter is not None and bool(meter(growth.episode))
        if stop or growth.episode in wanted:
            growth.record()
    return growth.profile()


def _bounds(job: PlannedJob, points: list[int]) -> dict[str, list[int]]:
    units = [job.bound.units(k) for k in points]
    return {
        "leaves": [job.bound.forest.leaves(k) for k in points],
        "units": units,
        "bytes": [(job.bound.header_units + each) * UNIT_BYTES for each in units],
        "entries": [job.bound.most("entries", k) for k in points],
    }


def _paper(job: PlannedJob, points: list[int]) -> tuple[dict[str, list[float]], bool]:
    """The paper's bounds on leaves and entries (two bytes each here), and whether they apply to this job."""
    d, chosen = job.d_s + job.d_a, job.settings
    gamma, phi = float(exact("gamma", chosen["gamma"])), float(exact("phi", chosen["phi"]))
    leaves, entries, met = [], [], chosen["split"] == "own"
    for k in points:
        shapes = job.bound.forest.shapes(k)
        sizes = [(trees, partition_size(samples, d=d, gamma=gamma, phi=phi)) for trees, samples in shapes]
        stored = [
            storage(samples, horizon=trees, d=d, d_s=job.d_s, gamma=gamma, phi=phi)
            for trees, samples in shapes
        ]
        leaves.append(max(trees * size.value for trees, size in sizes))
        entries.append(max(each.value for each in stored))
        met = met and all(each.met for each in stored)
    return {"leaves": leaves, "entries": entries, "bytes": [WORD_BYTES * each for each in entries]}, met


def measure_all(tasks: Sequence[GrowthTask], meters: Sequence[Meter | None] | None = None) -> list[Profile]:
    """One process per mode when the work is worth starting one; a meter of each follows its episodes."""
    if not tasks:
        raise InputError("mode", "", "nothing to measure")
    steps = sum(task.episodes * len(task.seeds) for task in tasks)
    followed = list(zip(tasks, meters or [None] * len(tasks), strict=True))
    if len(tasks) == 1 or steps < 200_000:
        return [measure(*each) for each in followed]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=len(tasks))(delayed(_measure_apart)(*each) for each in followed))


def _measure_apart(task: GrowthTask, meter: Meter | None) -> Profile:
    """Ctrl-C on a terminal reaches every process; here the meter tells when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return measure(task, meter)
