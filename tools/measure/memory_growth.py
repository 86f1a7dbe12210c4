"""Memory of the controller over a long run: measured at log-spaced episodes, capped and uncapped.

Both controllers of a mode meet the same instances with the same random draws. They step together, as one
array of blocks, because what a call costs on the host is most of the time; rewards are not compared here.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from adamb.budgets.bounds.paper import partition_size, single_path_time, storage
from adamb.budgets.bounds.paper import time as paper_time
from adamb.budgets.controller import MEMORY_OPTIONS, ControllerConfig, block_words, make_config
from adamb.budgets.errors import AdambError, InputError
from adamb.budgets.growth import Exponent, Violation, fit_exponent, log_points, violations
from adamb.budgets.ledger import UNIT_BYTES, Ledger, read_ledger
from adamb.budgets.planner import PlannedJob
from adamb.budgets.thresholds import exact
from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding

QUANTITIES = ("bytes", "leaves", "units", "entries")
WORD_BYTES = 2
Meter = Callable[[int], object]
"""Told of every episode that is done; what is true ends the measurement there."""
Keep = Callable[[Callable[[], "Profile"]], object]
"""Given, at every point, what makes a profile of the points so far."""


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


class Fleet:
    """Controllers of several sizes in one array of blocks, one size after the other."""

    def __init__(
        self, config: ControllerConfig, seeds: Sequence[int], budgets: Mapping[str, int | None]
    ) -> None:
        sizes = {name: block_words(config, budget) for name, budget in budgets.items()}
        self.n, self.stride = len(seeds), max(sizes.values())
        self.words = sizes
        self.rows = {name: slice(i * self.n, (i + 1) * self.n) for i, name in enumerate(sizes)}
        self.blocks = np.zeros((self.n * len(sizes), self.stride), dtype=np.uint16)
        for name, words in sizes.items():
            for block, seed in zip(self.blocks[self.rows[name]], seeds, strict=True):
                pointer = binding.ffi.from_buffer("uint16_t[]", block)
                _checked(binding.lib.adamb_init(binding.c_config(config.with_seed(seed)), pointer, words))
        self._blocks = binding.ffi.from_buffer("uint16_t[]", self.blocks)
        self._actions = np.empty((len(self.blocks), config.d_a))
        self._out = binding.ffi.from_buffer("double[]", self._actions)

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        points = binding.ffi.from_buffer("double[]", np.ascontiguousarray(states, dtype=np.float64))
        count = len(self.blocks)
        _checked(binding.lib.adamb_batch_act(self._blocks, self.stride, count, h, points, self._out))
        return self._actions

    def observe(self, h: int, rewards: np.ndarray, states: np.ndarray) -> None:
        earned = binding.ffi.from_buffer("double[]", np.ascontiguousarray(rewards, dtype=np.float64))
        points = binding.ffi.from_buffer("double[]", np.ascontiguousarray(states, dtype=np.float64))
        count = len(self.blocks)
        _checked(binding.lib.adamb_batch_observe(self._blocks, self.stride, count, h, earned, points))

    def end_episode(self) -> None:
        _checked(binding.lib.adamb_batch_end_episode(self._blocks, self.stride, len(self.blocks)))

    def ledgers(self, name: str) -> list[Ledger]:
        return [
            read_ledger(block[: int(block[_spec.H_FRESH]) * _spec.UNIT_WORDS].tolist(), self.words[name])
            for block in self.blocks[self.rows[name]]
        ]

    def record(self, name: str) -> dict[str, np.ndarray]:
        """Every quantity of every controller of one size, from its ledger."""
        ledgers = self.ledgers(name)
        return {
            "bytes": np.array([ledger.used_bytes for ledger in ledgers]),
            "leaves": np.array([ledger.leaves for ledger in ledgers]),
            "units": np.array([ledger.pool_units for ledger in ledgers]),
            "entries": np.array([ledger.entries for ledger in ledgers]),
        }


def _checked(code: int) -> None:
    if code:
        raise AdambError(f"the core refused a call with code {code}")


def measure(task: GrowthTask, meter: Meter | None = None, keep: Keep | None = None) -> Profile:
    """Run the controllers of one mode, capped and uncapped, and compute their bounds."""
    from adamb.host_sim.agents import check_horizon
    from adamb.host_sim.registry import make_problem

    began = time.perf_counter()
    budgets: dict[str, int | None] = {"uncapped": None}
    if task.budget_bytes is not None:
        budgets["capped"] = task.budget_bytes
    problem = make_problem(
        task.problem,
        list(task.seeds) * len(budgets),
        episodes=task.episodes,
        horizon=task.horizon,
        continuing=task.continuing,
        params=dict(task.parameters),
    )
    check_horizon(problem.horizon)
    config = make_config(problem.d_s, problem.d_a, problem.horizon, {"mode": task.mode, **task.options})
    given: Any = {key: task.options.get(key) for key in MEMORY_OPTIONS}
    job = PlannedJob(problem.d_s, problem.d_a, problem.horizon, task.episodes, task.mode, **given)
    points = log_points(task.episodes, task.per_decade)

    def profile(points: list[int], tracks: dict[str, Track]) -> Profile:
        paper, met = _paper(job, points)
        seconds = time.perf_counter() - began
        return Profile(task, job, points, tracks, _bounds(job, points), paper, met, seconds)

    for so_far in _play(problem, Fleet(config, task.seeds, budgets), budgets, points, meter):
        if keep is not None:
            keep(partial(profile, *so_far))
    return profile(*so_far)


def _play(
    problem: Any,
    fleet: Fleet,
    budgets: Mapping[str, int | None],
    points: list[int],
    meter: Meter | None = None,
) -> Iterator[tuple[list[int], dict[str, Track]]]:
    """Step all controllers together; record at the points, and watch every episode for a full pool.

    Gives the points so far and their tracks at every point. Where the meter asks to stop is the last one.
    """
    taken: dict[str, list[dict[str, np.ndarray]]] = {name: [] for name in budgets}
    felt = np.zeros(len(fleet.blocks), dtype=np.int64)
    full_words = [_spec.H_RECLAIMS, _spec.H_REFUSED, _spec.H_NO_ROOM]
    wanted, done = set(points), []
    for episode in range(1, points[-1] + 1):
        states = problem.begin_episode()
        for h in range(problem.horizon):
            rewards, states = problem.step(h, fleet.act(h, states))
            fleet.observe(h, rewards, states)
        fleet.end_episode()
        stop = meter is not None and meter(episode)
        full = fleet.blocks[:, full_words]
        if full.any():
            felt[full.any(axis=1) & (felt == 0)] = episode
        if stop or episode in wanted:
            for name in budgets:
                taken[name].append(fleet.record(name))
            done.append(episode)
            yield (
                list(done),
                {name: _track(fleet, name, budgets[name], taken[name], felt) for name in budgets},
            )
        if stop:
            break


def _track(fleet: Fleet, name: str, budget: int | None, taken: list[Any], felt: np.ndarray) -> Track:
    values = {key: np.stack([each[key] for each in taken], axis=1) for key in QUANTITIES}
    return Track(budget, values, felt[fleet.rows[name]].copy(), fleet.ledgers(name)[0])


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


def measure_all(
    tasks: Sequence[GrowthTask],
    meters: Sequence[Meter | None] | None = None,
    keeps: Sequence[Keep | None] | None = None,
) -> list[Profile]:
    """One process per mode when the work is worth starting one; a meter of each follows its episodes."""
    if not tasks:
        raise InputError("mode", "", "nothing to measure")
    steps, nobody = sum(task.episodes * len(task.seeds) for task in tasks), [None] * len(tasks)
    followed = list(zip(tasks, meters or nobody, keeps or nobody, strict=True))
    if len(tasks) == 1 or steps < 200_000:
        return [measure(*each) for each in followed]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=len(tasks))(delayed(_measure_apart)(*each) for each in followed))


def _measure_apart(task: GrowthTask, meter: Meter | None, keep: Keep | None) -> Profile:
    """Ctrl-C on a terminal reaches every process; here the meter tells when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return measure(task, meter, keep)
