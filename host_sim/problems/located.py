"""Problems whose instances differ in one number of [0,1], the location that drift moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.host_sim.problem import Problem


class LocatedProblem(Problem):
    """`c` is the location; `--drift half` mirrors it, `--drift walk` moves it up to the borders."""

    trusted = True
    #: (n,) location of each instance.
    c: np.ndarray

    def set_location(self, location: float) -> None:
        """Put every instance at `location`; a subclass calls this in `setup`."""
        self.c = np.full(self.n, float(location))
        self.drift_width = 1

    def mirror(self) -> None:
        self.c = 1.0 - self.c

    def walk(self, steps: np.ndarray) -> None:
        self.c = np.clip(self.c + steps[:, 0], 0.0, 1.0)

    def describe_instance(self, i: int) -> dict[str, Any]:
        return {**super().describe_instance(i), "c": float(self.c[i])}
