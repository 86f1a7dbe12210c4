"""The ambulance problems of the paper: place k ambulances on a line before the next request comes in.

The fleet moves from x to a, a request p ~ F_h arrives, the nearest ambulance serves it and stays there:
r = 1 - (alpha/k * |x - a|_1 + (1 - alpha) * |a_i - p|), x' = a with coordinate i replaced by p.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.special import betainc

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import draws
from adamb.host_sim._sim import ffi
from adamb.host_sim.compiled import CompiledProblem, ProblemInC, doubles
from adamb.host_sim.draws import TIE
from adamb.host_sim.parameter import START, Parameter, fixed_start
from adamb.host_sim.problem import Optimum, Policy, constant_policy, reflect, with_facts
from adamb.host_sim.problems import register_problem

ARRIVALS = ("beta", "uniform", "shifting")
SHIFTING = ((0.0, 0.25), (0.25, 0.3), (0.3, 0.5), (0.5, 0.6), (0.6, 0.65))


class Ambulance(ProblemInC):
    """k ambulances; `arrivals` is F_h: Beta(5,2), uniform, or an interval that moves with the step."""

    horizon = 5
    drift_width = 1
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "ambulances": Parameter(1, "int", "how many", 1, 3),
        "arrivals": Parameter("beta", "str", "where requests come from", words=ARRIVALS),
        "alpha": Parameter(0.25, "float", "weight of moving before the request, against reaching it", 0, 1),
        "beta": Parameter((5.0, 2.0), "floats", "shape of the Beta distribution", 0.1, 100),
        "start": START,
        "walk": Parameter(0.002, "float", "deviation of one step of --set drift=walk", 0, 1),
    }

    def setup(self, generators: list[np.random.Generator]) -> None:
        params = self.params
        self.k = self.d_s = self.d_a = int(params["ambulances"])
        self.alpha, self.arrivals = params["alpha"], params["arrivals"]
        if len(params["beta"]) != 2:
            raise InputError("beta", params["beta"], "must be 2 numbers")
        self.mirrored = False
        self.shift = np.zeros(self.n)
        self.fixed_start = fixed_start(self, generators)
        #: The last request and who served it, written by each step.
        self._request, self._server = np.full(self.n, np.nan), np.zeros(self.n, dtype=np.int64)

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """Requests of a world that has not drifted."""
        if self.arrivals == "beta":
            first, second = self.params["beta"]
            return draws.beta(generator, first, second, (episodes, self.horizon))
        requests = generator.random((episodes, self.horizon))
        if self.arrivals == "shifting":
            low, high = np.array([SHIFTING[h % len(SHIFTING)] for h in range(self.horizon)]).T
            requests = low + (high - low) * requests
        return requests

    def world(self) -> CompiledProblem:
        world = ffi.new("ambulance_world *", {"k": self.k, "alpha": self.alpha, "mirrored": self.mirrored})
        world.request, world.server = doubles(self._request), ffi.from_buffer("int64_t[]", self._server)
        if self.drift == "walk":
            world.shift = doubles(self.shift)
        return CompiledProblem.of("ambulance_step", world, self.shift)

    def move(self, steps: np.ndarray | None) -> None:
        if steps is None:
            self.mirrored = not self.mirrored
        else:
            self.shift = np.clip(self.shift + self.params["walk"] * steps[:, 0], -1.0, 1.0)

    def arrival_cdf(self, h: int, at: np.ndarray, shift: float = 0.0) -> np.ndarray:
        """P(request <= at) at step h for points of [0,1], with drift."""

        def plain(points: np.ndarray) -> np.ndarray:
            inside = np.clip(points, 0.0, 1.0)
            if self.mirrored:
                return 1.0 - self._plain_cdf(h, 1.0 - inside)
            return self._plain_cdf(h, inside)

        if shift == 0.0:
            return plain(at)
        return plain(at - shift) - plain(-at - shift) + 1.0 - plain(2.0 - at - shift)

    def _plain_cdf(self, h: int, at: np.ndarray) -> np.ndarray:
        if self.arrivals == "beta":
            return betainc(*self.params["beta"], at)
        low, high = SHIFTING[h % len(SHIFTING)] if self.arrivals == "shifting" else (0.0, 1.0)
        return np.clip((at - low) / (high - low), 0.0, 1.0)

    def info(self) -> dict[str, np.ndarray]:
        return {**super().info(), "request": self._request.copy(), "server": self._server.copy()}

    def rules(self) -> dict[str, Policy]:
        """`median` knows F_h and stations ambulance i at its (2i+1)/2k quantile; `even` spreads them out.

        `myopic` knows F_h and takes the best expected reward of the step, whatever comes after.
        """
        policies = super().rules()
        shares = (2 * np.arange(self.k) + 1) / (2 * self.k)
        policies["even"] = constant_policy(self, shares.tolist())
        policies["median"] = self._quantile_policy(shares)
        policies["myopic"] = self._myopic_policy()
        return policies

    def _quantile_policy(self, shares: np.ndarray) -> Policy:
        line = np.linspace(0.0, 1.0, 4097)
        known: dict[tuple[int, bool], np.ndarray] = {}

        def policy(h: int, states: np.ndarray) -> np.ndarray:
            key = (h, self.mirrored)
            if key not in known:
                known[key] = line[np.searchsorted(self.arrival_cdf(h, line), shares - TIE)]
            return reflect(known[key] + self.shift[:, None])

        return policy

    def _myopic_policy(self) -> Policy:
        from adamb.host_sim.problems.ambulance.optimum import AmbulanceOptimum

        known: list[tuple[int, AmbulanceOptimum]] = []

        def policy(h: int, states: np.ndarray) -> np.ndarray:
            if not known or known[-1][0] != self.version:
                known[:] = [(self.version, AmbulanceOptimum(self, myopic=True))]
            return known[-1][1].policy(h, states)

        return policy

    def describe(self) -> dict[str, Any]:
        return with_facts(super().describe(), shift=self.shift.tolist())

    def solve(self) -> Optimum:
        from adamb.host_sim.problems.ambulance.optimum import AmbulanceOptimum

        return AmbulanceOptimum(self)


for count in (1, 2, 3):
    register_problem(f"ambulance-{count}", Ambulance, ambulances=count)
