"""Set the brightness of a display by a light sensor: how bright is right is the taste of its user.

Nobody can write that taste down, but the user corrects the brightness with a knob, and the correction is the
cost. A period is five seconds; the light around changes at random. Location c is how bright it must be before
the user wants half the brightness; parts are the sensor and how bright the user wants it in the sun.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from adamb.host_sim.problem import Policy
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.plant.common import Plant

WORST, ENERGY = 0.5, 0.1  # a correction of half the range loses everything; what full brightness costs
DARKEST, LIGHTEST = 0.1, 0.5
AT_NIGHT, BY_DAY = 0.05, 0.8
WEATHER = 0.15


class Light(Plant):
    """State: what the light sensor reads. Action: brightness."""

    ranges: ClassVar = {"light": (0.0, 4095.0, "counts"), "brightness": (0.0, 100.0, "%")}

    def wish(self, sensed: np.ndarray) -> np.ndarray:
        half = (DARKEST + LIGHTEST * self.c) * self.parts[0]
        return AT_NIGHT + BY_DAY * self.parts[1] * sensed * sensed / (sensed * sensed + half * half)

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        correction = np.abs(actions[:, 0] - np.minimum(self.wish(states[:, 0]), 1.0))
        cost = (1.0 - ENERGY) * np.minimum(correction / WORST, 1.0) + ENERGY * actions[:, 0]
        return 1.0 - cost, np.clip(states + WEATHER * noise, 0.0, 1.0)

    def rules(self) -> dict[str, Policy]:
        """A straight line from the sensor to the brightness, the best for all users, and one brightness."""
        policies = super().rules()
        policies["line"] = lambda h, states: np.clip(0.05 + 0.9 * states, 0.0, 1.0)
        return policies


register_problem("plant-light", Light)
