"""When to close a DRAM row, as a formula: a small version of `dram-1x1` with an exact optimum.

A stream stays in its row with probability p and comes back after Exp(g1) cycles, else asks for another row
after Exp(g2). A row is closed after a timeout T = 2^(80a/7) - 1 (a >= 7/8: never). The controller sees p, then
p walks, and the reward is the expected latency under the new p.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.compiled import CompiledProblem, doubles
from adamb.host_sim.draws import exp, log, log2, settle
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import Policy, constant_policy
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.exogenous import ExogenousModel, ExogenousProblem
from adamb.host_sim.solvers import expected_clip


def timeout_of(action: np.ndarray) -> np.ndarray:
    """Page timeout in cycles; infinite from a = 7/8."""
    return np.vectorize(lib.dram_timeout, otypes=[float])(action)


def action_of(timeout: np.ndarray | float) -> np.ndarray:
    """The action that means this timeout; for never, and from 1023 cycles, the middle of what means never."""
    action = 7.0 / 80.0 * log2(1.0 + np.asarray(timeout, dtype=float))
    return np.where(action < 7.0 / 8.0, action, 15.0 / 16.0)


def best_timeout(p: np.ndarray, gap_stay: float, gap_move: float) -> np.ndarray:
    """T*(p): closing one cycle later then saves as many activations as it costs precharges.

    With gap_stay >= gap_move waiting never pays gradually, and the best is to close at once or never.
    """
    p = np.asarray(p, dtype=float)
    if gap_stay >= gap_move:
        return np.where(p > 0.5, np.inf, 0.0)
    odds = log(p * gap_move) - log((1.0 - p) * gap_stay)
    return np.maximum(0.0, odds / (1.0 / gap_stay - 1.0 / gap_move))


def heading(location: np.ndarray | float, p: np.ndarray) -> np.ndarray:
    """Next locality on average: it stays at location 1 and turns around, p -> 1 - p, at location 0.

    So `--set drift=half` makes a program whose phases last into one whose phases alternate.
    """
    return location * p + (1.0 - np.asarray(location)) * (1.0 - p)


class RowModel(ExogenousModel):
    """Expected latency in closed form; 21, 38 and 55 cycles are a hit, a closed row and a conflict."""

    has_own = False
    HIT, STEP, CONFLICT = 21.0, 17.0, 55.0

    def __init__(self, horizon: int, deviation: float, gap_stay: float, gap_move: float, location: float) -> None:
        super().__init__(horizon)
        self.deviation, self.gap_stay, self.gap_move = deviation, gap_stay, gap_move
        self.location = location

    def drift(self, h: int, y: np.ndarray) -> np.ndarray:
        return heading(self.location, y)

    def latency(self, p: np.ndarray, timeout: np.ndarray) -> np.ndarray:
        """Expected cycles of a read at locality p."""
        lost = p * exp(-timeout / self.gap_stay)
        kept = (1.0 - p) * (2.0 - exp(-timeout / self.gap_move))
        return self.HIT + self.STEP * (lost + kept)

    def reward_at(self, p: np.ndarray, action: np.ndarray) -> np.ndarray:
        """Reward once p is known; linear in p."""
        return (self.CONFLICT - self.latency(p, timeout_of(action))) / (self.CONFLICT - self.HIT)

    def reward(self, h: int, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.reward_at(expected_clip(self.drift(h, y), self.deviation), a) + 0.0 * x


class DramLite(ExogenousProblem):
    """State p, action a; location `c` says how much of the locality lasts (see `heading`)."""

    d_s, d_a, horizon = 1, 1, 5
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "g1": Parameter(100.0, "float", "mean cycles until a stream returns to its row", 1, 1e6),
        "g2": Parameter(300.0, "float", "mean cycles until a stream asks for another row", 1, 1e6),
        "walk": Parameter(0.1, "float", "deviation of one step of p", 0.001, 1),
        "c": Parameter(1.0, "float", "how much of the locality lasts; the rest turns around", 0, 1),
    }

    def model(self, location: float) -> RowModel:
        params = self.params
        return RowModel(self.horizon, params["walk"], params["g1"], params["g2"], location)

    def world(self) -> CompiledProblem:
        params, location = self.params, self.c
        world = ffi.new("dram_lite_world *", {"walk": params["walk"], "c": doubles(location)})
        world.gap_stay, world.gap_move = params["g1"], params["g2"]
        return CompiledProblem.of("dram_lite_step", world, location)

    def info(self) -> dict[str, np.ndarray]:
        raw = super().info()
        if self.last:
            raw["timeout_cycles"] = timeout_of(raw["action"][:, 0])
            raw["latency_cycles"] = RowModel.CONFLICT - (RowModel.CONFLICT - RowModel.HIT) * raw["reward"]
        return raw

    def rules(self) -> dict[str, Policy]:
        """Row policies of real controllers; T* knows the workload's gaps and location."""
        policies = super().rules()
        for label, timeout in (("closed", 0.0), ("timeout-100", 100.0), ("open", np.inf)):
            policies[label] = constant_policy(self, float(action_of(timeout)))
        policies["t-star"] = self._t_star
        return policies

    def _t_star(self, h: int, states: np.ndarray) -> np.ndarray:
        expected = expected_clip(heading(self.c, states[:, 0]), self.params["walk"])
        timeout = best_timeout(expected, self.params["g1"], self.params["g2"])
        return settle(action_of(timeout)[:, None])


register_problem("dram-lite", DramLite)
