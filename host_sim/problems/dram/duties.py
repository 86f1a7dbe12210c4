"""Two DRAM duties where looking ahead pays: emptying the write queue and paying refresh debt.

Both can be put off, both are cheap while the read load is low, and both are forced at the worst moment when
put off too long. The load swings over the episode, so the best reward of the moment is not the best play.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from adamb.host_sim._sim import ffi
from adamb.host_sim.compiled import CompiledProblem
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import Policy
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.exogenous import ExogenousProblem, SeasonalModel

LOAD_PARAMETERS = {
    "noise": Parameter(0.1, "float", "deviation of one step of the load", 0.001, 1),
    "c": Parameter(0.2, "float", "load at the start of an episode, its lowest or highest point", 0, 1),
}


class DutyModel(SeasonalModel):
    """One duty for the exact solver; its constants are attributes, on which a solution depends."""

    def __init__(self, horizon: int, trough: float, deviation: float, **constants: float) -> None:
        super().__init__(horizon, trough, deviation)
        vars(self).update(constants)

    def duty(self, own: np.ndarray, load: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Reward and next own coordinate, which the load does not change."""
        raise NotImplementedError

    def reward(self, h: int, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.duty(x, y, a)[0]

    def move(self, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.duty(x, np.zeros(1), a)[1]


class LoadProblem(ExogenousProblem):
    """State (own coordinate, read load); the model that a subclass names says what a step costs."""

    d_s, d_a, horizon = 2, 1, 5
    duty_model: ClassVar[type[DutyModel]]
    #: Parameters that are constants of the model.
    constants: ClassVar[Mapping[str, Parameter]]

    def _constants(self) -> dict[str, float]:
        return {name: self.params[name] for name in self.constants}

    def model(self, location: float) -> DutyModel:
        return self.duty_model(self.horizon, location, self.params["noise"], **self._constants())

    def _in_c(self, name: str, **more: float) -> CompiledProblem:
        load, means = self.season()
        world = ffi.new(f"dram_{name}_world *", {"load": load, **self._constants(), **more})
        return CompiledProblem.of(f"dram_{name}_step", world, means)


# ---- write drain ----------------------------------------------------------------------------------------

INFLOW, BURST, BRIM, BRIM_WIDTH, WORST_OVERFLOW = 0.25, 0.5, 0.9, 0.1, 3.5


class DrainModel(DutyModel):
    turnaround: float
    penalty: float

    def duty(self, own: np.ndarray, load: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Reward and next fill of the write queue.

        A drain delays reads in proportion to the load and turns the bus around once; what does not fit in the
        queue stalls the processor.
        """
        left = np.maximum(own + INFLOW - BURST * action, 0.0)
        overflow = np.minimum(np.maximum((left - BRIM) / BRIM_WIDTH, 0.0), WORST_OVERFLOW)
        used = np.minimum(action, (own + INFLOW) / BURST)
        turnaround = self.turnaround * np.minimum(action / 0.05, 1.0)
        cost = load * used + turnaround + self.penalty * overflow / WORST_OVERFLOW
        return 1.0 - cost / (1.0 + self.turnaround + self.penalty), np.minimum(left, 1.0)


class DramDrain(LoadProblem):
    """State (write-queue fill, read load), action = strength of the drain burst."""

    duty_model = DrainModel
    constants = {  # noqa: RUF012 (a class variable, as the base declares)
        "turnaround": Parameter(0.1, "float", "cost of turning the bus around for a drain", 0, 10),
        "penalty": Parameter(1.5, "float", "cost of a write queue that overflows by a step's inflow", 0, 10),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {**LOAD_PARAMETERS, **constants}

    def world(self) -> CompiledProblem:
        brim = {"brim": BRIM, "brim_width": BRIM_WIDTH, "worst_overflow": WORST_OVERFLOW}
        return self._in_c("drain", inflow=INFLOW, burst=BURST, **brim)

    def rules(self) -> dict[str, Policy]:
        """The watermark rule of real controllers: nothing until the queue is nearly full, then a burst."""
        policies = super().rules()
        policies["watermark"] = lambda h, states: np.where(states[:, :1] + INFLOW > BRIM, 1.0, 0.0)
        policies["steady"] = lambda h, states: np.full((len(states), 1), INFLOW / BURST)
        return policies


# ---- refresh --------------------------------------------------------------------------------------------


class RefreshModel(DutyModel):
    debt: float
    penalty: float

    def duty(self, own: np.ndarray, load: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Reward and next debt: paying delays reads; a debt that reaches 1 is paid at once, at any load."""
        left = own * (1.0 - action) + self.debt
        forced = left >= 1.0
        cost = load * action * own + np.where(forced, self.penalty * left, 0.0)
        most = max(1.0 + self.penalty, self.penalty * (1.0 + self.debt))
        return 1.0 - cost / most, np.where(forced, 0.0, left)


class DramRefresh(LoadProblem):
    """State (refresh debt, read load), action = share of the debt paid now."""

    duty_model = RefreshModel
    constants = {  # noqa: RUF012 (a class variable, as the base declares)
        "debt": Parameter(0.2, "float", "debt that a step adds; at 1 it is paid by force", 0.01, 0.9),
        "penalty": Parameter(1.0, "float", "cost of a debt of 1 that is paid by force", 0, 10),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {**LOAD_PARAMETERS, **constants}

    def world(self) -> CompiledProblem:
        return self._in_c("refresh")

    def rules(self) -> dict[str, Policy]:
        """Pay at once, or only as much as keeps the debt from being forced."""
        policies = super().rules()
        policies["at-once"] = lambda h, states: np.ones((len(states), 1))
        policies["last-moment"] = self._just_enough
        return policies

    def _just_enough(self, h: int, states: np.ndarray) -> np.ndarray:
        owed = np.maximum(states[:, :1], 1e-9)
        return np.clip(1.0 - (1.0 - self.params["debt"] - 1e-6) / owed, 0.0, 1.0)


register_problem("dram-drain", DramDrain)
register_problem("dram-refresh", DramRefresh)
