"""What pictures and tests see of a float64 learner: its active balls, its state cells, its bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from adamb.host_sim.agents.reference.learner import Learner
from adamb.host_sim.agents.reference.tracked import TrackedBall, inherited_weight
from adamb.host_sim.agents.reference.tracking import TrackingLearner
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
    n: float
    """With what it inherits: what the bonus divides by."""
    reward: float
    """r-bar (tracking: of the ball's own samples); 0 before the first sample."""
    q: float
    next_states: dict[tuple[tuple[float, ...], tuple[float, ...]], float]
    """T-bar: (lower, upper corner) of a cell -> probability; empty before the first sample.
    Tracking: by the ball's own samples, or its parent's while it has none."""
    ancestor_n: tuple[int, ...]
    """Own samples of every ball above, root first."""


@dataclass(frozen=True)
class StateCell:
    """One cell of the state partition S(P) that a tree induces."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    value: float


def view_leaf(learner: Any, h: int, ball: Any) -> Leaf:
    """The ball as seen by step h."""
    d_s = learner.settings.d_s
    state_low, state_high = cell_bounds(ball.state_key, d_s)
    width = 0.5**ball.level
    numbers = _tracked(learner, h, ball) if isinstance(learner, TrackingLearner) else _paper(learner, ball)
    masses = numbers.pop("masses")
    next_states = {}
    for key, mass in masses.items():
        low, high = cell_bounds(key, d_s)
        next_states[tuple(low), tuple(high)] = mass
    return Leaf(
        level=ball.level,
        state_low=tuple(state_low),
        state_high=tuple(state_high),
        action_low=tuple(i * width for i in ball.action_index),
        action_high=tuple((i + 1) * width for i in ball.action_index),
        own_n=ball.n,
        next_states=next_states,
        **numbers,
    )


def _paper(learner: Learner, ball: Ball) -> dict[str, Any]:
    n = ball.prior_n + ball.n
    return {
        "n": n,
        "reward": (ball.prior_reward + ball.reward_sum) / n if n else 0.0,
        "q": ball.q,
        "masses": {key: mass / n for key, mass in learner.next_masses(ball).items()},
        "ancestor_n": tuple(above.n for above in ball.ancestors),
    }


def _tracked(learner: TrackingLearner, h: int, ball: TrackedBall) -> dict[str, Any]:
    source = ball if ball.n else ball.parent
    counts = [] if source is None else source.next_counts
    total = sum(count for _, count in counts)
    return {
        "n": ball.n + inherited_weight(ball),
        "reward": ball.reward,
        "q": learner.clip(h, learner.q(h, ball)),
        "masses": {key: count / total for key, count in counts},
        "ancestor_n": tuple(above.n for above in ball.ancestors())[::-1],
    }


def view_cells(learner: Any, h: int) -> Iterator[StateCell]:
    """S(P) with V~. The keys of tracking are binary, so their bits go to the coordinates in turn."""
    d_s, cells = learner.settings.d_s, learner.cells[h]
    for key in cells.under(1):
        low, size = [0.0] * d_s, [1.0] * d_s
        for i, bit in enumerate(f"{key:b}"[1:]):
            size[i % d_s] /= 2
            low[i % d_s] += int(bit) * size[i % d_s]
        high = tuple(a + b for a, b in zip(low, size, strict=True))
        yield StateCell(tuple(low), high, cells.mean[key])


# --- bytes ------------------------------------------------------------------------------------------------


def learner_bytes(learner: Any) -> int:
    """sys.getsizeof of every ball, dictionary, list and array, plus the boxed numbers they alone refer to.

    Left out: small integers that CPython shares, the code, and the allocator's rounding. What siblings share
    is counted once, with their parent. Nothing is ever freed, so this is also the peak.
    """
    ball_bytes: Any = _tracked_bytes if isinstance(learner, TrackingLearner) else _ball_bytes
    roots = {id(root): root for root in learner.roots}.values()
    return sum(ball_bytes(ball) for root in roots for ball in root.walk()) + sum(
        _cells_bytes(cells) for cells in learner.cells
    )


def _common_bytes(ball: Any) -> int:
    total = sys.getsizeof(ball) + sys.getsizeof(ball.action_index) + _keys_bytes([ball.state_key])
    if ball.n:
        total += 2 * FLOAT  # reward and Q (or surplus); before the first sample the latter is the parent's
    if ball.children is not None:
        total += sys.getsizeof(ball.children) + sum(map(sys.getsizeof, ball.children))
    return total + sys.getsizeof(ball.next_counts)


def _ball_bytes(ball: Ball) -> int:
    total = _common_bytes(ball) + _keys_bytes(ball.next_counts)
    if ball.children is not None:
        first = ball.children[0][0]
        total += sys.getsizeof(first.ancestors) + FLOAT + _keys_bytes([first.prior_n])
        if first.prior_support is not None:
            total += sum(map(sys.getsizeof, first.prior_support))
    return total


def _tracked_bytes(ball: TrackedBall) -> int:
    entries = ball.next_counts
    return _common_bytes(ball) + sum(map(sys.getsizeof, entries)) + _keys_bytes(key for key, _ in entries)


def _keys_bytes(keys: Iterable[int]) -> int:
    return INTEGER * sum(key > SHARED_INTEGERS for key in keys)


def _cells_bytes(cells: StateCells) -> int:
    total = sys.getsizeof(cells) + sys.getsizeof(cells.mean) + FLOAT * len(cells.mean)
    total += _keys_bytes(cells.mean)
    best = getattr(cells, "best", None)
    if best is not None:
        total += sys.getsizeof(best)
        total += sum(sys.getsizeof(action) + FLOAT * len(action) for action in set(best.values()))
    return total
