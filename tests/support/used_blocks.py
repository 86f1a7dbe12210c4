"""Blocks of controllers that have learnt for a while, in every corner of the configuration."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from adamb.budgets import controller
from adamb.budgets.controller import make_config
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import c_config, ffi, lib

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
# The same and the words beyond the least block: for damage, and for twins side by side.
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
TWINS = {
    "shared 1+1": (1, 1, 5, {}, 600),
    "per step 2+1": (2, 1, 3, {"share": "off"}, 900),
    "paper 1+2": (1, 2, 4, {"mode": "paper", "phi": 1}, 1500),
    "3+3": (3, 3, 2, {"share": "on"}, 4000),
}


def config_of(name):
    d_s, d_a, horizon, options = CONFIGS[name]
    return c_config(make_config(d_s, d_a, horizon, options, seed=3))


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


def used_block(name: str, steps: int = 4000) -> array:
    """A block after a pseudo-random stream; the stream needs no generator of its own to be repeatable."""
    d_s, d_a, horizon, options, extra = TWINS[name]
    config = make_config(d_s, d_a, horizon, options)
    block = controller.new_block((binding.required_words(config) + extra) // 4 * 4)
    made = binding.init(config, block)
    assert not isinstance(made, int)
    x, action = 12345, array("H", [0] * d_a)
    state = [x] * d_s
    for i in range(steps):
        h = i % horizon
        assert made.act(h, state, action) == 0
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        near = [(action[k % d_a] + (x >> 3 & 0x1FFF)) & 0xFFFF for k in range(d_s)]
        reward = 0xFFFF - abs(near[0] - 40000) if x & 7 else x & 0xFFFF
        assert made.observe(h, min(max(reward, 0), 0xFFFF), near) == 0
        if h + 1 == horizon:
            assert made.end_episode() == 0
        state = near
    return block
