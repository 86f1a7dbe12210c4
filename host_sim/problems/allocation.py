"""How many servers to keep on before the demand is known, and two relatives of that question.

`service=shortage` pays for servers, for demand not met and for switching; `service=erlang` replaces the
shortage by the share of requests that must wait (Erlang C); `service=budget` spends one budget over the
episode with logarithmic utility. Demand swings over the episode around its season, or is read from a csv
file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim._sim import ffi
from adamb.host_sim.compiled import CompiledProblem, doubles
from adamb.host_sim.draws import log1p, settle
from adamb.host_sim.parameter import START, Parameter, fixed_start
from adamb.host_sim.problem import Policy, with_facts
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.exogenous import ExogenousProblem, LocatedOptimum, SeasonalModel, seasonal_drift
from adamb.host_sim.solvers import normal_excess
from adamb.host_sim.traces import read_series

SERVICES = ("shortage", "erlang", "budget")
STATES = ("servers-demand", "demand")
#: Utility of spending y on demand d is d * log(1 + GREED * y / d) / log(1 + GREED): concave, and 1 at most.
GREED = 20.0


def erlang_c(servers: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Probability that a request waits with `servers` servers and `load` erlangs; 1 when the queue is
    unstable.

    The blocking recursion B_k = load B_(k-1) / (k + load B_(k-1)) avoids the factorials of the textbook
    formula.
    """
    servers, load = np.broadcast_arrays(np.asarray(servers, dtype=float), np.asarray(load, dtype=float))
    blocking = np.ones(servers.shape)
    for k in range(1, int(servers.max(initial=0.0)) + 1):
        blocking = np.where(k <= servers, load * blocking / (k + load * blocking), blocking)
    stable = load < servers
    denominator = np.where(stable, servers - load * (1.0 - blocking), 1.0)
    return np.where(stable, servers * blocking / denominator, np.where(load > 0.0, 1.0, 0.0))


def utility(demand: np.ndarray, spent: np.ndarray) -> np.ndarray:
    """Worth of spending on a demand; from 0 to 1 when both are."""
    safe = np.maximum(demand, 1e-12)
    return np.where(demand > 0.0, safe * log1p(GREED * spent / safe), 0.0) / log1p(GREED)


class ServerModel(SeasonalModel):
    """Expected reward of servers; exact for a shortage, through the nodes of the demand for Erlang C."""

    def __init__(self, problem: Allocation, trough: float) -> None:
        params = problem.params
        super().__init__(problem.horizon, trough, params["noise"])
        self.has_own = problem.d_s == 2
        self.price, self.beta, self.scale = params["price"], params["beta"], problem.cost_scale
        self.servers = int(params["servers"]) if params["service"] == "erlang" else 0
        self._waits: dict[int, np.ndarray] = {}

    def reward(self, h: int, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        unmet = self._waiting(h, y, a) if self.servers else self._shortage(h, y, a)
        switching = self.beta * np.abs(a - x) if self.has_own else 0.0 * x
        return 1.0 - (self.price * a + unmet + switching) / self.scale

    def _shortage(self, h: int, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        mean, deviation = self.drift(h, y), np.asarray(self.deviation)
        return normal_excess(mean, deviation, a) - normal_excess(mean, deviation, np.asarray(1.0))

    def _waiting(self, h: int, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        """`a` must be action nodes: between two numbers of servers there is a step, not a slope."""
        if h not in self._waits:
            online = np.rint(self.actions * self.servers)
            self._waits[h] = self.chain(h) @ erlang_c(online[None, :], self.nodes[:, None] * self.servers)
        column = np.rint(a * (len(self.actions) - 1)).astype(np.int64)
        position = y * (len(self.nodes) - 1)
        row = np.minimum(position.astype(np.int64), len(self.nodes) - 2)
        low, high = self._waits[h][row, column], self._waits[h][row + 1, column]
        return low + (position - row) * (high - low)


class BudgetModel(SeasonalModel):
    """x is what is left of the budget, the action spends a share of it."""

    SPENT_NODES = 401

    def __init__(self, horizon: int, trough: float, noise: float) -> None:
        super().__init__(horizon, trough, noise)
        self._spent = np.linspace(0.0, 1.0, self.SPENT_NODES)
        self._worth: dict[int, np.ndarray] = {}

    def move(self, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        return x * (1.0 - a)

    def reward(self, h: int, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        if h not in self._worth:
            self._worth[h] = self.chain(h) @ utility(self.nodes[:, None], self._spent[None, :])
        table = self._worth[h]
        down, across = y * (len(self.nodes) - 1), x * a * (self.SPENT_NODES - 1)
        row = np.minimum(down.astype(np.int64), len(self.nodes) - 2)
        column = np.minimum(across.astype(np.int64), self.SPENT_NODES - 2)
        right, below = across - column, down - row
        upper = table[row, column] * (1 - right) + table[row, column + 1] * right
        lower = table[row + 1, column] * (1 - right) + table[row + 1, column + 1] * right
        return upper * (1 - below) + lower * below


class Allocation(ExogenousProblem):
    """State (servers on, last demand), action servers wanted; with a budget (budget left, last demand)."""

    d_s, d_a, horizon = 2, 1, 5
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "service": Parameter("shortage", "str", "what bad service costs", words=SERVICES),
        "state": Parameter("servers-demand", "str", "what the controller sees", words=STATES),
        "price": Parameter(0.3, "float", "price of all servers for a step", 0, 10),
        "beta": Parameter(0.1, "float", "price of switching all servers", 0, 10),
        "noise": Parameter(0.1, "float", "deviation of one step of the demand", 0, 1),
        "servers": Parameter(20, "int", "servers of the Erlang queue", 1, 1000),
        "start": START,
        "c": Parameter(0.2, "float", "mean demand at the start of an episode", 0, 1),
        "demand": Parameter(None, "str", "csv file to take the demand from"),
        "column": Parameter("", "str", "column of the csv (default: its first column of numbers)"),
    }

    def setup(self, generators: list[np.random.Generator]) -> None:
        params = self.params
        super().setup(generators)
        self.service = params["service"]
        self.d_s = 2 if params["state"] == "servers-demand" else 1
        if self.d_s == 1 and (params["beta"] > 0 or self.service == "budget"):
            raise InputError("state", params["state"], "hides what switching or the budget depends on")
        self.cost_scale = max(1.4, params["price"] + 1.0 + params["beta"])
        usual = (1.0 if self.service == "budget" else 0.5, 0.2)[-self.d_s :]
        self.fixed_start = fixed_start(self, generators, usual)
        self.series: np.ndarray | None = None
        if params["demand"] is not None:
            self.series = read_series(Path(params["demand"]), params["column"], self.horizon + 1)
            self.drift_width = 0
            self._place = np.zeros(self.n, dtype=np.int64)

    def model(self, location: float) -> SeasonalModel:
        if self.service == "budget":
            return BudgetModel(self.horizon, location, self.params["noise"])
        return ServerModel(self, location)

    def solve(self) -> LocatedOptimum | None:
        """None for demand from a file, whose distribution is unknown."""
        return None if self.series is not None else super().solve()

    def fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        starts = super().fresh_start(drawn)
        if self.series is not None and (not self.continuing or self.episode == 0):
            self._place[:] = drawn[:, -1] * (len(self.series) - self.horizon)
            starts[:, -1] = self.series[self._place]
        return starts

    def world(self) -> CompiledProblem:
        params, (demand, means) = self.params, self.season()
        world = ffi.new("allocation_world *", {"demand": demand, "d_s": self.d_s, "scale": self.cost_scale})
        world.erlang, world.budget = self.service == "erlang", self.service == "budget"
        world.price, world.beta, world.servers = params["price"], params["beta"], params["servers"]
        world.greed, world.worth = GREED, float(log1p(GREED))
        if self.series is not None:
            world.values, world.series = len(self.series), doubles(self.series)
            world.place = ffi.from_buffer("int64_t[]", self._place)
        return CompiledProblem.of("allocation_step", world, means)

    def compiled(self) -> CompiledProblem | None:
        """None for demand from a file: an episode's start is a place in it."""
        return super().compiled() if self.series is None else None

    # ---- rules of thumb ---------------------------------------------------------------------------------

    def newsvendor(self, h: int, states: np.ndarray) -> np.ndarray:
        """The demand level exceeded with probability `price`: optimal when switching is free."""
        mean = seasonal_drift(h, self.horizon, self.c, states[:, -1])
        margin = self.params["noise"] * float(ndtri(np.clip(1.0 - self.params["price"], 1e-9, 1 - 1e-9)))
        return settle(np.clip(mean + margin, 0.0, 1.0)[:, None])

    def rules(self) -> dict[str, Policy]:
        policies = super().rules()
        policies.pop("stay", None)
        if self.service == "budget":
            policies["equal-split"] = lambda h, states: np.full((len(states), 1), 1.0 / (self.horizon - h))
        else:
            policies["follow"] = lambda h, states: states[:, -1:].copy()
            if self.d_s == 2:
                policies["keep"] = lambda h, states: states[:, :1].copy()
        if self.service == "shortage" and self.series is None:
            policies["newsvendor"] = self.newsvendor
        if self.series is not None:
            del policies["myopic"]
        return policies

    def best_static(self) -> float:
        """From the model, or for demand from a file the quantile a static newsvendor would keep."""
        if self.series is None:
            return super().best_static()
        return float(np.quantile(self.series, np.clip(1.0 - self.params["price"], 0.0, 1.0)))

    def describe(self) -> dict[str, Any]:
        plain = super().describe()
        return plain if self.series is None else with_facts(plain, demand_values=[len(self.series)] * self.n)


register_problem("allocation-2x1", Allocation)
register_problem("allocation-1x1", Allocation, beta=0.0, state="demand")
