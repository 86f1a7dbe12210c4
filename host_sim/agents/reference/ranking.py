"""Which of the balls of a state is the best, in the reference of `tracking`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adamb.firmware_model import _spec
from adamb.host_sim.agents.reference.measures import Measures
from adamb.host_sim.agents.reference.tracked import TrackedBall


class Ranked(NamedTuple):
    """A ball of the state and the value that is expected to follow it."""

    ball: TrackedBall
    expected: float


class Choice(NamedTuple):
    ball: TrackedBall
    q: float


def choose(ranked: Sequence[Ranked], measures: Measures, played: Sequence[float], *, last: bool) -> Choice:
    """The best ball and its Q, not clipped; what the comparison shows of the effect of actions is kept.

    Balls are compared by their surplus and the part of their expectation that is more than noise. An
    unvisited one is raised by its lift, for which `played` holds the mean rewards on the way to the ball that
    is played, root first. Of equals a visited one wins, then the first.
    """
    part = 1.0 if last else measures.share_of_future()
    if not last:
        counted = _counted([one for one in ranked if one.ball.n])
        measures.follow_effect([(weight, one.expected) for weight, one in counted])
    lifts = [_lift(one.ball, played) for one in ranked]

    def key(i: int) -> tuple[float, bool]:
        ball, expected = ranked[i]
        return ball.surplus + lifts[i] + expected * part, ball.n > 0

    best = max(range(len(ranked)), key=key)
    return Choice(ranked[best].ball, ranked[best].ball.surplus + lifts[best] + ranked[best].expected)


def _counted(visited: Sequence[Ranked]) -> list[tuple[int, Ranked]]:
    """The visited balls that count, each with its weight."""
    found: list[tuple[int, Ranked]] = []
    total = 0
    for one in visited:
        if total >= _spec.RANK_MOST:
            break
        weight = min(one.ball.n, _spec.RANK_SAMPLES)
        found.append((weight, one))
        total += weight
    return found


def _lift(ball: TrackedBall, played: Sequence[float]) -> float:
    """How much better than its parent's samples say an unvisited ball may be at this state.

    The samples of the record of the parent's size above the ball that is played came from the same states.
    """
    if ball.n or ball.parent is None or not played:
        return 0.0
    above = played[min(ball.level, len(played)) - 1]
    return max(0.0, played[-1] - above) * _spec.RANK_LIFT / 2**_spec.RANK_LIFT_SHIFT
