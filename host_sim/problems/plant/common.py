"""Common parts of the plants: components that differ from unit to unit, a timetable, a loop that needs no learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from adamb.host_sim import draws
from adamb.host_sim.parameter import Parameter, Range
from adamb.host_sim.problem import LocatedProblem, Policy, with_facts


class Plant(LocatedProblem):
    """One sensor, one actuator. The seed decides the parts of a unit; `--set instance=paper` has nominal ones.

    The location `c` is what may change while the controller runs; `--set drift=half` mirrors it.
    """

    d_s, d_a, horizon = 1, 1, 5
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "spread": Parameter(0.15, "float", "how far parts of a unit may be from their data sheet", 0, 0.5),
        "noise": Parameter(1.0, "float", "disturbances, as a multiple of the usual ones", 0, 10),
        "c": Parameter(None, "float", "what may change while it runs; left out, the seed decides", 0, 1),
    }
    #: c of an instance lies between these.
    locations: ClassVar[tuple[float, float]] = (0.2, 0.8)
    #: (2, n) factors of the nominal values of two parts.
    parts: np.ndarray

    @property
    def sensor(self) -> Range:
        return self.coordinates[0]

    @property
    def actuator(self) -> Range:
        return self.coordinates[1]

    def setup(self, generators: list[np.random.Generator]) -> None:
        self.set_location(0.5)
        drawn = np.array([generator.random(3) for generator in generators]).T
        if self.instance == "paper":
            drawn = np.full_like(drawn, 0.5)
        low, high = self.locations
        given = self.params["c"]
        self.c = low + (high - low) * drawn[0] if given is None else np.full(self.n, given)
        self.parts = 1.0 + self.params["spread"] * (2.0 * drawn[1:] - 1.0)

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """Normal, cut at three deviations."""
        drawn = draws.normal(generator, (episodes, self.horizon, 1))
        return self.params["noise"] * np.clip(drawn, -3.0, 3.0)

    def at(self, h: int, table: Sequence[float]) -> float:
        """The entry of step h; another horizon stretches the timetable."""
        return table[h * len(table) // self.horizon]

    def loop(self, targets: Sequence[float], gain: float, rate: float) -> Policy:
        """A PI loop that aims at these readings, one for each entry of the timetable."""
        low, width = self.sensor.zero, self.sensor.full - self.sensor.zero
        aims = [(self.at(h, targets) - low) / width for h in range(self.horizon)]
        return ProportionalIntegral(aims, gain, rate)

    def info(self) -> dict[str, np.ndarray]:
        raw = super().info()
        raw["sensor"] = self.sensor.raw(self.state[:, 0])
        if self.last:
            raw["actuator"] = self.actuator.raw(raw["action"][:, 0])
        return raw

    def describe(self) -> dict[str, Any]:
        return with_facts(super().describe(), parts=self.parts.T.tolist())


class ProportionalIntegral:
    """The usual loop: gain times the error, and its integral, which stays within the actuator's range."""

    def __init__(self, aims: Sequence[float], gain: float, rate: float) -> None:
        """`aims`: the state wanted at the end of each step."""
        self.aims, self.gain, self.rate = aims, gain, rate
        self.integral: np.ndarray | None = None

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        if self.integral is None:
            self.integral = np.full((len(states), 1), 0.5)
        error = self.aims[h] - states[:, :1]
        self.integral = np.clip(self.integral + self.rate * error, 0.0, 1.0)
        return np.clip(self.gain * error + self.integral, 0.0, 1.0)
