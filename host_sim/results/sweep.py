"""The folder of `adamb sweep`: meta.json says what was asked for, summary.csv has a row per combination."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from adamb.host_sim.results.record import Record, needed, read_record, read_rows

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
        """What every seed of a combination did; empty where the folder does not tell."""
        return self._by_combination.get((row.problem, row.agent, row.bonus, row.budget_bytes), [])

    @cached_property
    def _by_combination(self) -> dict[tuple[str, str, str | None, int | None], list[SeedRow]]:
        path = self.path / RESULTS
        found: dict[tuple[str, str, str | None, int | None], list[SeedRow]] = {}
        for row in read_rows(SeedRow, path) if path.is_file() else ():
            if row.status == "ok":
                found.setdefault(row.combination, []).append(row)
        return found
