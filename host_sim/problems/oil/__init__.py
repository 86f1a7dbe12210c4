"""The oil discovery problems of the paper: survey a map, pay for travel, get blown off course.

r = clip(f_h(x, a) - alpha * |x - a| + eps, 0, 1) and x' = clip(a + N(0, sd(x, a)^2), 0, 1). In k dimensions
the survey depends on the largest coordinate distance to the deposit and travel is paid per coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import draws
from adamb.host_sim._sim import ffi
from adamb.host_sim.compiled import CompiledProblem, ProblemInC, doubles
from adamb.host_sim.draws import exp
from adamb.host_sim.parameter import START, Parameter, fixed_start
from adamb.host_sim.problem import Optimum, Policy, reflect, with_facts
from adamb.host_sim.problems import register_problem
from adamb.host_sim.solvers import ConeOptimum

SHAPES = ("laplace", "quadratic", "sparse", "product")
SURVEYS = ("meant", "authors", "text")
SPARSE_LOCATIONS = (0.5, 0.25, 0.5, 0.75, 1.0)
#: Shapes and surveys whose fixed instance has the deposit at .7: the authors' noise, the quadratic's caption.
AT_SEVENTY = (*(("product", survey) for survey in SURVEYS), ("quadratic", "text"))
SPREAD = 0.2
PLACES = ("anywhere", "border")
BORDERS = (0.25, 0.375, 0.5, 0.625, 0.75)
BORDER_SPREAD = 0.02

#: Uniform nodes per axis for 1, 2 and 3 dimensions, besides the deposit itself. Around a peaked survey U is
#: the cone of the deposit and any grid is exact; other surveys need the finer one for 1e-3.
PEAKED_NODES = {1: 129, 2: 17, 3: 9}
OTHER_NODES = {1: 1025, 2: 129, 3: 33}
#: A walk moves the deposit at every episode, so its grid has to be quick.
OTHER_NODES_WALK = {1: 257, 2: 33, 3: 17}


class Oil(ProblemInC):
    """A deposit at c; how the survey falls off around it is `shape`.

    The text of the paper prints 1 - exp(-lam|x-c|), which makes the deposit the worst spot; `survey=text`
    plays that literally, the default plays exp(-lam|x-c|) as the authors' program does. The fixed instance of
    the quadratic has its deposit at .75 as in their program; with `survey=text` at .7 as in the caption.

    `survey=authors` differs only for the sparse shape. Their program weighs step h by h/5 in place of 1/h,
    has the variance .05(x+a)^2, and counts steps from 0: the first step pays nothing, each later one for the
    deposit that the text gives to the step before, and the deposit of the last step never pays.
    """

    horizon = 5
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "shape": Parameter("laplace", "str", "fall-off of the survey around the deposit", words=SHAPES),
        "survey": Parameter("meant", "str", "as meant, of the authors, or as printed", words=SURVEYS),
        "dims": Parameter(1, "int", "dimensions of the map", 1, 3),
        "lam": Parameter(None, "float", "sharpness of the deposit", 0, 1000),
        "c": Parameter(None, "floats", "deposit per coordinate (sparse: per step); default by seed", 0, 1),
        "place": Parameter("anywhere", "str", "border: deposits near borders of dyadic cells", words=PLACES),
        "alpha": Parameter(1.0, "float", "price of travel", 0, 10),
        "sigma": Parameter(0.0, "float", "deviation of the landing point is sigma*(x+a)^2", 0, 1),
        "variance": Parameter(0.0, "float", "variance of the landing point is variance*(x+a)^2", 0, 1),
        "reward_noise": Parameter(0.0, "float", "deviation of the noise on rewards", 0, 1),
        "start": START,
        "walk": Parameter(0.002, "float", "deviation of one step of --set drift=walk", 0, 1),
    }

    def setup(self, generators: list[np.random.Generator]) -> None:
        params = self.params
        self.reward_shape = params["shape"]
        self.d_s = self.d_a = int(params["dims"])
        if self.reward_shape in ("sparse", "product") and self.d_s > 1:
            raise InputError("dims", self.d_s, f"shape {self.reward_shape} is defined on one dimension")
        self.alpha, self.reward_noise = params["alpha"], params["reward_noise"]
        peak = 1.0 if self.reward_shape == "quadratic" else 10.0
        self.lam = peak if params["lam"] is None else params["lam"]
        self.sigma, self.root_variance = params["sigma"], float(np.sqrt(params["variance"]))
        #: By how many steps the authors' sparse survey is behind that of the text.
        self.late = int(self.reward_shape == "sparse" and params["survey"] == "authors")
        if self.late:
            self.sigma, self.root_variance = 0.0, float(np.sqrt(0.05))
        self.moves_noisily = self.sigma > 0 or self.root_variance > 0
        self._numbers = self.d_s + 1 if self.moves_noisily or self.reward_noise > 0 else 0
        self.c = self._locations(generators)
        self.drift_width = self.c.shape[1]
        self.fixed_start = fixed_start(self, generators)

    def _locations(self, generators: list[np.random.Generator]) -> np.ndarray:
        """(n, coordinates) or, for the sparse shape, (n, steps of the cycle)."""
        if self.reward_shape == "sparse":
            centres = np.array(SPARSE_LOCATIONS)
        elif self.instance == "paper" and (self.reward_shape, self.params["survey"]) in AT_SEVENTY:
            centres = np.array([0.7, 0.25, 0.75][: self.d_s])
        else:
            centres = np.array([0.75, 0.25, 0.75][: self.d_s])
        offsets = np.array([draws.uniform(each, -SPREAD, SPREAD, centres.size) for each in generators])
        given = self.params["c"]
        if given is None and self.params["place"] == "border" and self.instance == "random":
            # A border by the first draw, and how far from it by what the draw leaves: one draw a coordinate.
            scaled = (offsets + SPREAD) / (2 * SPREAD) * len(BORDERS)
            which = np.minimum(scaled.astype(int), len(BORDERS) - 1)
            return np.asarray(BORDERS)[which] + BORDER_SPREAD * (2 * (scaled - which) - 1)
        if given is None:
            return reflect(centres + offsets) if self.instance == "random" else centres + 0 * offsets
        if len(given) not in (1, centres.size) and self.reward_shape != "sparse":
            raise InputError("c", given, f"must be 1 or {centres.size} numbers")
        values = np.asarray(given, dtype=float)
        if self.reward_shape != "sparse":
            values = np.broadcast_to(values, centres.shape)
        return np.tile(values, (self.n, 1))

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return draws.normal(generator, (episodes, self.horizon, self._numbers))

    def survey(self, h: int, distance: np.ndarray) -> np.ndarray:
        """f_h as a function of the distance to the deposit of step h."""
        if self.reward_shape == "quadratic":
            return 1.0 - self.lam * distance * distance
        value = exp(-self.lam * distance)
        if self.params["survey"] == "text":
            value = 1.0 - value
        if self.reward_shape == "sparse":
            value = self.weight(h) * value
        return value

    def weight(self, h: int) -> float:
        """Of the sparse survey at step h, counted from 0 here as in the authors' program."""
        return h / 5 if self.late else 1.0 / (h + 1)

    def deposit_of(self, h: int, deposits: np.ndarray) -> np.ndarray:
        """(rows,) the deposit that step h pays for, of rows with one a step or one for all."""
        return deposits[:, (h - self.late) % deposits.shape[1]]

    def location(self, h: int) -> np.ndarray:
        """(n,) or (n, d) deposits that step h pays for."""
        return self.deposit_of(h, self.c) if self.d_s == 1 else self.c

    def deviation(self, reach: np.ndarray) -> np.ndarray:
        """Standard deviation of the landing point, given x + a."""
        if self.root_variance == 0.0:
            return self.sigma * (reach * reach)
        return self.sigma * (reach * reach) + self.root_variance * reach

    def world(self) -> CompiledProblem:
        deposits = np.ascontiguousarray(self.c)
        world = ffi.new("oil_world *")
        world.d, world.deposits, world.c = self.d_s, deposits.shape[1], doubles(deposits)
        world.quadratic, world.product = self.reward_shape == "quadratic", self.reward_shape == "product"
        world.sparse, world.text = self.reward_shape == "sparse", self.params["survey"] == "text"
        world.late, world.moves_noisily = self.late, self.moves_noisily
        world.lam, world.alpha, world.reward_noise = self.lam, self.alpha, self.reward_noise
        world.sigma, world.root_variance = self.sigma, self.root_variance
        return CompiledProblem.of("oil_step", world, deposits, numbers=self._numbers)

    def move(self, steps: np.ndarray | None) -> None:
        self.c = 1.0 - self.c if steps is None else reflect(self.c + self.params["walk"] * steps)

    def describe(self) -> dict[str, Any]:
        return with_facts(super().describe(), c=self.c.tolist())

    def rules(self) -> dict[str, Policy]:
        """`go` moves straight to the deposit of the next step, which only someone who knows c can do.

        `myopic` takes the best reward of the step: staying, unless the action is surveyed as well.
        """
        policies = super().rules()
        policies["myopic"] = self._myopic_product if self.reward_shape == "product" else policies["stay"]
        if self.reward_shape != "product":
            policies["go"] = lambda h, states: self.location(min(h + 1, self.horizon - 1)).reshape(self.n, -1)
        return policies

    def _myopic_product(self, h: int, states: np.ndarray) -> np.ndarray:
        ridge = np.clip(self.c / np.maximum(states, 1e-9), 0.0, 1.0)
        line = np.broadcast_to(np.linspace(0.0, 1.0, 129), (self.n, 129))
        choices = np.concatenate([states, ridge, line], axis=1)
        rewards = self.survey(h, np.abs(states * choices - self.c)) - self.alpha * np.abs(states - choices)
        return np.take_along_axis(choices, rewards.argmax(axis=1)[:, None], axis=1)

    def solve(self) -> Optimum | None:
        """None for noise in more than one dimension and for five drifting deposits."""
        if not (self.moves_noisily or self.reward_noise > 0 or self.reward_shape == "product"):
            return self.solve_without_noise()
        if self.d_s > 1:
            return None
        from adamb.host_sim.problems.oil.optimum import solve_noisy

        return solve_noisy(self)

    def solve_without_noise(self, points: int | None = None) -> ConeOptimum:
        """The optimum where moves and rewards are exact; `points` overrides the grid."""
        peaked = self.reward_shape == "laplace" and self.params["survey"] != "text"
        others = OTHER_NODES_WALK if self.drift == "walk" else OTHER_NODES
        c = self.c.copy()
        return ConeOptimum(
            partial(self._survey_around, c),
            c,
            self.d_s,
            alpha=self.alpha,
            horizon=self.horizon,
            points=points or (PEAKED_NODES if peaked else others)[self.d_s],
            start=None if self.fixed_start is None else self.fixed_start.copy(),
        )

    def _survey_around(self, deposits: np.ndarray, h: int, states: np.ndarray) -> np.ndarray:
        """f_h at states (n, m, d), wherever the deposits are now."""
        c = deposits if self.d_s > 1 else self.deposit_of(h, deposits)[:, None]
        return self.survey(h, np.abs(states - c[:, None, :]).max(axis=2))


register_problem("oil-quadratic", Oil, shape="quadratic")
register_problem("oil-laplace", Oil, shape="laplace")
register_problem("oil-sparse", Oil, shape="sparse", sigma=0.025)
register_problem("oil-noisy", Oil, shape="laplace", sigma=0.025, reward_noise=0.1)
register_problem("oil-authors-noise", Oil, shape="product", variance=0.1)
register_problem("oil-2d", Oil, shape="laplace", dims=2, lam=5.0, alpha=0.5)
