"""The paper's table of running times, judged pair by pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from adamb.host_sim.runner import Estimate, estimate
from adamb.host_sim.studies.claims import FULL_PLANNING, Verdict, decide, high, low

PAPER_SECONDS = {
    "1 ambulance": {"AdaMB": 8.07, "AdaQL": 0.90, "epsilonQL": 1.10, "epsilonMB": 16.59},
    "2 ambulances": {"AdaMB": 22.92, "AdaQL": 1.57, "epsilonQL": 9.54, "epsilonMB": 90.92},
    "oil": {"AdaMB": 5.63, "AdaQL": 1.31, "epsilonQL": 2.21, "epsilonMB": 20.27},
}
"""Table 2 of the paper: seconds of a run of 2000 episodes of the authors' Python programs, with c = 1."""

OURS = ("AdaMB tracking",)
"""Not of the paper: a row of the table, and part of no verdict."""


@dataclass(frozen=True)
class Timing:
    """Microseconds a step of one algorithm, one number a round; all algorithms take part in every round."""

    rounds: np.ndarray

    @property
    def mean(self) -> Estimate:
        return estimate(self.rounds)

    @property
    def fastest(self) -> float:
        """No disturbance can lower it."""
        return float(self.rounds.min())


def pairs(row: str) -> list[tuple[str, str]]:
    """The faster one first: neighbours in the paper's order, model-free and model-based, one-step and full.

    The paper does not say which planning its epsilonMB was timed with, so both are held against it.
    """
    paper = PAPER_SECONDS[row]
    order = sorted(paper, key=lambda name: paper[name])
    found = list(pairwise(order))
    found += [(fast, f"{slow} full") for fast, slow in found if slow == "epsilonMB"]
    found += [("AdaQL", "AdaMB"), ("epsilonQL", "epsilonMB")]
    return found + [(one_step, full) for full, one_step in FULL_PLANNING.items()]


def judge_times(times: Mapping[str, Mapping[str, Timing]]) -> list[Verdict]:
    """Rounds are paired, so a computer that is busy for a while slows both of a pair."""
    found = []
    for row, measured in times.items():
        for pair in pairs(row):
            if not all(name in measured for name in pair):
                continue
            first, second = (measured[name] for name in pair)
            gap = estimate(first.rounds - second.rounds)
            sides = high(gap) < 0, low(gap) >= 0
            figures = f"{first.mean} : {second.mean} µs a step"
            compared = f"{pair[0]} < {pair[1]}"
            found.append(decide("times", row, compared, figures, f"{gap} µs", gap, sides, len(first.rounds)))
    return found
