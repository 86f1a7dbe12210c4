"""The folder of `adamb run`: run.json, curves.csv, details.json, lines.json, and a recording where one was asked for.

run.json is written last: where it is, the folder is complete. details.json holds where the numbers come from
and what only the returns of every seed can give.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.files import csv_bytes, json_bytes
from adamb.host_sim.provenance import spec_hash, typed_command, version, versions
from adamb.host_sim.recording import Recording
from adamb.host_sim.results import Record, needed, read_columns, read_record
from adamb.host_sim.runner import LAST, RESULT_COUNTERS, Estimate, estimate, half_widths

if TYPE_CHECKING:
    from adamb.host_sim.agents import Agent
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.runner import RunResult

RUN, CURVES, DETAILS, RECORDING, BLOCK = ("run.json", "curves.csv", "details.json", "recording.npz", "block.bin")
FILES = (RUN, CURVES, DETAILS)
RECORDS = (RECORDING, BLOCK)
INSTANCES = 20
PACKAGES = ("numpy", "scipy", "cffi")


@dataclass(kw_only=True)
class RunSummary(Record):
    """run.json; counters are means over the seeds, bytes_peak is the worst seed."""

    problem: str
    instance: str = "random"
    agent: str
    core: str | None = None
    mode: str | None = None
    share: str | None = None
    budget_bytes: int | None = None
    bytes_peak: int = 0
    episodes: int
    horizon: int
    seeds: int
    seed_base: int = 0
    reward_per_episode: Estimate
    reward_last100: Estimate
    optimal: float | None = None
    regret: Estimate | None = None
    leaves: float | None = None
    refused_splits: float | None = None
    reclaims: float | None = None
    saturations: float | None = None
    restarts: float | None = None
    raw_reward_per_episode: Estimate | None = None
    raw_reward_last100: Estimate | None = None
    figures: dict[str, float] | None = None
    statistics: dict[str, Any] | None = None
    digest: str | None = None
    target: dict[str, Any] | None = None
    seconds: dict[str, float]
    version: str = ""
    spec_hash: int | None = None
    format: int = 1

    @classmethod
    def of(cls, result: RunResult) -> RunSummary:
        counters: Any = {name: result.mean_stat(name) for name in RESULT_COUNTERS}
        return cls(
            problem=result.problem,
            instance=result.instance,
            agent=result.agent,
            core=result.core,
            mode=result.settings.get("mode"),
            share=result.settings.get("share"),
            budget_bytes=result.budget_bytes,
            bytes_peak=int(result.bytes_peak.max()),
            episodes=result.episodes,
            horizon=result.horizon,
            seeds=len(result.seeds),
            seed_base=result.seeds[0],
            reward_per_episode=result.reward(),
            reward_last100=result.reward(LAST),
            optimal=None if result.optimal is None else float(result.optimal.mean()),
            regret=result.regret(),
            **counters,
            raw_reward_per_episode=result.raw_reward(),
            raw_reward_last100=result.raw_reward(LAST),
            figures=_means(result),
            statistics=result.statistics,
            digest=result.digest,
            target=result.target,
            seconds=dict(result.seconds),
            version=version(),
            spec_hash=spec_hash(),
        )

    @property
    def over_budget(self) -> bool:
        return self.budget_bytes is not None and self.bytes_peak > self.budget_bytes

    @property
    def microseconds_per_step(self) -> float | None:
        """Agent time of one act and one observe of one learner, on the computer that ran it."""
        steps = self.episodes * self.horizon * self.seeds
        return 1e6 * self.seconds["agent"] / steps if steps > 0 and "agent" in self.seconds else None


@dataclass(kw_only=True)
class RunDetails(Record):
    """details.json."""

    format: int = 1
    command: str
    finished: str
    versions: dict[str, Any]
    problem: dict[str, Any]
    settings: dict[str, Any]
    interrupted: bool
    asked_episodes: int
    microseconds_per_step: float
    share: Estimate | None
    share_first100: Estimate | None
    share_last100: Estimate | None
    reward_first100: Estimate
    seed_rewards: list[float]
    seed_bytes_peak: list[int]
    seed_counters: dict[str, list[float]]
    curve: RewardCurve
    unfinished: list[Any] = field(default_factory=list)

    @property
    def dimensions(self) -> tuple[int, int]:
        """Coordinates of the state and of the action."""
        d_s, d_a = self.problem.get("d_s"), self.problem.get("d_a")
        if not isinstance(d_s, int) or not isinstance(d_a, int):
            raise InputError("problem.d_s, problem.d_a", (d_s, d_a), f"whole numbers in {DETAILS}")
        return d_s, d_a

    @classmethod
    def of(cls, result: RunResult, problem: Problem, asked_episodes: int) -> RunDetails:
        described = problem.describe()
        described["instances"] = described["instances"][:INSTANCES]
        described.pop("seeds", None)
        return cls(
            command=typed_command(),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=versions(*PACKAGES),
            problem=described,
            settings=result.settings,
            interrupted=result.interrupted,
            asked_episodes=asked_episodes,
            microseconds_per_step=result.microseconds_per_step(),
            share=result.share(),
            share_first100=_first_share(result),
            share_last100=result.share(LAST),
            reward_first100=estimate(result.returns[:, :LAST].mean(axis=1)),
            seed_rewards=result.returns.mean(axis=1).tolist(),
            seed_bytes_peak=[int(value) for value in result.bytes_peak],
            seed_counters={name: [float(v) for v in values] for name, values in result.stats.items()},
            curve=reward_curve(result.returns, result.optimal),
            unfinished=result.unfinished,
        )


def _means(result: RunResult) -> dict[str, float] | None:
    """Figures of the problem, means over the seeds that have a figure; None where there is nothing."""
    kept = {name: values[np.isfinite(values)] for name, values in result.figures.items()}
    return {name: float(values.mean()) for name, values in kept.items() if len(values)} or None


def _first_share(result: RunResult) -> Estimate | None:
    if result.optimal is None:
        return None
    best = result.optimal[:, :LAST].mean(axis=1)
    return estimate(result.returns[:, :LAST].mean(axis=1) / best) if (best > 0).all() else None


def run_files(
    result: RunResult, problem: Problem, agent: Agent, asked_episodes: int, recording: Recording | None
) -> dict[str, bytes]:
    """The files of a run in the order in which they are written, run.json last."""
    files = {CURVES: curves_csv(result), DETAILS: json_bytes(RunDetails.of(result, problem, asked_episodes).to_json())}
    if recording is not None:
        blocks: Any = agent
        files |= {RECORDING: recording.to_bytes(), BLOCK: blocks.blocks[0].astype("<u2").tobytes()}
    return {**files, RUN: json_bytes(RunSummary.of(result).to_json())}


@dataclass
class RunFolder:
    """A folder of `adamb run` as read back."""

    path: Path
    summary: RunSummary
    details: RunDetails

    @classmethod
    def read(cls, path: Path) -> RunFolder:
        summary = read_record(RunSummary, path / RUN)
        return cls(path, summary, read_record(RunDetails, needed(path, DETAILS)))

    @cached_property
    def curves(self) -> RunCurves:
        return read_columns(RunCurves, needed(self.path, CURVES))

    @cached_property
    def lines(self) -> RunLines:
        return read_record(RunLines, needed(self.path, LINES))

    @cached_property
    def _recorded(self) -> Recording | None:
        path = self.path / RECORDING
        return Recording.load(path) if path.is_file() else None

    @property
    def stale(self) -> bool:
        """There is a recording, but of a core with another layout."""
        return self._recorded is not None and self._recorded.meta.get("spec_hash") != _spec.SPEC_HASH

    @property
    def recording(self) -> Recording | None:
        return None if self.stale else self._recorded

    @property
    def drift(self) -> str:
        return str(self.details.problem.get("drift", "none"))

    def seed_counter(self, name: str) -> list[float]:
        """A counter of every seed; empty if never counted."""
        return self.details.seed_counters.get(name, [])


POINTS = 400
SMOOTHING = 50
"""A running mean covers this part of the episodes."""


@dataclass
class RunCurves:
    """curves.csv by column: a row per episode, means over the seeds; bytes only where they were recorded."""

    episode: list[float | None]
    reward_mean: list[float | None]
    reward_ci95: list[float | None]
    optimal_mean: list[float | None]
    regret_mean: list[float | None]
    bytes_mean: list[float | None]
    bytes_max: list[float | None]


def curves_csv(result: RunResult) -> bytes:
    """The file, from the returns of every seed."""
    reward, half = result.returns.mean(axis=0), half_widths(result.returns)
    single = len(result.seeds) == 1
    recorded = {int(point): column for column, point in enumerate(result.points)}
    regret = None if result.optimal is None else np.cumsum((result.optimal - result.returns).mean(axis=0))
    best = None if result.optimal is None else result.optimal.mean(axis=0)
    rows: list[list[object]] = []
    for k in range(result.episodes):
        column = recorded.get(k + 1)
        in_use = None if column is None else result.bytes[:, column]
        rows.append(
            [
                k + 1,
                repr(float(reward[k])),
                "" if single else repr(float(half[k])),
                "" if best is None else repr(float(best[k])),
                "" if regret is None else repr(float(regret[k])),
                "" if in_use is None else repr(float(in_use.mean())),
                "" if in_use is None else int(in_use.max()),
            ]
        )
    return csv_bytes([each.name for each in fields(RunCurves)], rows)


@dataclass
class RewardCurve:
    """Running means over the episodes, with the 95 % half width over the seeds of each mean."""

    window: int
    episode: list[int]
    reward: list[float]
    reward_ci95: list[float] | None
    optimal: list[float] | None


def reward_curve(returns: np.ndarray, optimal: np.ndarray | None) -> RewardCurve:
    """From returns (seeds, episodes); a single row gives no band."""
    episodes = returns.shape[1]
    window, ends = max(1, episodes // SMOOTHING), curve_ends(episodes)
    reward = running_mean(returns, ends, window)
    return RewardCurve(
        window,
        ends.tolist(),
        _short(reward.mean(axis=0)),
        None if len(reward) < 2 else _short(half_widths(reward)),
        None if optimal is None else _short(running_mean(optimal, ends, window).mean(axis=0)),
    )


def curve_ends(episodes: int) -> np.ndarray:
    """After which episodes a point is drawn: half of them close together at the start."""
    even = np.linspace(1, episodes, min(episodes, POINTS // 2))
    log = np.geomspace(1, episodes, min(episodes, POINTS // 2))
    return np.unique(np.concatenate([even, log]).round().astype(int))


def running_mean(values: np.ndarray, ends: np.ndarray, window: int) -> np.ndarray:
    """Mean of the last `window` columns before each end, or of as many as there are."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    starts = np.maximum(ends - window, 0)
    return (sums[:, ends] - sums[:, starts]) / (ends - starts)


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


LINES = "lines.json"
SEEDS_KEPT, LINE_POINTS = 50, 100
"""A curve for each of so many seeds, of so many points: a few hundred kilobytes at most."""


@dataclass(kw_only=True)
class RunLines(Record):
    """References by agent; running means over `window` episodes, a row for each of the first seeds."""

    references: dict[str, Estimate]
    reference_episodes: int
    """So many episodes of every seed were played for the references."""
    window: int
    episode: list[int]
    seeds: list[int]
    reward: list[list[float]]
    optimal: list[list[float]] | None = None
    format: int = 1

    @classmethod
    def of(cls, result: RunResult, references: dict[str, Estimate], played: int) -> RunLines:
        ends = np.unique(np.linspace(1, result.episodes, min(result.episodes, LINE_POINTS)).round().astype(int))
        window = max(1, result.episodes // SMOOTHING)

        def rows(values: np.ndarray) -> list[list[float]]:
            return running_mean(values[:SEEDS_KEPT], ends, window).round(5).tolist()

        return cls(
            references=references,
            reference_episodes=played,
            window=window,
            episode=ends.tolist(),
            seeds=list(result.seeds[:SEEDS_KEPT]),
            reward=rows(result.returns),
            optimal=None if result.optimal is None else rows(result.optimal),
        )
