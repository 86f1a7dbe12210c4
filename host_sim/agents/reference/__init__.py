"""The float64 reference of AdaMB: the paper as corrected, and the authors' program.

It is written for reading, and core `double` is its compiled form. It never removes a ball: it has no budget.

Options, with the default first or in brackets; those that the core has too default as in its mode paper:

==============  =====================================================================================
bonus           c of c/sqrt(n) (0.25), `theory` (R-BONUS + T-BONUS), `auto` (c = (1 - mean reward)/2)
gamma, phi      split threshold phi*2^(gamma*level) (d_S+2 or, above d_S = 2, d_S; H^((d+d_S)/(d+1)))
split           own | inherited: whose samples the split test counts
action          centre | random: of the action side of the ball
planning        one-step | full: the ball that was played, or all balls at the end of the episode
envelope        on | off: V^ of Equation (def-V); on with bonus=theory, else off
delta           failure probability of the bounds (0.05)
L_r, L_T, L_V   Lipschitz constants of rewards, transitions and values (1)
c_T             the universal constant c of T-BONUS (1)
initial         remaining (H-h+1) | horizon (H): the first Q and V
q_rule, v_rule  free | decreasing: free, decreasing
transitions     dyadic | induced | nearest: which cell of the next states a sample is counted in
cells           half-open | closed: whether a state on a border is in one half or in both
ties            low | high: which action code wins among equal Q
deviations      authors, or names of settings.DEVIATIONS
==============  =====================================================================================

The regret and PAC guarantees of the paper cover bonus=theory with the envelope, with Lipschitz constants and
c_T that are right for the problem; they cover no mode of the integer core. The core takes the min in Q as
well as in V in its paper mode: compare it with q_rule=decreasing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.agents import Agent, Shape, generators
from adamb.host_sim.agents.reference.learner import Learner
from adamb.host_sim.agents.reference.settings import make_settings
from adamb.host_sim.agents.reference.tree import Ball, StateCells, cell_bounds

INTEGER, FLOAT = 28, 24
"""Bytes of an int and a float in 64-bit CPython."""
SHARED_INTEGERS = 256


@dataclass(frozen=True)
class Leaf:
    """One active ball; bounds are exact dyadic numbers."""

    level: int
    state_low: tuple[float, ...]
    state_high: tuple[float, ...]
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    own_n: int
    """Samples of this ball alone."""
    n: int
    """With what it inherits: what the bonus divides by."""
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


def view_leaf(learner: Learner, ball: Ball) -> Leaf:
    d_s = learner.settings.d_s
    state_low, state_high = cell_bounds(ball.state_key, d_s)
    width, n = 0.5**ball.level, ball.prior_n + ball.n
    next_states = {}
    for key, mass in learner.next_masses(ball).items():
        low, high = cell_bounds(key, d_s)
        next_states[tuple(low), tuple(high)] = mass / n
    return Leaf(
        level=ball.level,
        state_low=tuple(state_low),
        state_high=tuple(state_high),
        action_low=tuple(i * width for i in ball.action_index),
        action_high=tuple((i + 1) * width for i in ball.action_index),
        own_n=ball.n,
        n=n,
        reward=(ball.prior_reward + ball.reward_sum) / n if n else 0.0,
        q=ball.q,
        next_states=next_states,
        ancestor_n=tuple(above.n for above in ball.ancestors),
    )


def view_cells(learner: Learner, h: int) -> Iterator[StateCell]:
    """S(P) with V~."""
    d_s, cells = learner.settings.d_s, learner.cells[h]
    for key in cells.under(1):
        low, high = cell_bounds(key, d_s)
        yield StateCell(tuple(low), tuple(high), cells.mean[key])


# --- bytes ------------------------------------------------------------------------------------------------


def learner_bytes(learner: Learner) -> int:
    """sys.getsizeof of every ball, dictionary, list and array, plus the boxed numbers they alone refer to.

    Left out: small integers that CPython shares, the code, and the allocator's rounding. What siblings share
    is counted once, with their parent. Nothing is ever freed, so this is also the peak.
    """
    balls = sum(_ball_bytes(ball) for root in learner.roots for ball in root.walk())
    return balls + sum(_cells_bytes(cells) for cells in learner.cells)


def _ball_bytes(ball: Ball) -> int:
    total = sys.getsizeof(ball) + sys.getsizeof(ball.action_index) + _keys_bytes([ball.state_key])
    if ball.n:
        total += 2 * FLOAT  # reward and Q; before the first sample the latter is the parent's
    total += sys.getsizeof(ball.next_counts) + _keys_bytes(ball.next_counts)
    if ball.children is not None:
        first = ball.children[0][0]
        total += sys.getsizeof(ball.children) + sum(map(sys.getsizeof, ball.children))
        total += sys.getsizeof(first.ancestors) + FLOAT + _keys_bytes([first.prior_n])
        if first.prior_support is not None:
            total += sum(map(sys.getsizeof, first.prior_support))
    return total


def _keys_bytes(keys: Iterable[int]) -> int:
    return INTEGER * sum(key > SHARED_INTEGERS for key in keys)


def _cells_bytes(cells: StateCells) -> int:
    total = sys.getsizeof(cells) + sys.getsizeof(cells.mean) + FLOAT * len(cells.mean)
    return total + _keys_bytes(cells.mean)


class ReferenceAgent(Agent):
    """n float64 learners; a loop over learners, because this code is for reading and comparing."""

    name = "adamb (reference)"
    core = "reference"

    def __init__(self, shape: Shape, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        super().__init__(shape)
        if budget_bytes is not None:
            raise InputError("budget", budget_bytes, "the reference keeps every ball: leave the budget out")
        self.settings = make_settings(self.d_s, self.d_a, self.horizon, self.episodes, options)
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
        return self.settings.describe()

    # --- read access --------------------------------------------------------------------------------------

    def leaves(self, instance: int, h: int) -> list[Leaf]:
        """The active balls of one learner and step, sorted by state, then action."""
        learner = self.learners[instance]
        found = [view_leaf(learner, ball) for ball in learner.roots[h].walk() if ball.children is None]
        return sorted(found, key=lambda leaf: (leaf.state_low, leaf.action_low))

    def state_cells(self, instance: int, h: int) -> list[StateCell]:
        """The state partition with V~, sorted by position."""
        return sorted(view_cells(self.learners[instance], h), key=lambda cell: cell.low)

    def value(self, instance: int, h: int, state: Sequence[float]) -> float:
        """V^_h(x) of one learner."""
        return self.learners[instance].value(h, list(state))
