"""What pictures and tests see of a float64 learner: its active balls, its state cells, its bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from adamb.host_sim.agents.reference.learner import Learner
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
