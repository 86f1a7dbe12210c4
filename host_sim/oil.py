"""The oil discovery problems of the paper: survey a map, pay for travel, get blown off course.

r = clip(f_h(x, a) - alpha * |x - a| + eps, 0, 1) and x' = clip(a + N(0, sd(x, a)^2), 0, 1). In k dimensions
the survey depends on the largest coordinate distance to the deposit and travel is paid per coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import Optimum, Policy, Problem, reflect
from adamb.host_sim.registry import register

SHAPES = ("laplace", "quadratic", "sparse", "product")
SURVEYS = ("meant", "authors", "text")
SPARSE_LOCATIONS = (0.5, 0.25, 0.5, 0.75, 1.0)
SPREAD = 0.2


class Oil(Problem):
    """A deposit at c; how the survey falls off around it is `shape`.

    The text of the paper prints 1 - exp(-lam|x-c|), which makes the deposit the worst spot; `survey=text`
    plays that literally, the default plays exp(-lam|x-c|) as the authors' program does. `survey=authors`
    differs only for the sparse shape (weight h/5 in place of 1/h, variance .05(x+a)^2).
    """

    horizon = 5
    trusted = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "shape": Parameter("laplace", "str", "fall-off of the survey around the deposit", words=SHAPES),
        "survey": Parameter("meant", "str", "as meant, of the authors, or as printed", words=SURVEYS),
        "dims": Parameter(1, "int", "dimensions of the map", 1, 3),
        "lam": Parameter(None, "float", "sharpness of the deposit", 0, 1000),
        "c": Parameter(None, "floats", "deposit per coordinate (sparse: per step); default by seed", 0, 1),
        "alpha": Parameter(1.0, "float", "price of travel", 0, 10),
        "sigma": Parameter(0.0, "float", "deviation of the landing point is sigma*(x+a)^2", 0, 1),
        "variance": Parameter(0.0, "float", "variance of the landing point is variance*(x+a)^2", 0, 1),
        "reward_noise": Parameter(0.0, "float", "deviation of the noise on rewards", 0, 1),
        "start": Parameter(
            None, "floats", "start state; random: new in every episode, instance: drawn once per seed",
            0, 1, ("random", "instance"),
        ),
        "walk": Parameter(0.002, "float", "deviation of one step of --drift walk", 0, 1),
    }  # fmt: skip

    def _setup(self, generators: list[np.random.Generator]) -> None:
        params = self.params
        self.shape = params["shape"]
        self.d_s = self.d_a = int(params["dims"])
        if self.shape in ("sparse", "product") and self.d_s > 1:
            raise InputError("dims", self.d_s, f"shape {self.shape} is defined on one dimension")
        self.walk_deviation = params["walk"]
        self.alpha, self.reward_noise = params["alpha"], params["reward_noise"]
        self.lam = (1.0 if self.shape == "quadratic" else 10.0) if params["lam"] is None else params["lam"]
        self.sigma, self.root_variance = params["sigma"], float(np.sqrt(params["variance"]))
        if self.shape == "sparse" and params["survey"] == "authors":
            self.sigma, self.root_variance = 0.0, float(np.sqrt(0.05))
        self.moves_noisily = self.sigma > 0 or self.root_variance > 0
        self.c = self._locations(generators)
        self.drift_width = self.c.shape[1]
        self.start = self._fixed_start(generators)

    def _locations(self, generators: list[np.random.Generator]) -> np.ndarray:
        """(n, coordinates) or, for the sparse shape, (n, steps of the cycle)."""
        if self.shape == "sparse":
            centres = np.array(SPARSE_LOCATIONS)
        elif self.shape == "product" and self.instance == "paper":
            centres = np.array([0.7])
        else:
            centres = np.array([0.75, 0.25, 0.75][: self.d_s])
        offsets = np.array([generator.uniform(-SPREAD, SPREAD, centres.size) for generator in generators])
        given = self.params["c"]
        if given is None:
            return reflect(centres + offsets) if self.instance == "random" else centres + 0 * offsets
        if len(given) not in (1, centres.size) and self.shape != "sparse":
            raise InputError("c", given, f"must be 1 or {centres.size} numbers")
        values = np.asarray(given, dtype=float)
        if self.shape != "sparse":
            values = np.broadcast_to(values, centres.shape)
        return np.tile(values, (self.n, 1))

    def _fixed_start(self, generators: list[np.random.Generator]) -> np.ndarray | None:
        start = self.params["start"]
        drawn = np.array([generator.random(self.d_s) for generator in generators])
        if start is None:
            start = "random" if self.instance == "random" else (0.5,)
        if start == "random":
            return None
        if start == "instance":
            return drawn
        if len(start) not in (1, self.d_s):
            raise InputError("start", start, f"must be 1 or {self.d_s} numbers")
        return np.broadcast_to(np.asarray(start, dtype=float), (self.n, self.d_s)).copy()

    def _fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(drawn) if self.start is None else self.start.copy()

    def _draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        noisy = self.moves_noisily or self.reward_noise > 0
        return generator.standard_normal((episodes, self.horizon, self.d_s + 1 if noisy else 0))

    def survey(self, h: int, distance: np.ndarray) -> np.ndarray:
        """f_h as a function of the distance to the deposit of step h."""
        if self.shape == "quadratic":
            return 1.0 - self.lam * distance * distance
        value = np.exp(-self.lam * distance)
        if self.params["survey"] == "text":
            value = 1.0 - value
        if self.shape == "sparse":
            weight = (h + 1) / 5 if self.params["survey"] == "authors" else 1.0 / (h + 1)
            value = weight * value
        return value

    def location(self, h: int) -> np.ndarray:
        """(n,) or (n, d) deposits that step h pays for."""
        if self.shape == "sparse":
            return self.c[:, h % self.c.shape[1]]
        return self.c[:, 0] if self.d_s == 1 else self.c

    def deviation(self, reach: np.ndarray) -> np.ndarray:
        """Standard deviation of the landing point, given x + a."""
        if self.root_variance == 0.0:
            return self.sigma * (reach * reach)
        return self.sigma * (reach * reach) + self.root_variance * reach

    def _dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.d_s == 1:
            x, a = states[:, 0], actions[:, 0]
            place = x * a if self.shape == "product" else x
            distance = np.abs(place - self.location(h))
            travel = np.abs(x - a)
        else:
            distance = np.abs(states - self.c).max(axis=1)
            travel = np.abs(states - actions).sum(axis=1)
        reward = self.survey(h, distance) - self.alpha * travel
        if self.reward_noise > 0:
            reward += self.reward_noise * noise[-1]
        np.minimum(np.maximum(reward, 0.0, out=reward), 1.0, out=reward)
        if not self.moves_noisily:
            return reward, actions.copy()
        landing = actions + self.deviation(states + actions) * noise[: self.d_s].T
        return reward, np.minimum(np.maximum(landing, 0.0, out=landing), 1.0, out=landing)

    def _mirror(self) -> None:
        self.c = 1.0 - self.c

    def _walk(self, steps: np.ndarray) -> None:
        self.c = reflect(self.c + steps)

    def _describe_instance(self, i: int) -> dict[str, Any]:
        start: Any = "random" if self.start is None else self.start[i].tolist()
        return {"seed": self.seeds[i], "c": self.c[i].tolist(), "start": start}

    def baselines(self) -> dict[str, Policy]:
        """`go` moves straight to the deposit of the next step, which only someone who knows c can do.

        `myopic` takes the best reward of the step: staying, unless the action is surveyed as well.
        """
        policies = super().baselines()
        policies["myopic"] = self._myopic_product if self.shape == "product" else policies["stay"]
        if self.shape != "product":
            policies["go"] = lambda h, states: self.location(min(h + 1, self.horizon - 1)).reshape(self.n, -1)
        return policies

    def _myopic_product(self, h: int, states: np.ndarray) -> np.ndarray:
        ridge = np.clip(self.c / np.maximum(states, 1e-9), 0.0, 1.0)
        line = np.broadcast_to(np.linspace(0.0, 1.0, 129), (self.n, 129))
        choices = np.concatenate([states, ridge, line], axis=1)
        rewards = self.survey(h, np.abs(states * choices - self.c)) - self.alpha * np.abs(states - choices)
        return np.take_along_axis(choices, rewards.argmax(axis=1)[:, None], axis=1)

    def _solve(self) -> Optimum | None:
        from adamb.host_sim.oil_optimum import solve

        return solve(self)


register("oil-quadratic", Oil, shape="quadratic")
register("oil-laplace", Oil, shape="laplace")
register("oil-sparse", Oil, shape="sparse", sigma=0.025)
register("oil-noisy", Oil, shape="laplace", sigma=0.025, reward_noise=0.1)
register("oil-authors-noise", Oil, shape="product", variance=0.1)
register("oil-2d", Oil, shape="laplace", dims=2, lam=5.0, alpha=0.5)
