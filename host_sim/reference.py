"""The float64 reference of AdaMB: the paper as corrected, the authors' program, and `tracking`, by options.

It is the oracle of the integer core and the only place where the full bonuses, the Lipschitz envelope, full
planning and d_S > 2 exist. It keeps every ball for ever: it has no budget.

Options (default in paper mode / in tracking mode where they differ; the defaults are those of the core):

==============  =====================================================================================
mode            tracking | paper (paper when deviations are given)
bonus           c of c/sqrt(n), `theory` (R-BONUS + T-BONUS), `auto` (c = (1 - mean reward)/2): 0.25 / auto
gamma, phi      split threshold phi*2^(gamma*level): d_S+2 (d_S <= 2) or d_S, H^((d+d_S)/(d+1)) / 2, 1
split           own / inherited: whose samples the split test counts
planning        one-step | full: the ball that was played, or all balls at the end of the episode
action          centre | random: of the action side of the ball
envelope        on | off: V^ of Equation (def-V); on with bonus=theory, else off
delta           failure probability of the bounds (0.05)
L_r, L_T, L_V   Lipschitz constants of rewards, transitions and values (1)
c_T             the universal constant c of T-BONUS (1)
initial         remaining (H-h+1) | horizon (H): the first Q and V
q_rule, v_rule  free | decreasing: free, decreasing / free, free
transitions     dyadic | induced | nearest: which cell of the next states a sample is counted in
cells           half-open | closed: whether a state on a border is in one half or in both
ties            low | high: which action code wins among equal Q
deviations      authors, or names of reference_settings.DEVIATIONS (paper mode only)
==============  =====================================================================================

The regret and PAC guarantees of the paper cover paper mode with bonus=theory, not tracking. The integer core
takes the min in Q as well as in V in its paper mode: compare it with q_rule=decreasing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.agents import Agent, generators
from adamb.host_sim.reference_learner import Learner
from adamb.host_sim.reference_settings import make_settings
from adamb.host_sim.reference_tree import Ball, StateCells, cell_bounds

INTEGER, FLOAT, PAIR = 28, 24, 56
"""Bytes of an int, a float and a 2-tuple in 64-bit CPython."""
SHARED_INTEGERS = 256


@dataclass(frozen=True)
class Leaf:
    """One active ball as pictures and tests see it; bounds are exact dyadic numbers."""

    level: int
    state_low: tuple[float, ...]
    state_high: tuple[float, ...]
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    own_n: int
    """Samples of this ball alone."""
    n: float
    """With its ancestors' weighted samples: what the bonus divides by."""
    reward: float
    """r-bar; 0 before the first sample."""
    q: float
    next_states: dict[tuple[tuple[float, ...], tuple[float, ...]], float]
    """T-bar: (lower, upper corner) of a cell -> probability; empty before the first sample."""
    ancestor_n: tuple[int, ...]
    """Own samples of every ball above, root first."""


@dataclass(frozen=True)
class StateCell:
    """One cell of the state partition S(P) that a tree induces."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    value: float


class ReferenceAgent(Agent):
    """n float64 learners; a loop over learners, because this code is for reading and comparing."""

    name = "adamb (reference)"
    core = "reference"

    def __init__(
        self,
        *,
        d_s: int,
        d_a: int,
        horizon: int,
        seeds: Sequence[int],
        episodes: int,
        budget_bytes: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(d_s=d_s, d_a=d_a, horizon=horizon, seeds=seeds, episodes=episodes)
        if budget_bytes is not None:
            raise InputError("budget", budget_bytes, "the reference keeps every ball: leave the budget out")
        self.settings = make_settings(d_s, d_a, horizon, episodes, options)
        self.learners = [Learner(self.settings, rng) for rng in generators(self.seeds)]

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        rows = np.asarray(states, dtype=float).tolist()
        return np.array([learner.act(h, row) for learner, row in zip(self.learners, rows, strict=True)])

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        if self.learners and self.learners[0].played[h] is None:
            raise InputError("observe", h, "needs an act of the same step before it")
        received = np.asarray(rewards, dtype=float).tolist()
        rows = np.asarray(next_states, dtype=float).tolist()
        for learner, reward, row in zip(self.learners, received, rows, strict=True):
            learner.observe(h, reward, row)

    def end_episode(self) -> None:
        for learner in self.learners:
            learner.end_episode()

    def bytes_used(self) -> np.ndarray:
        """Bytes of the Python objects that hold what was learned (see learner_bytes)."""
        return np.array([learner_bytes(learner) for learner in self.learners], dtype=np.int64)

    def stats(self) -> dict[str, np.ndarray]:
        """Counters per learner, summed over steps; what only a capped core can do stays 0."""
        learners = self.learners
        none = np.zeros(self.n, dtype=np.int64)
        return {
            "leaves": np.array([learner.leaves for learner in learners]),
            "refused_splits": np.array([learner.refused_splits for learner in learners]),
            "state_cells": np.array([sum(len(c.under(1)) for c in learner.cells) for learner in learners]),
            "deepest_level": np.array([max(learner.depth) for learner in learners]),
            "reclaims": none,
            "saturations": none,
            "restarts": none,
        }

    def describe(self) -> dict[str, Any]:
        return asdict(self.settings)

    # --- read access --------------------------------------------------------------------------------------

    def leaves(self, instance: int, h: int) -> list[Leaf]:
        """The active balls of one learner and step, sorted by state, then action."""
        learner = self.learners[instance]
        found = [self._leaf(learner, ball) for ball in learner.roots[h].walk() if ball.children is None]
        return sorted(found, key=lambda leaf: (leaf.state_low, leaf.action_low))

    def state_cells(self, instance: int, h: int) -> list[StateCell]:
        """S(P) with V~, sorted by position."""
        cells = self.learners[instance].cells[h]
        found = []
        for key in cells.under(1):
            low, high = cell_bounds(key, self.d_s)
            found.append(StateCell(tuple(low), tuple(high), cells.mean[key]))
        return sorted(found, key=lambda cell: cell.low)

    def value(self, instance: int, h: int, state: Sequence[float]) -> float:
        """V^_h(x) of one learner."""
        return self.learners[instance].value(h, list(state))

    def _leaf(self, learner: Learner, ball: Ball) -> Leaf:
        n = ball.prior_n + ball.n
        state_low, state_high = cell_bounds(ball.state_key, self.d_s)
        action_low, action_high = ball.action_bounds()
        next_states = {}
        for key, mass in learner.next_masses(ball).items():
            low, high = cell_bounds(key, self.d_s)
            next_states[tuple(low), tuple(high)] = mass / n
        return Leaf(
            level=ball.level,
            state_low=tuple(state_low),
            state_high=tuple(state_high),
            action_low=tuple(action_low),
            action_high=tuple(action_high),
            own_n=ball.n,
            n=n,
            reward=(ball.prior_reward + ball.reward_sum) / n if n else 0.0,
            q=ball.q,
            next_states=next_states,
            ancestor_n=tuple(above.n for _, above in ball.ancestors),
        )


def learner_bytes(learner: Learner) -> int:
    """sys.getsizeof of every ball, dictionary, list and array, plus the boxed numbers they alone refer to.

    Left out: small integers that CPython shares, the code, and the allocator's rounding. What siblings share
    is counted once, with their parent. Nothing is ever freed, so this is also the peak.
    """
    total = 0
    for root, cells in zip(learner.roots, learner.cells, strict=True):
        total += sum(map(_ball_bytes, root.walk())) + _cells_bytes(cells)
    return total


def _ball_bytes(ball: Ball) -> int:
    total = sys.getsizeof(ball) + sys.getsizeof(ball.action_index) + _keys_bytes([ball.state_key])
    total += sys.getsizeof(ball.next_counts) + _keys_bytes(ball.next_counts)
    if ball.n:
        total += 2 * FLOAT  # q and reward_sum; before the first sample q is the parent's object
    if ball.children is not None:
        first = ball.children[0][0]
        total += sys.getsizeof(ball.children) + sum(map(sys.getsizeof, ball.children))
        total += sys.getsizeof(first.ancestors) + (PAIR + FLOAT) * len(first.ancestors)
        total += 2 * FLOAT  # prior_n and prior_reward
        if first.prior_support is not None:
            total += sum(map(sys.getsizeof, first.prior_support))
    return total


def _keys_bytes(keys: Iterable[int]) -> int:
    return INTEGER * sum(key > SHARED_INTEGERS for key in keys)


def _cells_bytes(cells: StateCells) -> int:
    mean = cells.mean
    return sys.getsizeof(cells) + sys.getsizeof(mean) + FLOAT * len(mean) + _keys_bytes(mean)
