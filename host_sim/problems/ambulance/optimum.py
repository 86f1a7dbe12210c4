"""Exact play of the ambulance problems by dynamic programming, for one, two and three ambulances.

V_h(x) = 1 + max_a J_h(a) - alpha/k |x - a|_1: a cone transform of J. For a sorted fleet the request p goes
to the neighbour on its side of the midpoint of two stations, so J_h(a) = E[V_{h+1}(x') - (1-alpha) reach]
splits into integrals over p with ends at midpoints. With stations on a grid the midpoints lie on the half
grid, and all integrals are differences of running sums: G^k work in place of G^(2k).
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.draws import first_best
from adamb.host_sim.solvers import cached, cone, interpolate, solution_key

if TYPE_CHECKING:
    from adamb.host_sim.problems.ambulance import Ambulance

#: Stations per axis for 1, 2 and 3 ambulances; fewer for each row of the table that a walk needs. The spacing
#: divides .05, so that the ends of the shifting intervals are nodes.
NODES = {1: 501, 2: 241, 3: 61}
WALK_NODES = {1: 121, 2: 61, 3: 21}
WALK_ROWS = 65


class AmbulanceOptimum:
    """The optimum for the current arrivals; under `--set drift=walk` a table over shifts of the arrivals.

    Instances share one solution, or one table with the shift as a coordinate before the state.
    """

    def __init__(self, problem: Ambulance, nodes: int | None = None, myopic: bool = False) -> None:
        """`myopic` looks at the reward of the step only; a test refines the grid by `nodes`."""
        self.myopic = myopic
        self.problem, self.k, self.horizon = problem, problem.k, problem.horizon
        self.weight = problem.alpha / self.k
        self.start = None if problem.fixed_start is None else problem.fixed_start.copy()
        self.walks = problem.drift == "walk"
        self.position = (problem.shift[:, None] + 1.0) / 2.0
        self.shifts = np.linspace(-1.0, 1.0, WALK_ROWS) if self.walks else np.zeros(1)
        self.nodes = nodes or (WALK_NODES if self.walks else NODES)[self.k]
        self.grid = np.linspace(0.0, 1.0, self.nodes)
        names = ("ambulances", "arrivals", "alpha", "beta")
        key = solution_key(
            "ambulance", *(problem.params[name] for name in names), problem.mirrored, self.horizon,
            self.nodes, self.shifts, myopic,
        )  # fmt: skip
        solution = cached(key, self._solve)
        self.values, self.worth, self.targets = (solution[name] for name in ("values", "worth", "targets"))

    # ---- solving ----------------------------------------------------------------------------------------

    def _solve(self) -> dict[str, np.ndarray]:
        rows, shape = len(self.shifts), (self.nodes,) * self.k
        values = np.zeros((self.horizon + 1, rows, *shape))
        worth = np.zeros((self.horizon, rows, *shape))
        targets = np.zeros((self.horizon, rows, self.k, *shape), dtype=np.int16)
        for row, shift in enumerate(self.shifts):
            for h in range(self.horizon - 1, -1, -1):
                moments = Moments(self.problem, h, float(shift), self.grid)
                after = 0 * values[h + 1, row] if self.myopic else values[h + 1, row]
                worth[h, row] = self._worth_of_stations(moments, after)
                values[h, row], targets[h, row] = self._moved(worth[h, row])
        return {"values": values, "worth": worth, "targets": targets}

    def _worth_of_stations(self, moments: Moments, values: np.ndarray) -> np.ndarray:
        """J of every fleet on the grid; all arrays are symmetric, so it is computed for sorted fleets."""
        sums = moments.running_sums(values)
        sorted_fleet = np.sort(np.indices(values.shape).reshape(self.k, -1), axis=0)
        ends = [np.zeros_like(sorted_fleet[0])]
        ends += [sorted_fleet[i] + sorted_fleet[i + 1] for i in range(self.k - 1)]
        ends += [np.full_like(sorted_fleet[0], 2 * (self.nodes - 1))]
        total = np.zeros(sorted_fleet.shape[1])
        for i in range(self.k):
            others = tuple(np.delete(sorted_fleet, i, axis=0))
            total += sums[(*others, ends[i + 1])] - sums[(*others, ends[i])]
            total -= (1.0 - self.problem.alpha) * moments.reach(sorted_fleet[i], ends[i], ends[i + 1])
        return total.reshape(values.shape)

    def _moved(self, worth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """V from J, and where to station every fleet."""
        values, targets = worth, np.zeros((self.k, *worth.shape), dtype=np.int64)
        for axis in range(self.k):
            nodes = self.grid.reshape([-1 if i == axis else 1 for i in range(self.k)])
            values, at = cone(values, nodes, self.weight, axis)
            for earlier in range(axis):
                targets[earlier] = np.take_along_axis(targets[earlier], at, axis=axis)
            targets[axis] = at
        return values + 1.0, targets

    # ---- reading ----------------------------------------------------------------------------------------

    def _read(self, table: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Interpolate (rows, *grid) at states (n, ..., k)."""
        if not self.walks:
            return interpolate(table[0], states)
        shape = (len(states),) + (1,) * (states.ndim - 2) + (1,)
        position = np.broadcast_to(self.position.reshape(shape), (*states.shape[:-1], 1))
        return interpolate(table, np.concatenate([position, states], axis=-1))

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        return self._read(self.values[h], states)

    def values_at(self, h: int, states: np.ndarray) -> np.ndarray:
        return self._read(self.values[h], states)

    @property
    def mean(self) -> np.ndarray:
        if self.start is not None:
            return self.value(0, self.start)
        weights = np.full(self.nodes, 1.0 / (self.nodes - 1))
        weights[[0, -1]] /= 2.0
        totals = self.values[0]
        for _ in range(self.k):
            totals = totals @ weights
        return np.interp(self.problem.shift, self.shifts, totals)

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        """The best of staying and of the moves that are best from the surrounding grid fleets."""
        row = np.rint(self.position[:, 0] * (len(self.shifts) - 1)).astype(np.int64)
        cells = np.minimum((states * (self.nodes - 1)).astype(np.int64), self.nodes - 2)
        choices = [states]
        for offsets in product((0, 1), repeat=self.k):
            corner = tuple((cells + np.array(offsets)).T)
            index = [self.targets[h][(row, axis, *corner)] for axis in range(self.k)]
            choices.append(self.grid[np.array(index).T])
        every = np.stack(choices, axis=1)
        travel = np.abs(every - states[:, None, :]).sum(axis=2)
        best = first_best(self._read(self.worth[h], every) - self.weight * travel)
        return np.take_along_axis(every, best[:, None, None], axis=1)[:, 0]

    def q(self, instance: int, h: int, points: int | None = None) -> np.ndarray:
        """Q*_h on a uniform grid, state axes first."""
        count = points or {1: 65, 2: 17, 3: 7}[self.k]
        line = np.linspace(0.0, 1.0, count)
        cube = np.stack(np.meshgrid(*[line] * self.k, indexing="ij"), axis=-1).reshape(-1, self.k)
        every = np.broadcast_to(cube, (self.problem.n, *cube.shape))
        worth = self._read(self.worth[h], every)[instance]
        travel = np.abs(cube[:, None, :] - cube[None, :, :]).sum(axis=2)
        return (1.0 - self.weight * travel + worth[None, :]).reshape((count,) * (2 * self.k))


class Moments:
    """Mass and mean of requests over the cells of the half grid, for one step and one shift.

    The mean over a cell comes from the distribution function by parts, its integral by Simpson's rule.
    """

    def __init__(self, problem: Ambulance, h: int, shift: float, grid: np.ndarray) -> None:
        half = np.linspace(0.0, 1.0, 2 * grid.size - 1)
        middle = (half[1:] + half[:-1]) / 2.0
        below, between = problem.arrival_cdf(h, half, shift), problem.arrival_cdf(h, middle, shift)
        width = half[1] - half[0]
        area = width * (below[:-1] + 4.0 * between + below[1:]) / 6.0
        first = half[1:] * below[1:] - half[:-1] * below[:-1] - area
        mass = np.diff(below)
        self.half = half
        self.mass = np.concatenate([[0.0], np.cumsum(mass)])
        self.first = np.concatenate([[0.0], np.cumsum(first)])
        # Over both halves of cell j a linear V is V_j + rise * (p - y_j) / spacing.
        start = np.repeat(grid[:-1], 2)
        self._cell_mass, self._cell_rise = mass, (first - start * mass) / (2.0 * width)

    def running_sums(self, values: np.ndarray) -> np.ndarray:
        """E[V(..., p); p <= end] for every end on the half grid, along the last axis."""
        low = np.repeat(values[..., :-1], 2, axis=-1)
        rise = np.repeat(np.diff(values, axis=-1), 2, axis=-1)
        parts = np.cumsum(low * self._cell_mass + rise * self._cell_rise, axis=-1)
        return np.concatenate([np.zeros((*values.shape[:-1], 1)), parts], axis=-1)

    def reach(self, station: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """E[|y - p|; low <= p <= high] for stations on the grid and ends on the half grid around them."""
        at = 2 * station
        y = self.half[at]
        left = y * (self.mass[at] - self.mass[low]) - (self.first[at] - self.first[low])
        right = (self.first[high] - self.first[at]) - y * (self.mass[high] - self.mass[at])
        return left + right
