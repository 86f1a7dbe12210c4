"""Choose a processor's clock while it decodes a film: a heavy picture, then light ones, again and again.

A period is a picture of 40 ms. A faster clock needs a higher voltage, so that power grows faster than the
clock; work that is left when a picture is due makes it late. Location c is how rich the pictures are.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from adamb.host_sim.problem import Policy
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.plant.common import Plant

WORK = (1.0, 0.45, 0.25, 0.45, 0.25)  # of the five pictures, for a film of c = 0.8
PLAIN, RICH, SCENE = 0.6, 0.5, 0.08
FASTEST = 120.0
LATE = 0.4  # a backlog of so many periods is as bad as any
STEP = 0.25


class Clock(Plant):
    """State: work left, in periods at the fastest clock. Action: the clock. Parts: work and energy."""

    ranges: ClassVar = {"backlog": (0.0, 1.0, "periods"), "clock": (24.0, 120.0, "MHz")}

    def draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return 0.05 * generator.random((episodes, 1))

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        speed = self.actuator.raw(actions[:, 0]) / FASTEST
        work = (PLAIN + RICH * self.c) * self.parts[0] * self.at(h, WORK) * (1.0 + SCENE * noise[:, 0])
        left = np.clip(states[:, 0] + np.maximum(work, 0.0) - speed, 0.0, 1.0)
        volts = 0.5 + 0.5 * speed
        energy = np.minimum(self.parts[1] * speed * volts * volts, 1.0)
        return 1.0 - 0.5 * energy - 0.5 * np.minimum(left / LATE, 1.0), left[:, None]

    def rules(self) -> dict[str, Policy]:
        """Governors: always fast, always slow, a step up or down by the backlog, and PI loops over it."""
        policies = super().rules()
        policies["performance"] = lambda h, states: np.ones((len(states), 1))
        policies["powersave"] = lambda h, states: np.zeros((len(states), 1))
        policies["conservative"] = Conservative()
        policies["pi"] = self.loop([0.2], -1.0, 0.0)
        policies["planned-pi"] = self.loop([-0.25, 0.18, 0.35, 0.18, 0.35], -1.3, 0.0)
        return policies


class Conservative:
    """One step faster while work is left, one step slower while none is."""

    def __init__(self) -> None:
        self.action: np.ndarray | None = None

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        before = np.full((len(states), 1), 0.5) if self.action is None else self.action
        self.action = np.clip(before + np.where(states[:, :1] > 0.0, STEP, -STEP), 0.0, 1.0)
        return self.action.copy()


register_problem("plant-clock", Clock)
