"""What the reference of `tracking` measures besides its balls, once for every partition.

Real numbers in the place of the *tree words* of the core: rewards in units of the reward, variances in
squares of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from adamb.firmware_model import _spec

AUTO_FACTOR = 0.5**_spec.AUTO_BONUS_SHIFT
#: By how much of the difference rewards are followed, in a partition of one step and in one of all steps.
REWARD_RATE, REWARD_RATE_SHARED = 0.5**_spec.REWARD_SHIFT, 0.5**_spec.REWARD_SHIFT_SHARED
NOISE_RATE, EFFECT_RATE = 0.5**_spec.NOISE_SHIFT, 0.5**_spec.EFFECT_SHIFT
NOISE_UNIT = 1 / (1 << 15)
NOISE_LEAST, NOISE_MOST = _spec.NOISE_LEAST * NOISE_UNIT, _spec.VALUE_MAX * NOISE_UNIT
EFFECT_UNIT = 0.5**_spec.EFFECT_BITS
FAR_MOST = _spec.EFFECT_MOST * EFFECT_UNIT
EFFECT_TOP = (_spec.EFFECT_TOP << _spec.EFFECT_SCALE_SHIFT) * EFFECT_UNIT**2


class Measures:
    """Rewards, noise of the samples, and how much the actions of a state move what follows."""

    __slots__ = ("effect", "mean_reward", "noise", "spread", "top_reward")

    def __init__(self) -> None:
        self.mean_reward, self.top_reward = 0.0, 1.0
        self.noise = _spec.NOISE_START * NOISE_UNIT
        self.spread, self.effect = 0.0, EFFECT_TOP

    def follow_reward(self, reward: float, rate: float, fall: float) -> None:
        """The mean moves by `rate` of the difference, and the best reward falls by `fall` of it."""
        mean, top = self.mean_reward, self.top_reward
        self.mean_reward = mean + (reward - mean) * rate
        self.top_reward = max(reward, top - max(top - mean, 0.0) * fall)

    def auto_bonus(self) -> float:
        """A part of what the best rewards are above their mean."""
        return AUTO_FACTOR * max(self.top_reward - self.mean_reward, 0.0)

    def follow_spread(self, off: float) -> None:
        """How far next values are from their expectation, squared; one that is far off is cut."""
        far = min(abs(off), self.noise * _spec.EFFECT_NOISE, FAR_MOST)
        self.spread += (far * far - self.spread) * EFFECT_RATE

    def follow_noise(self, off: float) -> None:
        """Towards the median of how far samples are from what their balls predict."""
        step = self.noise * NOISE_RATE
        moved = self.noise + step if abs(off) > self.noise else self.noise - step
        self.noise = min(max(moved, NOISE_LEAST), NOISE_MOST)

    def follow_effect(self, weighted: Sequence[tuple[int, float]]) -> None:
        """The variance, between the visited balls of a state, of the value that each expects to follow."""
        total = sum(weight for weight, _ in weighted)
        if len(weighted) < 2 or total <= 1:
            return
        first = weighted[0][1]
        apart = [(weight, min(max(e - first, -FAR_MOST), FAR_MOST)) for weight, e in weighted]
        mean = sum(weight * x for weight, x in apart) / total
        between = sum(weight * (x - mean) ** 2 for weight, x in apart) / (len(apart) - 1)
        self.effect += (min(between, EFFECT_TOP) - self.effect) * EFFECT_RATE

    def share_of_future(self) -> float:
        """The part of an expectation that counts when balls are compared: none where all of it is noise."""
        return 1 - self.spread / self.effect if self.effect > self.spread else 0.0
