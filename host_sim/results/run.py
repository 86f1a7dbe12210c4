"""The folder of `adamb run`: run.json, curves.csv, details.json, and a recording where one was asked for.

run.json is written last: where it is, the folder is complete. details.json holds where the numbers come from
and what only the returns of every seed can give.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.firmware_model import _spec
from adamb.host_sim.blocks.recording import Recording
from adamb.host_sim.files import json_bytes
from adamb.host_sim.provenance import spec_hash, typed_command, version, versions
from adamb.host_sim.results.curves import RewardCurve, RunCurves, curves_csv, reward_curve
from adamb.host_sim.results.record import Record, needed, read_columns, read_record
from adamb.host_sim.runner import LAST, RESULT_COUNTERS, Estimate, estimate

if TYPE_CHECKING:
    from adamb.host_sim.agent import Agent
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.runner import RunResult

RUN, CURVES, DETAILS, RECORDING, BLOCK = (
    "run.json",
    "curves.csv",
    "details.json",
    "recording.npz",
    "block.bin",
)
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
    """What the problem tells, means over the seeds that have a figure; None where there is nothing."""
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
    files = {
        CURVES: curves_csv(result),
        DETAILS: json_bytes(RunDetails.of(result, problem, asked_episodes).to_json()),
    }
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
