"""Blocks that have learnt something, for what reads them: an engine, a chip, an interrupt handler."""

from __future__ import annotations

import random
from array import array
from types import SimpleNamespace
from typing import Any

from adamb.firmware_model.host import binding
from adamb.tools.device.settings import DeviceSettings

DIMENSIONS = [(d_s, d_a) for d_s in (1, 2, 3) for d_a in (1, 2, 3)]


def point(rng: random.Random, dims: int) -> list[int]:
    """Near the borders of cells as often as anywhere."""
    return [rng.choice((0, 65535, 32768, 32767, rng.randrange(65536))) for _ in range(dims)]


def controller(d_s: int, d_a: int, horizon: int, words: int, seed: int, **options: Any) -> Any:
    """A C controller in a block of its own."""
    settings = DeviceSettings(d_s, d_a, horizon, seed=seed, **options)
    made = binding.init(SimpleNamespace(**settings.fields()), array("H", bytes(2 * words)))
    assert not isinstance(made, int), made
    return made


def learnt(
    d_s: int, d_a: int, horizon: int, words: int, *, seed: int, episodes: int = 150, **options: Any
) -> Any:
    """A C controller that has played: the nearer the action is to the state, the better."""
    rng = random.Random(seed)
    made, action = controller(d_s, d_a, horizon, words, seed, **options), array("H", bytes(2 * d_a))
    for _ in range(episodes):
        for h in range(horizon):
            state = point(rng, d_s)
            assert made.act(h, state, action) == 0
            assert made.observe(h, 65535 - abs(action[0] - state[0]), point(rng, d_s)) == 0
        assert made.end_episode() == 0
    return made
