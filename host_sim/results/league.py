"""league.json in the folder of `adamb bench`: targets, the controller's place in every cell, every score."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from adamb.host_sim.results.record import Record, read_record

LEAGUE = "league.json"


@dataclass
class TargetRow:
    """A target of the league and whether it holds."""

    target: str
    statement: str
    against: str
    figures: str
    verdict: str


@dataclass
class CellRow:
    """The controller against the best rival of a class; no gain where it does not fit."""

    problem: str
    budget_bytes: int | None
    against: str
    rival: str
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
class LeagueResult(Record):
    """league.json."""

    quick: bool
    seeds: list[int]
    tune_seeds: list[int]
    version: str = ""
    spec_hash: int | None = None
    core: str = ""
    verdicts: list[TargetRow]
    cells: list[CellRow]
    scores: list[ScoreRow]


def read_league(folder: Path) -> LeagueResult:
    return read_record(LeagueResult, folder / LEAGUE)
