"""Playing one cell of a sweep: rows per seed and, where asked for, how reward and partition grew."""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.budgets.errors import AdambError, BudgetExceeded
from adamb.host_sim.agent import Progress
from adamb.host_sim.provenance import version
from adamb.host_sim.runner import LAST, RESULT_COUNTERS, RunResult, record_points, simulate
from adamb.host_sim.sweep.spec import Cell

EARLY = 4
"""`reward_early` is the mean over the first part in so many of a run: where learning shows."""

Outcome = dict[str, Any]


def run_cell(cell: Cell, expected_version: str = "", *, optimum: bool = True) -> Outcome:
    """Play one cell; what a budget cannot hold, or an environment that misbehaves, is an outcome.

    `optimum=False` leaves V* out of the rows, as `simulate` does.
    """
    if expected_version and expected_version != version():
        raise AdambError(f"a worker has adamb {version()}, the sweep {expected_version}; they must be equal")
    try:
        problem, make = cell.build()
        agent = make()
    except BudgetExceeded as error:
        return refused(error)
    except AdambError as error:
        return failed(error)
    growth = _Growth(cell.episodes, cell.curves) if cell.curves else None
    try:
        result = simulate(problem, agent, episodes=cell.episodes, progress=growth, optimum=optimum)
    except AdambError as error:
        return failed(error)
    outcome: Outcome = {"refused": None, "rows": rows_of(result), "seconds": result.seconds}
    if growth is not None:
        outcome["curves"] = growth.curves(result)
    return outcome


def refused(error: BudgetExceeded) -> Outcome:
    """The outcome of a cell whose budget cannot hold its agent."""
    return {"refused": str(error), "rows": [], "seconds": {}}


def failed(error: AdambError) -> Outcome:
    """The outcome of a cell that an error ended."""
    return {"failed": str(error), "refused": None, "rows": [], "seconds": {}}


def rows_of(result: RunResult) -> list[dict[str, Any]]:
    """What a sweep keeps of a run, a row for every seed."""
    optimal = result.optimal
    early = max(1, result.episodes // EARLY)
    rows = []
    for i, seed in enumerate(result.seeds):
        rows.append(
            {
                "core": result.core,
                "seed": seed,
                "reward_per_episode": float(result.returns[i].mean()),
                "reward_early": float(result.returns[i, :early].mean()),
                "reward_last100": float(result.returns[i, -LAST:].mean()),
                "optimal": None if optimal is None else float(optimal[i].mean()),
                "regret": None if optimal is None else float((optimal[i] - result.returns[i]).sum()),
                "bytes_peak": int(result.bytes_peak[i]),
                **{name: _plain(result.stats[name][i]) for name in RESULT_COUNTERS if name in result.stats},
                "episodes": result.episodes,
                "horizon": result.horizon,
            }
        )
    return rows


def _plain(value: Any) -> int | float:
    return value.item() if isinstance(value, np.generic) else value


class _Growth:
    """Reward between two points and leaves at each, per seed: the curves of the paper's figures."""

    def __init__(self, episodes: int, count: int) -> None:
        self.points = record_points(episodes, count)
        self.leaves: list[list[float]] = []

    def __call__(self, progress: Progress) -> None:
        if len(self.leaves) < len(self.points) and progress.done == self.points[len(self.leaves)]:
            found = progress.agent.stats().get("leaves")
            self.leaves.append([] if found is None else np.asarray(found).tolist())

    def next_call(self, done: int) -> int:
        """For `simulate`: the next point, or the end."""
        return int(self.points[min(len(self.leaves), len(self.points) - 1)])

    def curves(self, result: RunResult) -> dict[str, Any]:
        sums = np.cumsum(np.pad(result.returns, ((0, 0), (1, 0))), axis=1)[:, [0, *self.points]]
        rewards = np.diff(sums, axis=1) / np.diff([0, *self.points])
        leaves = None if [] in self.leaves else np.array(self.leaves).T.tolist()
        return {"episodes": self.points.tolist(), "reward": rewards.round(6).tolist(), "leaves": leaves}
