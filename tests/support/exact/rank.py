"""SPEC 5.11 to 5.16: which of the balls of a state is the best."""

from __future__ import annotations

from dataclasses import dataclass

from adamb.firmware_model import _spec as spec
from support.exact import numbers as num
from support.exact.memory import Record
from support.exact.model import Model


@dataclass
class Ball:
    """A ball relevant to a state; `record` is None for an unvisited one, `parent` for the root."""

    surplus: int
    expected: int
    action: int
    level: int
    record: Record | None
    parent: Record | None


@dataclass
class Choice:
    ball: Ball
    lift: int


def choose(m: Model, h: int, balls: list[Ball], played: list[int]) -> Choice:
    """`played`: the mean rewards on the way to the ball that the state plays, in the format of values."""
    part = share_of_future(m, h)
    lifts = [lift_of(ball, played) for ball in balls]
    keys = [
        ball.surplus + spec.SURPLUS_ZERO + lift + (ball.expected * part >> 8)
        for ball, lift in zip(balls, lifts, strict=True)
    ]
    if not m.paper and h + 1 < m.horizon:
        follow_effect(m, h, counted(balls))
    best = max(range(len(balls)), key=lambda i: (keys[i], not m.paper and balls[i].record is not None, -i))
    return Choice(balls[best], lifts[best])


def lift_of(ball: Ball, played: list[int]) -> int:
    """How much better than its parent's samples say an unvisited ball may be at this state."""
    if ball.record or not ball.parent or not played:
        return 0
    above = played[ball.level - 1] if ball.level <= len(played) else played[-1]
    return max(0, played[-1] - above) * spec.RANK_LIFT >> spec.RANK_LIFT_SHIFT


def share_of_future(m: Model, h: int) -> int:
    """The part of an expectation that counts, in 256ths: none where actions do not move what follows."""
    if m.paper or h + 1 == m.horizon:
        return 256
    home = m.home(h)
    effect = home.effect << (spec.EFFECT_SCALE_SHIFT - spec.SPREAD_SCALE_SHIFT)
    return 256 - (home.spread << 8) // effect if effect > home.spread else 0


def counted(balls: list[Ball]) -> list[tuple[int, Ball]]:
    """The visited balls that count, with their m."""
    out: list[tuple[int, Ball]] = []
    for ball in balls:
        if ball.record and sum(m for m, _ in out) < spec.RANK_MOST:
            out.append((min(ball.record.n, spec.RANK_SAMPLES), ball))
    return out


def follow_effect(m: Model, h: int, counting: list[tuple[int, Ball]]) -> None:
    n = sum(weight for weight, _ in counting)
    if len(counting) < 2 or n <= 1:
        return
    home, bits = m.home(h), m.f - spec.EFFECT_BITS
    first = counting[0][1].expected >> bits
    apart = [
        (weight, num.clamp((ball.expected >> bits) - first, -spec.EFFECT_MOST, spec.EFFECT_MOST))
        for weight, ball in counting
    ]
    a = abs(sum((weight * x for weight, x in apart), m.number(0)))
    squares = sum((weight * x * x for weight, x in apart), m.number(0))
    s = num.shift(n)
    mean = num.mean(num.shifted(a, s) << 6, num.shifted(n, s), m.reciprocal) >> 6
    between = (squares - mean * (2 * a - mean * n)) >> spec.EFFECT_SCALE_SHIFT
    others = len(counting) - 1
    s = num.shift(others)
    variance = num.mean(
        num.shifted(min(between, others * spec.EFFECT_TOP), s), num.shifted(others, s), m.reciprocal
    )
    home.effect = num.drift(home.effect, variance, spec.EFFECT_SHIFT, m.rng)
