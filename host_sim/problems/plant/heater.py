"""Seal bags with a heated bar: each bag draws heat when it is pressed, and the seal needs 150 degrees then.

A bag takes five periods of two seconds, the window of a relay. The bar must be warm in the third and fourth;
in the others heating costs power and little else. How much heat a bag draws depends on its film (location c).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from adamb.host_sim import draws
from adamb.host_sim.problem import Policy
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.plant.common import Plant

SEAL, WORST = 150.0, 20.0  # degrees; so far from the seal's temperature everything is lost
ROOM, POWER, LAG = 25.0, 220.0, 0.3
START, START_DEVIATION, DRAFT = 140.0, 5.0, 1.0
THINNEST, THICKER = 10.0, 20.0  # degrees that a bag takes from the bar
PRESSED = (0.0, 0.0, 1.0, 0.5, 0.0)
MATTERS = (0.2, 0.2, 1.0, 1.0, 0.2)
ENERGY = 0.25


class Heater(Plant):
    """State: temperature of the bar. Action: duty of its relay. Parts: power and lag of the bar."""

    ranges: ClassVar = {"temperature": (50.0, 250.0, "°C"), "duty": (0.0, 100.0, "%")}

    def draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        drawn = np.clip(draws.normal(generator, (episodes, 1)), -3.0, 3.0)
        return self.sensor.coordinate(START + START_DEVIATION * drawn)

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        bar, duty = self.sensor.raw(states[:, 0]), actions[:, 0]
        settles = ROOM + POWER * self.parts[0] * duty
        bag = (THINNEST + THICKER * self.c) * self.at(h, PRESSED)
        state = self.sensor.coordinate(bar + LAG * self.parts[1] * (settles - bar) - bag + DRAFT * noise[:, 0])
        miss = np.minimum(np.abs(self.sensor.raw(state) - SEAL) / WORST, 1.0)
        matters = self.at(h, MATTERS)
        return 1.0 - matters * miss - (1.0 - matters) * ENERGY * duty, state[:, None]

    def rules(self) -> dict[str, Policy]:
        """A PI loop tuned for these rewards, and one whose set points are tuned for each period."""
        policies = super().rules()
        policies["pi"] = self.loop([SEAL], 0.1, 0.15)
        policies["planned-pi"] = self.loop([150.0, 154.0, 176.0, 166.0, 154.0], 3.0, 0.0)
        return policies


register_problem("plant-heater", Heater)
