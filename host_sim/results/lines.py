"""lines.json in the folder of a run: how each seed learnt, and what agents earn that do not learn.

It is younger than the other files, so a folder may have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.results.curves import SMOOTHING, running_mean
from adamb.host_sim.results.record import Record, read_record
from adamb.host_sim.runner import Estimate

if TYPE_CHECKING:
    from adamb.host_sim.runner import RunResult

LINES = "lines.json"
SEEDS_KEPT, POINTS = 50, 100
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
        ends = np.unique(np.linspace(1, result.episodes, min(result.episodes, POINTS)).round().astype(int))
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


def read_lines(folder: Path) -> RunLines | None:
    path = folder / LINES
    return read_record(RunLines, path) if path.is_file() else None
