"""Folders of `adamb sweep`: meta.json says what was asked for, summary.csv has a row per combination; with what
`adamb sweep paper` adds, claims.json and curves.json for drawing; and benchmark.json of `adamb sweep benchmark`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from adamb.host_sim.results import Record, needed, read_record, read_rows
from adamb.host_sim.runner import half_widths

META, SUMMARY, RESULTS = "meta.json", "summary.csv", "results.csv"


@dataclass(kw_only=True)
class SweepMeta(Record):
    """meta.json: all that is needed to know where the numbers come from."""

    name: str
    spec_file: str = ""
    spec_hash: str
    spec: str = ""
    quick: bool = False
    command: str
    seeds: list[int]
    tune_seeds: list[int] = field(default_factory=list)
    cells: int
    finished: bool
    versions: dict[str, Any]
    format: int = 1
    tuned: list[dict[str, Any]] = field(default_factory=list)
    """The options that won, where some were tuned."""


@dataclass(kw_only=True)
class SummaryRow:
    """One combination of summary.csv: means over the seeds with 95 % half widths."""

    problem: str
    agent: str
    bonus: str | None
    budget_bytes: int | None
    seeds: int
    refused: str | None
    reward_per_episode_mean: float | None
    reward_per_episode_ci95: float | None
    reward_last100_mean: float | None = None
    reward_last100_ci95: float | None = None
    optimal_mean: float | None
    optimal_ci95: float | None = None
    regret_mean: float | None = None
    regret_ci95: float | None = None
    bytes_peak_max: int | None

    @property
    def over_budget(self) -> bool:
        return self.budget_bytes is not None and (self.bytes_peak_max or 0) > self.budget_bytes


@dataclass(kw_only=True)
class SeedRow:
    """One seed of one combination in results.csv; `status` is ok, or why there is nothing else."""

    problem: str
    agent: str
    bonus: str | None
    budget_bytes: int | None
    seed: int
    status: str
    reward_per_episode: float | None
    bytes_peak: int | None

    @property
    def combination(self) -> tuple[str, str, str | None, int | None]:
        return self.problem, self.agent, self.bonus, self.budget_bytes


@dataclass
class SweepFolder:
    """A folder of `adamb sweep` as read back; while it is not finished it may have no table."""

    path: Path
    meta: SweepMeta

    @classmethod
    def read(cls, path: Path) -> SweepFolder:
        return cls(path, read_record(SweepMeta, path / META))

    @cached_property
    def rows(self) -> list[SummaryRow]:
        if not self.meta.finished and not (self.path / SUMMARY).is_file():
            return []
        return read_rows(SummaryRow, needed(self.path, SUMMARY))

    def seeds_of(self, row: SummaryRow) -> list[SeedRow]:
        """Every seed of a combination; empty where the folder has no row of them."""
        return self._by_combination.get((row.problem, row.agent, row.bonus, row.budget_bytes), [])

    @cached_property
    def _by_combination(self) -> dict[tuple[str, str, str | None, int | None], list[SeedRow]]:
        path = self.path / RESULTS
        found: dict[tuple[str, str, str | None, int | None], list[SeedRow]] = {}
        for row in read_rows(SeedRow, path) if path.is_file() else ():
            if row.status == "ok":
                found.setdefault(row.combination, []).append(row)
        return found


CLAIMS_FILE, CURVES_FILE = "claims.json", "curves.json"


@dataclass
class ClaimRow:
    """One claim of the paper on one problem for one pair of algorithms."""

    claim: str
    statement: str
    problem: str
    compared: str
    figures: str
    difference: str
    holds: bool
    undecided: bool
    verdict: str
    seeds: int
    note: str = ""


@dataclass(kw_only=True)
class PaperClaims(Record):
    """claims.json."""

    seeds: list[int]
    note: str
    claims: list[ClaimRow]


@dataclass
class Line:
    """Means over the seeds with 95 % half widths."""

    mean: list[float]
    ci95: list[float]


@dataclass
class AgentCurves:
    """Curves of one algorithm on one problem; not every algorithm has leaves."""

    episode: list[int]
    reward: Line
    leaves: Line | None = None


@dataclass
class ProblemCurves:
    """The algorithms of a problem by name."""

    optimal: float | None
    agents: dict[str, AgentCurves]


@dataclass(kw_only=True)
class PaperCurves(Record):
    """curves.json."""

    problems: dict[str, ProblemCurves]
    format: int = 1


@dataclass
class PaperFolder:
    """Both files."""

    claims: PaperClaims
    curves: PaperCurves


def read_paper(folder: Path) -> PaperFolder | None:
    """None for a sweep that tested no claims."""
    claims = folder / CLAIMS_FILE
    if not claims.is_file():
        return None
    return PaperFolder(read_record(PaperClaims, claims), read_record(PaperCurves, folder / CURVES_FILE))


def problem_curves(found: Mapping[str, Any], optimal: float | None) -> ProblemCurves:
    """From algorithm -> episodes (points,), reward (seeds, points), leaves (seeds, points) or None."""
    agents = {
        agent: AgentCurves(at.tolist(), _line(reward), None if leaves is None else _line(leaves))
        for agent, (at, reward, leaves) in found.items()
    }
    return ProblemCurves(optimal, agents)


def _line(values: np.ndarray) -> Line:
    """Five digits: no screen shows more."""
    pair = (values.mean(axis=0), half_widths(values))
    mean, half = ([float(f"{number:.5g}") for number in column] for column in pair)
    return Line(mean, half)


BENCHMARK = "benchmark.json"


@dataclass
class TargetRow:
    """A target of the benchmark and whether it holds."""

    target: str
    statement: str
    against: str
    figures: str
    verdict: str


@dataclass
class CellRow:
    """The controller against the best baseline of a class; no gain where it does not fit."""

    problem: str
    budget_bytes: int | None
    against: str
    baseline: str
    outcome: str
    gain: float | None
    gain_ci95: float | None


@dataclass
class ScoreRow:
    """A contender on a problem at a budget; `status` is ok, or why it did not fit."""

    problem: str
    budget_bytes: int | None
    agent: str
    status: str
    unit: str
    reward_mean: float | None
    score: float | None
    score_ci95: float | None
    bytes_peak: int | None

    @property
    def over_budget(self) -> bool:
        return self.budget_bytes is not None and (self.bytes_peak or 0) > self.budget_bytes


@dataclass(kw_only=True)
class BenchmarkResult(Record):
    """benchmark.json."""

    quick: bool
    seeds: list[int]
    tune_seeds: list[int]
    version: str = ""
    spec_hash: int | None = None
    core: str = ""
    verdicts: list[TargetRow]
    cells: list[CellRow]
    scores: list[ScoreRow]
