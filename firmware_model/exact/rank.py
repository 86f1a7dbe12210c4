"""SPEC 5.11 to 5.14: which of the balls of a state is the best."""

from __future__ import annotations

from dataclasses import dataclass

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact import numbers as num
from adamb.firmware_model.exact.memory import Record
from adamb.firmware_model.exact.model import Model


@dataclass
class Ball:
    """A ball relevant to a state; `record` is None for an unvisited one."""

    surplus: int
    expected: int
    action: int
    level: int
    record: Record | None


def choose(m: Model, h: int, balls: list[Ball]) -> Ball:
    part = share_of_future(m, h)
    if not m.paper and not m.is_last(h):
        follow_effect(m, h, counted(balls))
    return max(balls, key=lambda ball: ball.surplus + (ball.expected * part >> 8))


def share_of_future(m: Model, h: int) -> int:
    """The part of an expectation that counts, in 256ths: none where actions do not move what follows."""
    if m.paper or m.is_last(h):
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
    differences = [
        (weight, num.clamp((ball.expected >> bits) - first, -spec.EFFECT_MOST, spec.EFFECT_MOST))
        for weight, ball in counting
    ]
    a = abs(sum(weight * x for weight, x in differences))
    squares = sum(weight * x * x for weight, x in differences)
    s = num.shift(n)
    mean = num.mean(num.shifted(a, s) << 6, num.shifted(n, s), m.reciprocal) >> 6
    between = (squares - mean * (2 * a - mean * n)) >> spec.EFFECT_SCALE_SHIFT
    others = len(counting) - 1
    s = num.shift(others)
    variance = num.mean(num.shifted(min(between, others * spec.EFFECT_TOP), s), num.shifted(others, s), m.reciprocal)
    home.effect = num.moving_average(home.effect, variance, spec.EFFECT_SHIFT, m.rng)
