"""No intermediate result of the Python twin leaves the integers that MicroPython keeps without the heap."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import pytest

from adamb.firmware_model import _spec
from support.campaigns import few
from support.lockstep import Case, draw_case
from support.small_ints import LARGEST, load_guarded
from support.worlds import World

# Long sums of large values: one full ball, rewards at the top, the largest bonus, the largest block.
EXTREMES = [
    Case(world="burst", gamma=5, phi_num=60000, phi_den=1, horizon=7, mode=1, share=1, detect=0, steps=9000),
    Case(world="burst", d_s=1, d_a=1, horizon=7, mode=1, share=0, gamma=1, extra_words=4000, steps=1500),
    Case(world="noise", mode=1, horizon=7, phi_num=8190, gamma=1, share=1, extra_words=20000, steps=2000),
    Case(world="noise", auto_bonus=0, bonus=32767, horizon=1, steps=400),
    Case(world="edges", d_s=3, d_a=3, horizon=31, extra_words=140_000, steps=300),
    Case(world="sweep", extra_words=200, share=0, steps=1500),
    Case(world="edges", gamma=1, phi_den=9, share=1, horizon=2, extra_words=8000, steps=1200),
]


def play(core: Any, case: Case) -> Any:
    config = case.config()
    controller = core.init(config, array("H", bytes(2 * (core.required_words(config) + case.extra_words))))
    world = World(case.world, case.world_seed, case.d_s, case.d_a, case.horizon)
    action = array("H", bytes(2 * case.d_a))
    state = world.start()
    for step in range(case.steps):
        h = step % case.horizon
        assert controller.act(h, state, action) == 0
        reward, state = world.step(h, state, list(action))
        assert controller.observe(h, reward, state) == 0
        if h == case.horizon - 1:
            assert controller.end_episode() == 0
    return controller


@pytest.mark.parametrize("number", range(len(EXTREMES)))
def test_extreme_runs_stay_within_31_bits(number: int) -> None:
    core, guard = load_guarded()
    play(core, EXTREMES[number])
    assert len(guard.largest) > 200


@pytest.mark.parametrize("seed", few(range(50, 60), 3))
def test_random_runs_stay_within_31_bits(seed: int) -> None:
    core, _ = load_guarded()
    play(core, replace(draw_case(seed, 500), disorder=False))


def test_products_come_close_to_the_limit_so_that_the_guard_had_work() -> None:
    """A running mean of values near the top, with as many samples as a record can count."""
    core, guard = load_guarded()
    controller = play(core, EXTREMES[0])
    root = controller.w[controller.w[_spec.H_STEPS_AT]]
    assert controller.w[4 * root + _spec.R_N] & _spec.N_MAX == _spec.N_MAX
    assert max(guard.largest.values()) > LARGEST // 4
