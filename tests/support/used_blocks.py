"""Blocks of controllers that have learnt for a while, in every corner of the configuration."""

from __future__ import annotations

import random
from array import array
from typing import Any

import numpy as np

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import c_config, ffi, lib
from adamb.firmware_model.host.options import make_config

# Name: d_s, d_a, horizon, options.
CONFIGS = {
    "1+1": (1, 1, 5, {}),
    "1+1 per step": (1, 1, 5, {"share": "off"}),
    "1+1 one step": (1, 1, 1, {"share": "on"}),
    "1+1 long": (1, 1, 31, {"gamma": 1}),
    "2+2": (2, 2, 5, {"share": "on"}),
    "3+3": (3, 3, 7, {"share": "off", "action": "random"}),
    "1+3 freeze": (1, 3, 5, {"when_full": "freeze"}),
    "1+1 paper": (1, 1, 5, {"mode": "paper", "phi": 1}),
    "3+1 paper": (3, 1, 16, {"mode": "paper", "phi": 1}),
    "2+1 paper shared": (2, 1, 4, {"mode": "paper", "phi": 1, "share": "on"}),
}
# The same and the words beyond the least block, for damage.
DAMAGED: dict[str, tuple[int, int, int, dict[str, Any], int]] = {
    "1+1": (1, 1, 5, {}, 200),
    "1+1 per step": (1, 1, 5, {"share": "off"}, 300),
    "1+1 paper": (1, 1, 5, {"mode": "paper", "phi": 1, "share": "off"}, 400),
    "1+1 smallest": (1, 1, 1, {"share": "off", "gamma": 1}, 0),
    "2+2 shared": (2, 2, 3, {"share": "on"}, 900),
    "2+2 paper": (2, 2, 3, {"mode": "paper", "phi": 1, "share": "on"}, 700),
    "3+3 frozen": (3, 3, 4, {"share": "on", "when_full": "freeze"}, 1200),
    "2+1 testing": (2, 1, 6, {}, 800),
}


def config_of(name):
    d_s, d_a, horizon, options = CONFIGS[name]
    return c_config(make_config(d_s, d_a, horizon, options, seed=3))


def configured(name: str, seed: int = 1) -> tuple[Any, int]:
    """The configuration and the words of a block of DAMAGED."""
    d_s, d_a, horizon, options, extra = DAMAGED[name]
    config = make_config(d_s, d_a, horizon, options, seed=seed)
    return config, binding.required_words(config) + extra


def guarded_episode(one: Any, rng: random.Random) -> list[int]:
    """An episode of a guard as the example plays it; every code that came back."""
    config, codes = one.config, []
    state, action = [rng.randrange(65536) for _ in range(config.d_s)], array("H", [0] * config.d_a)
    for h in range(config.horizon):
        codes.append(one.handle(one.controller.act(h, state, action)))
        if codes[-1]:
            return codes
        state = [(action[i % config.d_a] + rng.randrange(9000)) & 0xFFFF for i in range(config.d_s)]
        codes.append(one.handle(one.controller.observe(h, rng.randrange(65536), state)))
        codes.append(one.tick())
        if max(codes) > 0:
            return codes
    codes.append(one.handle(one.controller.end_episode()))
    return codes


def play(block, config, steps, seed=0):
    """Calls that must all succeed; rewards and states from a seeded stream."""
    rng = np.random.default_rng(seed)
    state, action = ffi.new("uint16_t[3]"), ffi.new("uint16_t[3]")
    for step in range(steps):
        h = step % config.horizon
        assert lib.adamb_act(block, h, state, action) == 0
        for i in range(config.d_s):
            state[i] = int(action[i % config.d_a] + rng.integers(0, 9000)) & 0xFFFF
        assert lib.adamb_observe(block, h, int(rng.integers(0, 65536)), state) == 0
        if h + 1 == config.horizon:
            assert lib.adamb_end_episode(block) == 0


def new_block(name, extra=400, steps=700):
    """A controller that has learnt for a while: its words (an array) and the pointer to them."""
    config = config_of(name)
    words = lib.adamb_required_words(config) + extra
    content = array("H", bytes(2 * words))
    block = ffi.from_buffer("uint16_t[]", content)
    assert lib.adamb_init(config, block, words) == 0
    play(block, config, steps)
    assert lib.adamb_check(block, words) == 0
    return config, content, block


def learnt(init: Any, config: Any, words: int, steps: int) -> array:
    """A block after so many steps; `init` is that of either core."""
    block, action = array("H", bytes(2 * words)), array("H", [0] * config.d_a)
    made = init(config, block)
    for k in range(steps):
        h = k % config.horizon
        assert made.act(h, [k * 999 & 0xFFFF] * config.d_s, action) == 0
        assert made.observe(h, action[0], [k * 777 & 0xFFFF] * config.d_s) == 0
        if h + 1 == config.horizon:
            made.end_episode()
    return block


def same_used(found: array, wanted: array) -> bool:
    """Whether the words in use are the same, and nothing is behind them."""
    used = 4 * wanted[_spec.H_FRESH]
    return found[:used] == wanted[:used] and not any(found[used:])
