"""Problems where the action moves one coordinate x and noise alone the other, y: solved exactly.

Memory controllers, caches and server farms share this shape: a queue, a share or a number of servers is
controlled, the load is not. With y' = clip(m_h(y) + N(0, deviation^2)) one matrix per step holds all of the
noise, so a solution takes milliseconds and can be had for every location that drift visits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from adamb.host_sim import draws
from adamb.host_sim.compiled import ProblemInC, doubles
from adamb.host_sim.draws import cosine_of_turn, first_best
from adamb.host_sim.problem import LocatedProblem, Policy
from adamb.host_sim.solvers import cached, clipped_normal_slopes, interpolate, solution_key

#: Nodes of a state coordinate and of the action; kinks of the built-in models at multiples of .05 are nodes.
STATE_NODES = 101
ACTION_NODES = 201


class ExogenousModel(ABC):
    """Expected rewards and motion of one instance; every function broadcasts over its arguments."""

    #: False when the state is y alone.
    has_own: bool = True
    deviation: float = 0.1

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon
        self.nodes = np.linspace(0.0, 1.0, STATE_NODES)
        self.actions = np.linspace(0.0, 1.0, ACTION_NODES)
        self._chains: dict[int, np.ndarray] = {}

    @abstractmethod
    def drift(self, h: int, y: np.ndarray) -> np.ndarray:
        """m_h(y), where y heads before the noise."""

    @abstractmethod
    def reward(self, h: int, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Expected reward of step h."""

    def move(self, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        """The own coordinate after the action; by default the action sets it."""
        return a + 0.0 * x

    def chain(self, h: int) -> np.ndarray:
        """Matrix (Y, Y): row y weighs the nodes in E[V(y')]; exact for V linear between nodes."""
        if h in self._chains:
            return self._chains[h]
        mean = self.drift(h, self.nodes)
        slopes = clipped_normal_slopes(mean, np.full(mean.shape, self.deviation), self.nodes)
        matrix = np.zeros((STATE_NODES, STATE_NODES))
        matrix[:, 0] = 1.0
        matrix[:, :-1] -= slopes
        matrix[:, 1:] += slopes
        self._chains[h] = matrix
        return matrix

    def identity(self) -> list[tuple[str, object]]:
        """Every number that the solution depends on, for its name on disk."""
        return sorted((key, value) for key, value in vars(self).items() if np.isscalar(value))

    def grids(self) -> tuple[np.ndarray, np.ndarray]:
        """x (X,1,1) and y (1,Y,1) of all nodes; X is 1 when there is no own coordinate."""
        own = self.nodes if self.has_own else np.zeros(1)
        return own[:, None, None], self.nodes[None, :, None]


class SeasonalModel(ExogenousModel):
    """y swings once an episode around .5, from `trough` at h = 0, and forgets half of any excess a step."""

    MEMORY = 0.5

    def __init__(self, horizon: int, trough: float, deviation: float) -> None:
        super().__init__(horizon)
        self.trough, self.deviation = trough, deviation

    def drift(self, h: int, y: np.ndarray) -> np.ndarray:
        return seasonal_drift(h, self.horizon, self.trough, y)


def seasonal_mean(h: int, horizon: int, trough: np.ndarray | float) -> np.ndarray:
    """mu_h = .5 + (trough - .5) cos(2 pi h / H)."""
    return 0.5 + (np.asarray(trough) - 0.5) * cosine_of_turn(h, horizon)


def seasonal_drift(h: int, horizon: int, trough: np.ndarray | float, y: np.ndarray) -> np.ndarray:
    """Mean of y at step h + 1, before the noise."""
    excess = y - seasonal_mean(h, horizon, trough)
    return seasonal_mean(h + 1, horizon, trough) + SeasonalModel.MEMORY * excess


class Evaluation:
    """Values of one way to play: V_h at the nodes, and what is expected of the future after each action."""

    def __init__(
        self,
        model: ExogenousModel,
        choose: Callable[[np.ndarray, np.ndarray], np.ndarray],
        actions: np.ndarray | None = None,
    ) -> None:
        """`choose(reward, future)` turns (X, Y, A) arrays over `actions` into the values (X, Y) of a step."""
        self.model = model
        x, y = model.grids()
        a = (model.actions if actions is None else actions)[None, None, :]
        own = len(x)
        self.values = np.zeros((model.horizon + 1, own, STATE_NODES))
        self.futures = np.zeros((model.horizon, own, STATE_NODES))
        moved = model.move(x[:, 0], a[:, 0]) if model.has_own else None
        for h in range(model.horizon - 1, -1, -1):
            self.futures[h] = self.values[h + 1] @ model.chain(h).T
            reward = model.reward(h, x, y, a)
            if moved is None:
                future = np.broadcast_to(self.futures[h][:, :, None], reward.shape)
            else:
                future = _along_x(self.futures[h], moved)
            self.values[h] = choose(np.broadcast_to(reward, future.shape), future)

    @classmethod
    def stored(cls, model: ExogenousModel, values: np.ndarray, futures: np.ndarray) -> Evaluation:
        """An evaluation computed earlier."""
        made = cls.__new__(cls)
        made.model, made.values, made.futures = model, values, futures
        return made

    def q(self, h: int, states: np.ndarray) -> np.ndarray:
        """(n, A) value of each action node in each state."""
        model = self.model
        x = states[:, :1] if model.has_own else np.zeros((len(states), 1))
        y = states[:, -1:]
        a = model.actions[None, :]
        reward = model.reward(h, x, y, a)
        if not model.has_own:
            return reward + np.interp(y[:, 0], model.nodes, self.futures[h][0])[:, None]
        points = np.stack(np.broadcast_arrays(model.move(x, a), y), axis=-1)
        return reward + interpolate(self.futures[h], points)

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        """(n,) values, linear between nodes."""
        if not self.model.has_own:
            return np.interp(states[:, 0], self.model.nodes, self.values[h][0])
        return interpolate(self.values[h], states)

    def mean(self) -> float:
        """Value of an episode from a uniformly drawn start."""
        over_y = np.trapezoid(self.values[0], self.model.nodes, axis=1)
        return float(np.trapezoid(over_y, self.model.nodes) if self.model.has_own else over_y[0])


def _along_x(future: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """future (X, Y) read at own coordinates `moved` (X, A), for every y: (X, Y, A)."""
    position = moved * (STATE_NODES - 1)
    cell = np.minimum(position.astype(np.int64), STATE_NODES - 2)
    share = (position - cell)[:, :, None]
    blended = future[cell] * (1.0 - share) + future[cell + 1] * share
    return np.ascontiguousarray(blended.transpose(0, 2, 1))


def best_play(model: ExogenousModel) -> Evaluation:
    """The optimum, kept on disk because every run of a problem asks for it."""
    fresh: list[Evaluation] = []

    def solve() -> dict[str, np.ndarray]:
        fresh.append(Evaluation(model, lambda reward, future: (reward + future).max(axis=2)))
        return {"values": fresh[0].values, "futures": fresh[0].futures}

    key = solution_key("exogenous", type(model).__name__, STATE_NODES, ACTION_NODES, model.identity())
    stored = cached(key, solve)
    return fresh[0] if fresh else Evaluation.stored(model, stored["values"], stored["futures"])


def static_play(model: ExogenousModel, action: float) -> Evaluation:
    """Always the same action (one of the model's nodes)."""
    return Evaluation(model, lambda reward, future: (reward + future)[:, :, 0], np.array([action]))


class LocatedOptimum:
    """The optimum of n instances whose models differ in one location number each.

    Under `--set drift=walk` every episode has its own locations: values are then read between locations
    1/SPACING apart (smooth in the location, error below 1e-3) so that a long run solves a few dozen models.
    """

    SPACING = 32

    def __init__(self, problem: ExogenousProblem, locations: np.ndarray, *, between: bool) -> None:
        self._problem = problem
        low = np.floor(locations * self.SPACING) / self.SPACING if between else locations
        self._low, self._high = low, np.minimum(low + 1.0 / self.SPACING, 1.0) if between else low
        width = np.where(self._high > low, self._high - low, 1.0)
        self._share = (locations - low) / width
        self._nearest = np.where(self._share > 0.5, self._high, low)

    def _blend(self, read: Callable[[Evaluation, np.ndarray], np.ndarray]) -> np.ndarray:
        """`read(evaluation, instances)` gives numbers of the instances that share a location."""
        low, high = (self._grouped(places, read) for places in (self._low, self._high))
        return low + self._share.reshape(-1, *(1,) * (low.ndim - 1)) * (high - low)

    def _grouped(self, places: np.ndarray, read: Callable[[Evaluation, np.ndarray], np.ndarray]) -> np.ndarray:
        out = None
        for place in np.unique(places):
            chosen = np.flatnonzero(places == place)
            found = read(self._problem.solved(float(place)), chosen)
            out = np.empty((len(places), *found.shape[1:])) if out is None else out
            out[chosen] = found
        assert out is not None, "there is at least one instance"
        return out

    @property
    def mean(self) -> np.ndarray:
        start = self._problem.fixed_start
        if start is None:
            return self._blend(lambda solved, chosen: np.full(len(chosen), solved.mean()))
        return self._blend(lambda solved, chosen: solved.value(0, start[chosen]))

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        return self._blend(lambda solved, chosen: solved.value(h, states[chosen]))

    def values_at(self, h: int, states: np.ndarray) -> np.ndarray:
        flat = states.shape[-1]

        def read(solved: Evaluation, chosen: np.ndarray) -> np.ndarray:
            return solved.value(h, states[chosen].reshape(-1, flat)).reshape(len(chosen), -1)

        return self._blend(read)

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        actions = np.empty((len(states), 1))
        for place in np.unique(self._nearest):
            chosen = np.flatnonzero(self._nearest == place)
            solved = self._problem.solved(float(place))
            actions[chosen, 0] = solved.model.actions[first_best(solved.q(h, states[chosen]))]
        return actions

    def q(self, instance: int, h: int) -> np.ndarray:
        solved = self._problem.solved(float(self._nearest[instance]))
        nodes = solved.model.nodes
        axes = [nodes, nodes] if solved.model.has_own else [nodes]
        states = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        return solved.q(h, states).reshape(*[len(axis) for axis in axes], -1)


class ExogenousProblem(ProblemInC, LocatedProblem):
    """A problem with an `ExogenousModel`: the optimum and the model-based rules come from it."""

    def setup(self, generators: list[np.random.Generator]) -> None:
        self.set_location(self.params["c"])
        self._solved: dict[float, Evaluation] = {}

    @abstractmethod
    def model(self, location: float) -> ExogenousModel:
        """The model of an instance at a location."""

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return draws.normal(generator, (episodes, self.horizon, 1))

    def season(self) -> tuple[dict[str, Any], np.ndarray]:
        """For C, how the coordinate that noise moves swings around its season; and memory to keep."""
        means = np.array([seasonal_mean(h, self.horizon, self.c) for h in range(self.horizon + 1)])
        deviation = self.params["noise"]
        return {"memory": SeasonalModel.MEMORY, "deviation": deviation, "mean": doubles(means)}, means

    def solved(self, location: float) -> Evaluation:
        """Optimal play at a location, solved once."""
        if location not in self._solved:
            self._solved[location] = best_play(self.model(location))
        return self._solved[location]

    def solve(self) -> LocatedOptimum | None:
        return LocatedOptimum(self, self.c, between=self.drift == "walk")

    def myopic_policy(self) -> Policy:
        """Best expected reward of this step under the current locations."""

        def play(h: int, states: np.ndarray) -> np.ndarray:
            actions = np.empty((len(states), 1))
            for place in np.unique(self.c):
                chosen = np.flatnonzero(self.c == place)
                model = self.model(float(place))
                x = states[chosen, :1] if model.has_own else np.zeros((len(chosen), 1))
                rewards = model.reward(h, x, states[chosen, -1:], model.actions[None, :])
                actions[chosen, 0] = model.actions[first_best(rewards)]
            return actions

        return play

    def best_static(self) -> float:
        """The best constant action at the first instance's location, by exact evaluation of all of them."""
        model = self.model(float(self.c[0]))
        start = self.fixed_start

        def worth(node: int) -> float:
            played = static_play(model, float(model.actions[node]))
            return played.mean() if start is None else float(played.value(0, start[:1])[0])

        def best(nodes: range) -> int:
            return nodes[int(first_best(np.array([worth(node) for node in nodes])))]

        coarse = best(range(0, ACTION_NODES, 10))
        near = best(range(max(0, coarse - 9), min(ACTION_NODES, coarse + 10)))
        return float(model.actions[near])

    def rules(self) -> dict[str, Policy]:
        policies = super().rules()
        policies["myopic"] = self.myopic_policy()
        policies["best-static"] = self._lazy_static()
        return policies

    def _lazy_static(self) -> Policy:
        found: list[float] = []

        def play(h: int, states: np.ndarray) -> np.ndarray:
            if not found:
                found.append(self.best_static())
            return np.full((len(states), self.d_a), found[0])

        return play
