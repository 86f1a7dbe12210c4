"""The folder of `adamb profile`: profile.json and profile.csv, which has the points of the first as rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adamb.host_sim.results.record import Record, read_record

PROFILE, POINTS = "profile.json", "profile.csv"
FILES = (PROFILE, POINTS)


@dataclass(kw_only=True)
class ProfilePoint:
    """One run of one mode after an episode: means over the seeds, the worst seed, and the bounds."""

    mode: str
    run: str
    episode: int
    bytes: float
    leaves: float = 0.0
    units: float = 0.0
    entries: float = 0.0
    bytes_max: int
    leaves_max: int = 0
    units_max: int = 0
    entries_max: int = 0
    bytes_min: int = 0
    bound_exact: int
    bound_paper: float = 0.0
    bound_exact_leaves: int = 0
    bound_exact_units: int = 0
    bound_exact_entries: int = 0
    bound_paper_leaves: float = 0.0
    bound_paper_entries: float = 0.0


@dataclass(kw_only=True)
class GrowthExponents:
    """Memory as K^x, measured and by the paper; None where there are too few points."""

    measured: float | None
    ci95: float | None
    seeds: int = 0
    from_episode: int | None = None
    paper: float | None
    paper_condition_met: bool = False
    single_path: float = 0.0
    time: dict[str, float | None] = field(default_factory=dict)


@dataclass(kw_only=True)
class CapFelt:
    """When the capped controllers of a mode first had no room, and from when on that was possible."""

    earliest: int | None
    latest: int | None = None
    seeds: int = 0
    possible_from: int | None = None


@dataclass(kw_only=True)
class ProfileSummary(Record):
    """profile.json; several entries are by mode."""

    problem: str
    episodes: int
    horizon: int = 0
    seeds: int
    seed_base: int
    budget_bytes: int | None
    points: list[ProfilePoint]
    exponent: GrowthExponents | None = None
    exponents: dict[str, GrowthExponents]
    cap_bound_at: dict[str, CapFelt | None]
    violations: list[str]
    ledger: dict[str, Any] = field(default_factory=dict)
    host_memory: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False
    format: int = 1

    @property
    def modes(self) -> list[str]:
        return list(dict.fromkeys(point.mode for point in self.points))

    def worst_bytes(self, run: str) -> int:
        """Of the capped or the uncapped runs, in any mode."""
        return max((point.bytes_max for point in self.points if point.run == run), default=0)

    def reached(self, run: str) -> int:
        """Episodes of the mode that used the most; modes reach different ones where they were stopped."""
        points = [point for point in self.points if point.run == run]
        modes = {point.mode for point in points if point.bytes_max == self.worst_bytes(run)}
        return max((point.episode for point in points if point.mode in modes), default=self.episodes)


def read_profile(folder: Path) -> ProfileSummary:
    return read_record(ProfileSummary, folder / PROFILE)
