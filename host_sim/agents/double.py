"""AdaMB as the paper prints it, compiled, in doubles: the reference for runs that Python is too slow for.

It has the options of the float reference, without the departures of the authors' program that
only describe their lists; and one more, `estimates`: with `fresh`, which their program offers too, a new
ball knows nothing but how often its ancestors were played. Like the reference it never removes a ball, so
it has no budget. Baselines are compiled in the same way, so times can be compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import Shape
from adamb.host_sim.agents.reference.settings import ReferenceSettings, make_settings
from adamb.host_sim.compiled import CompiledLearners, as_doubles
from adamb.host_sim.draws import log

LEVELS = 20
MOST_DIMENSIONS = 3
ESTIMATES = ("inherited", "fresh")
FIXED = {"initial": "remaining", "v_rule": "decreasing", "transitions": "dyadic", "cells": "half-open",
         "ties": "low"}  # fmt: skip
"""Options that only the reference can vary."""


class DoubleAgent(CompiledLearners):
    """n learners in compiled memory."""

    name = "adamb (double)"
    core = "double"
    c_name = "paper"

    def __init__(self, shape: Shape, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        super().__init__(shape)
        if budget_bytes is not None:
            raise InputError("budget", budget_bytes, "core double keeps every ball: leave the budget out")
        for field, size in (("d_s", self.d_s), ("d_a", self.d_a)):
            if not 1 <= size <= MOST_DIMENSIONS:
                raise InputError(field, size, f"core double takes 1 to {MOST_DIMENSIONS} dimensions")
        self.estimates = options.pop("estimates", None) or "inherited"
        if self.estimates not in ESTIMATES:
            raise InputError("estimates", self.estimates, f"must be one of {', '.join(ESTIMATES)}")
        self.settings = make_settings(self.d_s, self.d_a, self.horizon, self.episodes, options)
        _check(self.settings)
        self._make(self._config())

    def _config(self) -> Any:
        chosen, config = self.settings, ffi.new("paper_config *")
        config.n, config.d_s, config.d_a, config.horizon = self.n, self.d_s, self.d_a, self.horizon
        config.own, config.full = chosen.split == "own", chosen.planning == "full"
        config.fresh, config.decreasing = self.estimates == "fresh", chosen.q_rule == "decreasing"
        config.random_action, config.theory = chosen.action == "random", chosen.bonus == "theory"
        config.envelope = chosen.envelope
        config.bonus = 0.0 if isinstance(chosen.bonus, str) else chosen.bonus
        samples = chosen.horizon * chosen.episodes**2 / chosen.delta
        config.log_r, config.log_t = float(log(2 * samples)), float(log(samples))
        config.l_r, config.l_t, config.l_v, config.c_t = chosen.L_r, chosen.L_T, chosen.L_V, chosen.c_T
        config.threshold = [float(value) for value in chosen.thresholds[:LEVELS]]
        return config

    def balls(self, learner: int, h: int, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """(m, 3) Q, level and own samples of the balls of one learner at m pairs of a state and an action."""
        found = np.empty((len(states), 3))
        lib.paper_balls(
            self._learners, learner, h, len(states), as_doubles(states), as_doubles(actions),
            ffi.from_buffer("double[]", found),
        )  # fmt: skip
        return found

    def _counters(self) -> np.ndarray:
        counters = np.zeros((self.n, 4), dtype=np.int64)
        lib.paper_counters(self._learners, ffi.from_buffer("int64_t[]", counters))
        return counters

    def bytes_used(self) -> np.ndarray:
        """Of balls, counts of next states and cells as they lie in memory; no ball is ever removed."""
        return self._counters()[:, 3]

    def stats(self) -> dict[str, np.ndarray]:
        counters = self._counters()
        none = np.zeros(self.n, dtype=np.int64)
        return {
            "leaves": counters[:, 0],
            "entries": counters[:, 1],
            "deepest_level": counters[:, 2],
            "refused_splits": none,
            "reclaims": none,
            "saturations": none,
            "restarts": none,
        }

    def describe(self) -> dict[str, Any]:
        return {**self.settings.describe(), "estimates": self.estimates}


def _check(settings: ReferenceSettings) -> None:
    for field, only in FIXED.items():
        value = getattr(settings, field)
        if value != only:
            raise InputError(field, value, f"core double has {field}={only} alone; --core reference has both")
    if settings.bonus == "auto":
        raise InputError("bonus", "auto", "core double takes a number or theory")
