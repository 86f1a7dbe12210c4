"""Exact play of the one-dimensional oil problems with noise: landing points scatter, rewards are noisy.

Q_h(x,a) = E[r] + W(x,a), W(x,a) = E[V_{h+1}(clip(a + sd(x,a) Z))]. V is linear between the nodes of a uniform
grid shared by all instances plus one node of the instance's own, the deposit, where V has its kink; the
expectation of a linear piece has a closed form, so the kernel is exact. W is smooth in x (only sd depends on
it), so it is computed at a few Chebyshev points and read elsewhere through their polynomial. The shared part
of the kernel is computed once for all instances, which is what makes hundreds of them cheap.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.draws import TIE, first_best
from adamb.host_sim.problem import Optimum
from adamb.host_sim.solvers import (
    ClipTable,
    barycentric,
    cached,
    chebyshev,
    clipped_normal_slopes,
    expected_clip,
    normal_excess,
    solution_key,
)

if TYPE_CHECKING:
    from adamb.host_sim.problems.oil import Oil

CHEBYSHEV_POINTS = 24
CHUNK = 32
BLOCK = 64
WALK_ROWS = 257


def nodes_for(sharpness: float) -> int:
    """Nodes so that a deposit's curvature lam^2 costs at most about 5e-4 between them."""
    return 513 if sharpness <= 20 else 769


def solve_noisy(problem: Oil) -> Optimum | None:
    """The optimum for the current deposits; under `--set drift=walk` read from a table over all deposits."""
    if problem.drift == "walk":
        if problem.reward_shape == "sparse":
            return None
        table = NoisyOptimum(problem, np.linspace(0.0, 1.0, WALK_ROWS)[:, None])
        return TabledOptimum(table, problem)
    return NoisyOptimum(problem, problem.c.copy())


@lru_cache(maxsize=2)
def _shared_kernel(sigma: float, root_variance: float, nodes: int, points: int) -> np.ndarray:
    """(points, nodes, nodes - 1): slope weights, x at the Chebyshev points, a and x' on the grid."""
    grid = np.linspace(0.0, 1.0, nodes)
    kernel = np.empty((points, nodes, nodes - 1))
    for row, x in enumerate(chebyshev(points)[0]):
        reach = x + grid
        kernel[row] = clipped_normal_slopes(grid, sigma * reach**2 + root_variance * reach, grid)
    return kernel


class NoisyOptimum:
    """Values, peaks and best actions for rows of deposits `c` (rows, 1 or steps of the cycle)."""

    def __init__(self, problem: Oil, c: np.ndarray, nodes: int | None = None) -> None:
        self.problem, self.c = problem, c
        self.horizon = problem.horizon
        self.nodes = nodes or nodes_for(problem.lam)
        self.grid = np.linspace(0.0, 1.0, self.nodes)
        self._start = None if problem.fixed_start is None else problem.fixed_start.copy()
        names = ("shape", "survey", "alpha", "reward_noise")
        weights = [problem.weight(h) for h in range(self.horizon)] if problem.reward_shape == "sparse" else []
        key = solution_key(
            "oil", *weights, *(problem.params[name] for name in names), problem.lam, problem.sigma,
            problem.root_variance, self.horizon, self.nodes, CHEBYSHEV_POINTS, c,
        )  # fmt: skip
        solution = cached(key, self._solve)
        self.values, self.peaks, self.best = solution["values"], solution["peaks"], solution["best"]

    def deposit(self, h: int) -> np.ndarray:
        """(rows,) where V_h has its kink."""
        return self.problem.deposit_of(h, self.c)

    # ---- solving ----------------------------------------------------------------------------------------

    def _solve(self) -> dict[str, np.ndarray]:
        rows = len(self.c)
        values = np.zeros((self.horizon + 1, rows, self.nodes))
        peaks = np.zeros((self.horizon + 1, rows))
        best = np.zeros((self.horizon, rows, self.nodes))
        for first in range(0, rows, CHUNK):
            part = slice(first, min(first + CHUNK, rows))
            chunk = _Chunk(self, part)
            for h in range(self.horizon - 1, -1, -1):
                chunk.step_back(h, values, peaks, best)
        return {"values": values, "peaks": peaks, "best": best}

    # ---- reading ----------------------------------------------------------------------------------------

    def read(self, h: int, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """V*_h of the given rows at x, both (m,)."""
        c = self.deposit(h)[rows]
        position = x * (self.nodes - 1)
        cell = np.minimum(position.astype(np.int64), self.nodes - 2)
        low, high = self.grid[cell], self.grid[cell + 1]
        at_low, at_high = self.values[h][rows, cell], self.values[h][rows, cell + 1]
        at_c = self.peaks[h][rows]
        inside = (c > low) & (c < high)
        before, after = inside & (x < c), inside & (x >= c)
        low, at_low = np.where(after, c, low), np.where(after, at_c, at_low)
        high, at_high = np.where(before, c, high), np.where(before, at_c, at_high)
        return at_low + (x - low) / (high - low) * (at_high - at_low)

    def read_action(self, h: int, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The best action: between two nodes that agree the line between theirs, else the nearer node's."""
        position = x * (self.nodes - 1)
        cell = np.minimum(position.astype(np.int64), self.nodes - 2)
        fraction = position - cell
        low, high = self.best[h][rows, cell], self.best[h][rows, cell + 1]
        agree = np.abs(high - low) < 4.0 / (self.nodes - 1)
        return np.where(agree, low + fraction * (high - low), np.where(fraction < 0.5, low, high))

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        return self.read(h, np.arange(len(states)), states[:, 0])

    def values_at(self, h: int, states: np.ndarray) -> np.ndarray:
        n, m = states.shape[:2]
        return self.read(h, np.repeat(np.arange(n), m), states[:, :, 0].reshape(-1)).reshape(n, m)

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        return self.read_action(h, np.arange(len(states)), states[:, 0])[:, None]

    @property
    def mean(self) -> np.ndarray:
        return mean_over_starts(self, self.problem.n, self._start)

    def q(self, instance: int, h: int, points: int = 65) -> np.ndarray:
        """Q*_h of one row on a uniform grid, states first."""
        line = np.linspace(0.0, 1.0, points)
        x, a = np.meshgrid(line, line, indexing="ij")
        rewards = self.rewards(h, x, a, self.deposit(h)[instance])
        if h == self.horizon - 1:
            return rewards
        nodes = np.union1d(self.grid, self.deposit(h + 1)[instance])
        after = self.read(h + 1, np.full(nodes.size, instance), nodes)
        slopes = clipped_normal_slopes(a, self.problem.deviation(x + a), nodes)
        return rewards + after[0] + slopes @ np.diff(after)

    def rewards(self, h: int, x: np.ndarray, a: np.ndarray, c: np.ndarray | float) -> np.ndarray:
        """Expected rewards of step h."""
        place = x * a if self.problem.reward_shape == "product" else x
        mean = self.problem.survey(h, np.abs(place - c)) - self.problem.alpha * np.abs(x - a)
        return expected_clip(mean, self.problem.reward_noise)


class _Chunk:
    """A few rows solved together. Actions are the shared nodes and one more, the deposit of the next step."""

    def __init__(self, optimum: NoisyOptimum, rows: slice) -> None:
        self.optimum, self.rows = optimum, rows
        self.problem, self.grid = optimum.problem, optimum.grid
        kernel = (self.problem.sigma, self.problem.root_variance, optimum.nodes, CHEBYSHEV_POINTS)
        self.kernel = _shared_kernel(*kernel)
        self.points, self.weights = chebyshev(CHEBYSHEV_POINTS)
        self.to_grid = barycentric(self.points, self.weights, self.grid)
        self.travel = self.problem.alpha * np.abs(self.grid[:, None] - self.grid)
        self._rewards: np.ndarray | None = None
        self._tents: np.ndarray | None = None

    def step_back(self, h: int, values: np.ndarray, peaks: np.ndarray, best: np.ndarray) -> None:
        """Fill step h of the three arrays from step h + 1."""
        target = self.optimum.deposit(h + 1)[self.rows]
        after, after_target = self._expectations(target, values[h + 1, self.rows], peaks[h + 1, self.rows])
        rewards = self._node_rewards(h)
        here = self.optimum.deposit(h)[self.rows]
        for i, row in enumerate(range(self.rows.start, self.rows.stop)):
            values[h, row], best[h, row] = self._maximise(rewards[i], after[i])
            aimed = self.to_grid @ after_target[i] + self.optimum.rewards(h, self.grid, target[i], here[i])
            self._take_better(values[h, row], best[h, row], aimed, target[i])
        if self.problem.reward_shape == "product":
            self._try_ridge(h, after, values, best)
        peaks[h, self.rows] = self._at_deposit(h, here, target, after, after_target)

    def _maximise(self, rewards: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Best value and action at every shared node, in blocks that stay in the processor's cache."""
        values, best = np.empty(self.grid.size), np.empty(self.grid.size)
        for first in range(0, self.grid.size, BLOCK):
            block = slice(first, first + BLOCK)
            table = self.to_grid[block] @ after
            table += rewards[block]
            choice = first_best(table)
            values[block] = table[np.arange(choice.size), choice]
            best[block] = self.grid[choice]
        return values, best

    @staticmethod
    def _take_better(values: np.ndarray, best: np.ndarray, baseline: np.ndarray, action: np.ndarray) -> None:
        better = baseline > values + TIE
        np.copyto(values, baseline, where=better)
        np.copyto(best, action, where=better)

    def _at_deposit(
        self, h: int, here: np.ndarray, target: np.ndarray, after: np.ndarray, after_target: np.ndarray
    ) -> np.ndarray:
        """V_h at its own kink."""
        to_deposit = barycentric(self.points, self.weights, here)[:, None, :]
        onto_nodes = (to_deposit @ after)[:, 0] + self.optimum.rewards(h, here[:, None], self.grid, here[:, None])
        onto_target = (to_deposit @ after_target[:, :, None])[:, 0, 0]
        onto_target += self.optimum.rewards(h, here, target, here)
        return np.maximum(onto_nodes.max(axis=1), onto_target)

    def _node_rewards(self, h: int) -> np.ndarray:
        """(rows, nodes, nodes) expected rewards on the shared nodes; the same at every step unless sparse."""
        if self._rewards is not None and self.problem.reward_shape != "sparse":
            return self._rewards
        c = self.optimum.deposit(h)[self.rows]
        rewards = np.empty((c.size, self.grid.size, self.grid.size))
        clip = ClipTable(self.problem.reward_noise, self.problem.alpha)
        product = self.grid[:, None] * self.grid
        for i in range(c.size):
            if self.problem.reward_shape == "product":
                survey = self.problem.survey(h, np.abs(product - c[i]))
            else:
                survey = self.problem.survey(h, np.abs(self.grid - c[i]))[:, None]
            for first in range(0, self.grid.size, BLOCK):
                block = slice(first, first + BLOCK)
                rewards[i, block] = clip(survey[block] - self.travel[block])
        self._rewards = rewards
        return rewards

    def _expectations(self, c: np.ndarray, values: np.ndarray, peaks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W onto nodes (rows, Chebyshev points, nodes) and onto c (rows, Chebyshev points)."""
        if not values.any():
            return np.zeros((c.size, self.points.size, self.grid.size)), np.zeros((c.size, self.points.size))
        rise = np.diff(values, axis=1)
        shared = (self.kernel.reshape(-1, rise.shape[1]) @ rise.T).reshape(*self.kernel.shape[:2], -1)
        target = np.broadcast_to(c[:, None], (c.size, self.points.size))
        own = clipped_normal_slopes(target, self.problem.deviation(self.points + target), self.grid)
        own = (own @ rise[:, :, None])[:, :, 0]
        kink = self._kink(c, values, peaks)
        if self._tents is None or self.problem.reward_shape == "sparse":
            self._tents = self._tent(c, self.points[None, :, None], self.grid[None, None, :])
        own_tent = self._tent(c, self.points[None, :, None], c[:, None, None])[:, :, 0]
        onto_nodes = np.ascontiguousarray(shared.transpose(2, 0, 1))
        onto_nodes += values[:, :1, None] + kink[:, None, None] * self._tents
        return onto_nodes, values[:, :1] + own + kink[:, None] * own_tent

    def _kink(self, c: np.ndarray, values: np.ndarray, peaks: np.ndarray) -> np.ndarray:
        """Distance of V at the deposit from the line between its two neighbours."""
        cell = np.minimum((c * (self.grid.size - 1)).astype(np.int64), self.grid.size - 2)
        rows = np.arange(c.size)
        fraction = c * (self.grid.size - 1) - cell
        line = values[rows, cell] + fraction * (values[rows, cell + 1] - values[rows, cell])
        return peaks - line

    def _tent(self, c: np.ndarray, x: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """E of the hat with its top at the deposit and its feet at the two neighbouring nodes."""
        cell = np.minimum((c * (self.grid.size - 1)).astype(np.int64), self.grid.size - 2)
        low, high, top = (edge[:, None, None] for edge in (self.grid[cell], self.grid[cell + 1], c))
        spread = self.problem.deviation(x + actions)
        at_low, at_top, at_high = (normal_excess(actions, spread, level) for level in (low, top, high))
        inside = (top > low) & (top < high)
        up = (at_low - at_top) / np.where(inside, top - low, 1.0)
        down = (at_top - at_high) / np.where(inside, high - top, 1.0)
        return np.where(inside, up - down, 0.0)

    def _try_ridge(self, h: int, after: np.ndarray, values: np.ndarray, best: np.ndarray) -> None:
        """The product survey is highest on x * a = c, between two action nodes: try that action as well."""
        for i, row in enumerate(range(self.rows.start, self.rows.stop)):
            c = self.optimum.deposit(h)[row]
            action = np.minimum(c / np.maximum(self.grid, 1e-9), 1.0)
            position = action * (self.grid.size - 1)
            cell = np.minimum(position.astype(np.int64), self.grid.size - 2)
            low = (self.to_grid * after[i][:, cell].T).sum(axis=1)
            high = (self.to_grid * after[i][:, cell + 1].T).sum(axis=1)
            ridge = low + (position - cell) * (high - low)
            ridge += self.optimum.rewards(h, self.grid, action, c)
            self._take_better(values[h, row], best[h, row], ridge, action)


START_POINTS = 2001


class TabledOptimum:
    """The optimum for deposits that move every episode, read between two rows of a table over all deposits.

    States are stretched so that the deposit of the row lies on the deposit asked for: the kink then never
    falls between two rows.
    """

    def __init__(self, table: NoisyOptimum, problem: Oil) -> None:
        self.table, self.c = table, problem.c[:, 0].copy()
        self._start = None if problem.fixed_start is None else problem.fixed_start.copy()
        rows = len(table.c)
        position = self.c * (rows - 1)
        self.low = np.minimum(position.astype(np.int64), rows - 2)
        self.fraction = position - self.low

    def _stretch(self, x: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        left = x * target / np.maximum(source, 1e-12)
        right = 1.0 - (1.0 - x) * (1.0 - target) / np.maximum(1.0 - source, 1e-12)
        return np.clip(np.where(x < source, left, right), 0.0, 1.0)

    def read(self, h: int, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """V*_h of the given instances at x, both (m,)."""
        c, cells = self.c[rows], self.low[rows]
        low, high = (self.table.read(h, row, self._stretch(x, c, self.table.c[row, 0])) for row in (cells, cells + 1))
        return low + self.fraction[rows] * (high - low)

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        return self.read(h, np.arange(len(states)), states[:, 0])

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        rows = self.low + (self.fraction >= 0.5)
        there = self.table.c[rows, 0]
        action = self.table.read_action(h, rows, self._stretch(states[:, 0], self.c, there))
        return self._stretch(action, there, self.c)[:, None]

    @property
    def mean(self) -> np.ndarray:
        return mean_over_starts(self, len(self.c), self._start)

    def q(self, instance: int, h: int) -> np.ndarray:
        nearer = int(self.low[instance] + (self.fraction[instance] >= 0.5))
        return self.table.q(nearer, h)


def mean_over_starts(optimum: NoisyOptimum | TabledOptimum, n: int, start: np.ndarray | None) -> np.ndarray:
    """Expected return from a fixed start, or over uniform ones."""
    if start is not None:
        return optimum.value(0, start)
    rows = np.repeat(np.arange(n), START_POINTS)
    starts = np.tile((np.arange(START_POINTS) + 0.5) / START_POINTS, n)
    return optimum.read(0, rows, starts).reshape(n, START_POINTS).mean(axis=1)
