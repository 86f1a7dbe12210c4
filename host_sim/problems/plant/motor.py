"""Repeat a move with a DC motor: the same five speeds, again and again, as a wiper or a feeder does.

A period is 20 ms, about the time constant of the motor, because the encoder counts no faster. Below a dead
band of the duty cycle brushes and gear hold the motor; the dead band depends on the load (location c).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from adamb.host_sim.problem import Policy
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.plant.common import Plant

MOVE = (1050.0, 2400.0, 2400.0, 1650.0, 600.0)
WORST = 900.0  # revolutions per minute; so far from the move everything is lost
FASTEST, LAG, RIPPLE = 3450.0, 0.5, 30.0
FREE, LOADED = 0.05, 0.2  # dead band without a load, and what the load adds


class Motor(Plant):
    """State: speed. Action: duty cycle of its bridge. Parts: voltage and inertia."""

    ranges: ClassVar = {"speed": (0.0, 3000.0, "rpm"), "duty": (0.0, 100.0, "%")}

    def draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return 0.02 * generator.random((episodes, 1))

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        speed, dead = self.sensor.raw(states[:, 0]), FREE + LOADED * self.c
        settles = FASTEST * self.parts[0] * np.maximum(actions[:, 0] - dead, 0.0) / (1.0 - dead)
        state = self.sensor.coordinate(speed + LAG * self.parts[1] * (settles - speed) + RIPPLE * noise[:, 0])
        miss = np.abs(self.sensor.raw(state) - self.at(h, MOVE))
        return 1.0 - np.minimum(miss / WORST, 1.0), state[:, None]

    def rules(self) -> dict[str, Policy]:
        """A PI loop that follows the move, tuned for these rewards, and one with tuned set points."""
        policies = super().rules()
        policies["pi"] = self.loop(MOVE, 0.7, 0.6)
        policies["planned-pi"] = self.loop([750.0, 2490.0, 2550.0, 1440.0, 120.0], 0.73, 0.37)
        return policies


register_problem("plant-motor", Motor)
