"""How many bytes a task needs, measured: the controller under every budget on the same random draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.firmware_model.host.errors import BudgetExceeded
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.agents import make_agent
from adamb.host_sim.runner import Estimate, estimate, simulate

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

BUDGETS = tuple(512 << octave for octave in range(8))
"""512 B to 64 KiB."""
SEEDS = tuple(range(10))
LAST = 200
"""Episodes at the end of a run that tell what was learnt."""
MAY_LOSE = 0.02
"""A budget is level with the best where its whole 95 % interval loses less, as a share of the best reward."""
LEAST_BEST = 1e-9
"""In place of a best reward of 0, of which nothing can be a share."""
FULL = ("reclaims", "refused_splits")
"""Counters of what was discarded for want of room."""


@dataclass
class Tried:
    """One budget: what it earned, what it lost against the best by the same seeds, what it used."""

    budget_bytes: int
    returns: np.ndarray
    """(seeds,) mean return of the last episodes."""
    share: Estimate | None
    bytes_peak: int
    discarded: float
    """Pieces given up and splits refused for want of room, mean of the seeds."""
    loss: Estimate | None = None
    """As a share of what the best earned."""
    level: bool = False

    @property
    def reward(self) -> Estimate:
        return estimate(self.returns)

    def to_json(self) -> dict[str, Any]:
        estimates = {"reward": self.reward, "share": self.share, "loss": self.loss}
        return {
            "budget_bytes": self.budget_bytes,
            **{name: None if value is None else value.to_json() for name, value in estimates.items()},
            "bytes_peak": self.bytes_peak, "discarded": self.discarded, "level": self.level,
        }  # fmt: skip


def measure(
    make: Callable[[], Problem], budgets: Sequence[int], options: dict[str, Any],
    announce: Callable[[str], object] = lambda text: None,
) -> list[Tried]:  # fmt: skip
    """Play every budget; `make` gives a fresh problem with the same seeds each time.

    It ends with the first budget in which no seed ever discarded anything: a larger one plays the same.
    """
    rows: list[Tried] = []
    for size in budgets:
        announce(f"playing {format_bytes(size)}")
        problem = make()
        try:
            agent = make_agent("adamb", problem, budget_bytes=size, **options)
        except BudgetExceeded:
            continue
        result = simulate(problem, agent)
        discarded = np.sum([result.stats[name] for name in FULL], axis=0)
        returns = result.returns[:, -LAST:].mean(axis=1)
        rows.append(Tried(size, returns, result.share(LAST), int(result.bytes_peak.max()), float(discarded.mean())))
        if not discarded.any():
            break
    best = max(rows, key=lambda row: row.returns.mean()).returns if rows else np.zeros(1)
    for row in rows:
        row.loss = estimate((best - row.returns) / max(float(best.mean()), LEAST_BEST))
        row.level = row.loss.mean + (row.loss.ci95 or 0.0) <= MAY_LOSE
    return rows
