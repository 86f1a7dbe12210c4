"""Two DRAM duties where looking ahead pays: emptying the write queue and paying refresh debt.

Both can be put off, both are cheap while the read load is low, and both are forced at the worst moment when
put off too long. The load swings over the episode, so the best reward of the moment is not the best play.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from adamb.host_sim.exogenous_dp import ExogenousProblem, SeasonalModel, seasonal_drift
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import Policy
from adamb.host_sim.registry import register

LOAD_PARAMETERS = {
    "noise": Parameter(0.1, "float", "deviation of one step of the load", 0.001, 1),
    "c": Parameter(0.2, "float", "load at the start of an episode, its lowest or highest point", 0, 1),
}


class LoadProblem(ExogenousProblem):
    """State (own coordinate, read load); a subclass says what a step costs."""

    d_s, d_a, horizon = 2, 1, 5
    parameters: ClassVar[Mapping[str, Parameter]] = LOAD_PARAMETERS

    def _setup(self, generators: list[np.random.Generator]) -> None:
        self._set_location(self.params["c"])

    def _draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return generator.standard_normal((episodes, self.horizon, 1))

    def _next_load(self, h: int, load: np.ndarray, noise: np.ndarray) -> np.ndarray:
        heading = seasonal_drift(h, self.horizon, self.c, load)
        return np.clip(heading + self.params["noise"] * noise, 0.0, 1.0)


# ---- write drain ----------------------------------------------------------------------------------------

INFLOW, BURST, BRIM, BRIM_WIDTH, WORST_OVERFLOW = 0.25, 0.5, 0.9, 0.1, 3.5
SWITCH_COST, OVERFLOW_COST, COST_SCALE = 0.1, 1.5, 2.6


def drain_step(fill: np.ndarray, load: np.ndarray, strength: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reward and next fill of the write queue.

    A drain delays reads in proportion to the load and turns the bus around once; what does not fit in the
    queue stalls the processor.
    """
    left = np.maximum(fill + INFLOW - BURST * strength, 0.0)
    overflow = np.minimum(np.maximum((left - BRIM) / BRIM_WIDTH, 0.0), WORST_OVERFLOW)
    used = np.minimum(strength, (fill + INFLOW) / BURST)
    turnaround = SWITCH_COST * np.minimum(strength / 0.05, 1.0)
    cost = load * used + turnaround + OVERFLOW_COST * overflow / WORST_OVERFLOW
    return 1.0 - cost / COST_SCALE, np.minimum(left, 1.0)


class DrainModel(SeasonalModel):
    def reward(self, h: int, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        return drain_step(x, y, a)[0]

    def move(self, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        return drain_step(x, np.zeros(1), a)[1]


class DramDrain(LoadProblem):
    """State (write-queue fill, read load), action = strength of the drain burst."""

    def model(self, location: float) -> DrainModel:
        return DrainModel(self.horizon, location, self.params["noise"])

    def _dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        reward, fill = drain_step(states[:, 0], states[:, 1], actions[:, 0])
        return reward, np.stack([fill, self._next_load(h, states[:, 1], noise[0])], axis=1)

    def baselines(self) -> dict[str, Policy]:
        """The watermark rule of real controllers: nothing until the queue is nearly full, then a burst."""
        policies = super().baselines()
        policies["watermark"] = lambda h, states: np.where(states[:, :1] + INFLOW > BRIM, 1.0, 0.0)
        policies["steady"] = lambda h, states: np.full((len(states), 1), INFLOW / BURST)
        return policies


# ---- refresh --------------------------------------------------------------------------------------------

NEW_DEBT = 0.2


def refresh_step(debt: np.ndarray, load: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reward and next debt: paying delays reads; a debt that reaches 1 is paid at once, whatever the load."""
    left = debt * (1.0 - share) + NEW_DEBT
    forced = left >= 1.0
    cost = load * share * debt + np.where(forced, left, 0.0)
    return 1.0 - cost / 2.0, np.where(forced, 0.0, left)


class RefreshModel(SeasonalModel):
    def reward(self, h: int, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        return refresh_step(x, y, a)[0]

    def move(self, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        return refresh_step(x, np.zeros(1), a)[1]


class DramRefresh(LoadProblem):
    """State (refresh debt, read load), action = share of the debt paid now."""

    def model(self, location: float) -> RefreshModel:
        return RefreshModel(self.horizon, location, self.params["noise"])

    def _dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        reward, debt = refresh_step(states[:, 0], states[:, 1], actions[:, 0])
        return reward, np.stack([debt, self._next_load(h, states[:, 1], noise[0])], axis=1)

    def baselines(self) -> dict[str, Policy]:
        """Pay at once, or only as much as keeps the debt from being forced."""
        policies = super().baselines()
        policies["at-once"] = lambda h, states: np.ones((len(states), 1))
        policies["last-moment"] = _just_enough
        return policies


def _just_enough(h: int, states: np.ndarray) -> np.ndarray:
    debt = np.maximum(states[:, :1], 1e-9)
    return np.clip(1.0 - (1.0 - NEW_DEBT - 1e-6) / debt, 0.0, 1.0)


register("dram-drain", DramDrain)
register("dram-refresh", DramRefresh)
