"""Memory of the controller over a long run: measured at log-spaced episodes, capped and uncapped.

Both controllers of a mode meet the same instances with the same random draws, in one run; rewards are not
compared here. `summarise` is what profile.json says of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from adamb.budgets.bounds.paper import partition_size, single_path_time, storage
from adamb.budgets.bounds.paper import time as paper_time
from adamb.budgets.ledger import UNIT_BYTES, Ledger, host_memory, read_ledger
from adamb.budgets.planner import PlannedJob
from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import MEMORY_OPTIONS, exact, make_config
from adamb.host_sim.agents import Progress
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.experiments.cell import BatchedAgents
from adamb.host_sim.files import json_bytes
from adamb.host_sim.results import rows_as_csv
from adamb.host_sim.results.measurements import (
    POINTS,
    PROFILE,
    CapFelt,
    GrowthExponents,
    ProfilePoint,
    ProfileSummary,
    read_profile,
)
from adamb.host_sim.runner import simulate
from adamb.host_sim.studies.growth import Exponent, Violation, fit_exponent, log_points, violations
from adamb.tools.options import PlayedProblem
from adamb.tools.stopping import stop_on_interrupt
from adamb.tools.terminal import Display

QUANTITIES = ("bytes", "leaves", "units", "entries")
WORD_BYTES = 2
Meter = Callable[[int], object]
"""Called after every episode; true ends the measurement there."""
FULL_WORDS = [_spec.H_RECLAIMS, _spec.H_REFUSED, _spec.H_NO_ROOM]


@dataclass(frozen=True)
class GrowthTask:
    """A measurement of one mode."""

    played: PlayedProblem
    mode: str
    budget_bytes: int | None
    options: Mapping[str, Any] = field(default_factory=dict)
    per_decade: int = 6

    @property
    def episodes(self) -> int:
        return self.played.episodes

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.played.seeds


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


class _Recorder:
    """Watches the controllers of one mode: what the ledgers say at the points, and who has no room when."""

    def __init__(self, agents: Mapping[str, CoreAgent], points: Sequence[int], meter: Meter | None) -> None:
        self.agents, self.wanted, self.meter = agents, set(points), meter
        self.felt = {name: np.zeros(agent.n, dtype=np.int64) for name, agent in agents.items()}
        self.points: list[int] = []
        self.taken = {name: {key: list[np.ndarray]() for key in QUANTITIES} for name in agents}

    def __call__(self, progress: Progress) -> bool:
        """After every episode; true where the meter asks to stop."""
        episode = progress.done
        for name, agent in self.agents.items():
            full = agent.blocks[:, FULL_WORDS]
            if full.any():
                self.felt[name][full.any(axis=1) & (self.felt[name] == 0)] = episode
        stop = self.meter is not None and bool(self.meter(episode))
        if stop or episode in self.wanted:
            self.points.append(episode)
            for name, agent in self.agents.items():
                for key, values in recorded(agent).items():
                    self.taken[name][key].append(values)
        return stop

    def track(self, name: str) -> Track:
        agent = self.agents[name]
        values = {key: np.stack(taken, axis=1) for key, taken in self.taken[name].items()}
        return Track(agent.budget_bytes, values, self.felt[name], _ledgers(agent)[0])


def _ledgers(agent: CoreAgent) -> list[Ledger]:
    return [
        read_ledger(block[: int(block[_spec.H_FRESH]) * _spec.UNIT_WORDS].tolist(), agent.words)
        for block in agent.blocks
    ]


def recorded(agent: CoreAgent) -> dict[str, np.ndarray]:
    """Every quantity of every controller, from its ledger."""
    ledgers = _ledgers(agent)
    return {
        "bytes": np.array([ledger.used_bytes for ledger in ledgers]),
        "leaves": np.array([ledger.leaves for ledger in ledgers]),
        "units": np.array([ledger.pool_units for ledger in ledgers]),
        "entries": np.array([ledger.entries for ledger in ledgers]),
    }


def measure(task: GrowthTask, meter: Meter | None = None) -> Profile:
    """Run the controllers of one mode, and compute their bounds; where the meter asks to stop is the end."""
    from adamb.host_sim.agents import check_horizon

    began = time.perf_counter()
    budgets = {"uncapped": None} | ({} if task.budget_bytes is None else {"capped": task.budget_bytes})
    problem = replace(task.played, seeds=task.seeds * len(budgets)).make()
    check_horizon(problem.horizon)
    given: Any = {key: task.options.get(key) for key in MEMORY_OPTIONS}
    options: Any = {"mode": task.mode, **task.options}
    make_config(problem.d_s, problem.d_a, problem.horizon, options)  # what is wrong is named before it is planned
    job = PlannedJob(problem.d_s, problem.d_a, problem.horizon, task.episodes, task.mode, **given)
    shape = replace(problem.shape, seeds=task.seeds)
    agents = {name: CoreAgent(shape, budget_bytes=budget, **options) for name, budget in budgets.items()}
    recorder = _Recorder(agents, log_points(task.episodes, task.per_decade), meter)
    simulate(problem, BatchedAgents(problem, list(agents.values())), record=1, observers=[recorder], optimum=False)
    paper, met = _paper(job, recorder.points)
    tracks = {name: recorder.track(name) for name in agents}
    bounds = _bounds(job, recorder.points)
    return Profile(task, job, recorder.points, tracks, bounds, paper, met, time.perf_counter() - began)


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
        stored = [storage(samples, horizon=trees, d=d, d_s=job.d_s, gamma=gamma, phi=phi) for trees, samples in shapes]
        leaves.append(max(trees * size.value for trees, size in sizes))
        entries.append(max(each.value for each in stored))
        met = met and all(each.met for each in stored)
    return {"leaves": leaves, "entries": entries, "bytes": [WORD_BYTES * each for each in entries]}, met


def measure_all(tasks: Sequence[GrowthTask], display: Display | None = None) -> list[Profile]:
    """The modes beside each other, a thread for each: their steps are C. Ctrl-C ends all after an episode."""
    if not tasks:
        raise InputError("mode", "", "nothing to measure")
    done = dict.fromkeys([task.mode for task in tasks], 0)
    total = sum(task.episodes for task in tasks)

    def text() -> str:
        return "; ".join(f"{task.mode}: episode {done[task.mode]} of {task.episodes}" for task in tasks)

    with stop_on_interrupt() as stop, ThreadPoolExecutor(len(tasks)) as threads:

        def measured(task: GrowthTask) -> Profile:
            def meter(episode: int) -> bool:
                done[task.mode] = episode
                if display is not None:
                    display(text, sum(done.values()), total)
                return stop.asked

            return measure(task, meter)

        return [measured(*tasks)] if len(tasks) == 1 else list(threads.map(measured, tasks))


def summarise(found: list[Profile]) -> ProfileSummary:
    """Every point of every run, exponents, violations."""
    task = found[0].task
    exponents = {each.task.mode: GrowthExponents(**each.exponents()) for each in found}
    return ProfileSummary(
        problem=task.played.problem,
        episodes=max(each.episodes for each in found),
        interrupted=any(each.episodes < each.task.episodes for each in found),
        horizon=found[0].job.horizon,
        seeds=len(task.seeds),
        seed_base=task.seeds[0],
        budget_bytes=task.budget_bytes,
        points=[point for each in found for point in _profile_points(each)],
        exponent=exponents[task.mode],
        exponents=exponents,
        cap_bound_at={each.task.mode: cap_felt(each) for each in found},
        violations=[str(broken) for each in found for broken in each.violations()],
        ledger={each.task.mode: _ledger_bytes(each) for each in found},
        host_memory=host_memory(),
        seconds={each.task.mode: round(each.seconds, 3) for each in found},
    )


def summary_files(summary: ProfileSummary) -> dict[str, bytes]:
    """profile.json comes last: where it is, the folder is complete."""
    return {POINTS: rows_as_csv(ProfilePoint, summary.points), PROFILE: json_bytes(summary.to_json())}


def stopped_before(folder: Path, tasks: list[GrowthTask]) -> bool:
    """Whether the folder holds what these tasks left when they were stopped; they may then replace that."""
    try:
        there = read_profile(folder)
    except (OSError, InputError):
        return False
    first = tasks[0]
    same = (there.problem, there.seeds, there.seed_base, there.budget_bytes)
    asked = (first.played.problem, len(first.seeds), first.seeds[0], first.budget_bytes)
    return there.interrupted and same == asked and there.modes == [task.mode for task in tasks]


def _ledger_bytes(each: Profile) -> dict[str, Any]:
    """Bytes by owner of the first seed's controllers at the end; they sum to the block."""
    return {
        name: {**track.ledger.bytes, "block": track.ledger.total, "peak": track.ledger.peak_bytes}
        for name, track in each.tracks.items()
    }


def cap_felt(each: Profile) -> CapFelt | None:
    """Episodes in which the capped controllers first had no room; the bound says when that was possible."""
    track = each.tracks.get("capped")
    if track is None or track.budget_bytes is None:
        return None
    felt = sorted(int(episode) for episode in track.cap_bound_at if episode)
    return CapFelt(
        earliest=felt[0] if felt else None,
        latest=felt[-1] if felt else None,
        seeds=len(felt),
        possible_from=each.job.bound.first_binding_episode(track.budget_bytes),
    )


def _profile_points(each: Profile) -> list[ProfilePoint]:
    rows = []
    for name, track in each.tracks.items():
        for i, episode in enumerate(each.points):
            column = {quantity: track[quantity][:, i] for quantity in QUANTITIES}
            measured: dict[str, Any] = {
                **{quantity: float(values.mean()) for quantity, values in column.items()},
                **{f"{quantity}_max": int(values.max()) for quantity, values in column.items()},
                **{f"bound_exact_{key}": each.bounds[key][i] for key in ("leaves", "units", "entries")},
                **{f"bound_paper_{key}": each.paper[key][i] for key in ("leaves", "entries")},
            }
            rows.append(
                ProfilePoint(
                    mode=each.task.mode,
                    run=name,
                    episode=episode,
                    bytes_min=int(column["bytes"].min()),
                    bound_exact=each.bounds["bytes"][i],
                    bound_paper=each.paper["bytes"][i],
                    **measured,
                )
            )
    return rows
