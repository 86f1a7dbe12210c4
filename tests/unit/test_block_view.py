"""What a host reads out of a block is what the core would decide by; damage is reported, never believed."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets.ledger import DamagedBlock, read_ledger
from adamb.firmware_model import _spec
from adamb.host_sim.agents import make_agent
from adamb.host_sim.blocks.ball import coordinates
from adamb.host_sim.blocks.view import BlockView
from adamb.host_sim.problem import make_problem
from adamb.host_sim.runner import simulate

CASES = {
    "shared": ("oil-laplace", 2048, {}),
    "per step": ("oil-laplace", 4096, {"share": "off"}),
    "full pool": ("oil-laplace", 1024, {}),
    "no cap": ("oil-laplace", None, {"gamma": 1}),
    "paper": ("oil-laplace", 8192, {"mode": "paper"}),
    "2+2": ("ambulance-2", 8192, {}),
    "2+2 paper": ("ambulance-2", 8192, {"mode": "paper"}),
    "3+3": ("ambulance-3", 8192, {}),
    "2+1": ("allocation-2x1", 4096, {}),
}


def learnt(problem_name, budget, options, episodes=300, seed=3):
    """An agent after some episodes."""
    problem = make_problem(
        problem_name, [seed], instance="random", drift="none", continuing=False, episodes=episodes,
        horizon=None, params={},
    )  # fmt: skip
    agent = make_agent("adamb", problem, budget_bytes=budget, **options)
    simulate(problem, agent, episodes=episodes)
    return agent


@pytest.fixture(scope="module", params=CASES)
def agent(request):
    return learnt(*CASES[request.param])


def core_library():
    """The compiled core; a shared library exports its internal functions too."""
    reason = "the core is not built as an extension"
    module = pytest.importorskip("adamb.firmware_model.host._core", reason=reason)
    return ctypes.CDLL(module.__file__)


def test_every_ball_is_found_once(agent):
    view = BlockView(agent.blocks[0])
    balls = [ball for h in range(view.trees) for ball in view.balls(h)]
    assert len(balls) == int(agent.stats()["leaves"][0])
    for h in range(view.trees):
        volume = sum(2.0 ** -(ball.level * (view.d_s + view.d_a)) for ball in view.balls(h))
        assert volume == 1.0


def test_balls_do_not_overlap(agent):
    view, rng = BlockView(agent.blocks[0]), random.Random(1)
    boxes = [view.box(ball) for ball in view.balls(0)]
    for _ in range(200):
        point = [rng.random() for _ in range(view.d_s + view.d_a)]
        inside = [
            all(low <= x < low + side for low, x in zip(corner, point, strict=True)) for corner, side in boxes
        ]
        assert sum(inside) == 1, point


def test_q_is_the_cores_own(agent):
    library, view = core_library(), BlockView(agent.blocks[0])
    library.adamb_tree_q.restype = ctypes.c_uint16
    block, call = np.ascontiguousarray(agent.blocks[0]), ctypes.create_string_buffer(512)
    compared = 0
    for h in range(view.horizon):
        library.adamb_call_decode(call, ctypes.c_void_p(block.ctypes.data), ctypes.c_uint8(h))
        for ball in view.balls(h):
            reference = ball.record or ball.parent
            level = ball.level if ball.record else max(0, ball.level - 1)
            found = library.adamb_tree_q(
                call, ctypes.c_uint16(ball.surplus), ctypes.c_uint16(reference), ctypes.c_uint8(level)
            )
            assert view.q_raw(ball, h) == found, (h, ball)
            compared += 1
    assert compared > 20


def test_the_cell_of_a_state_holds_the_action_that_act_plays(agent):
    view, rng = BlockView(agent.blocks[0]), random.Random(2)
    for h in range(view.horizon):
        cells = view.values(h)
        assert sum(2.0**-cell.bits for cell in cells) == 1.0
        for _ in range(20):
            state = np.array([[rng.random() for _ in range(view.d_s)]])
            action = agent.act(h, state)[0]
            holding = [cell for cell in cells if _inside(cell, state[0], view.d_s)]
            assert len(holding) == 1
            played = coordinates(holding[0].action_code, view.d_a)
            assert tuple(action) == pytest.approx(played)


def _inside(cell, state, dims):
    low = coordinates(cell.code, dims, cell.bits)
    sides = [2.0 ** -len(range(axis, cell.bits, dims)) for axis in range(dims)]
    return all(lo <= x < lo + side for lo, x, side in zip(low, state, sides, strict=True))


def test_next_states_count_what_the_ball_has_seen(agent):
    view, seen = BlockView(agent.blocks[0]), 0
    for h in range(view.trees):
        for ball in view.balls(h):
            counts = view.next_states(ball)
            assert all(0 <= cell < 1 << (view.d_s * ball.level) and count > 0 for cell, count in counts)
            if ball.visited and ball.n:
                assert counts
                seen += 1
            if not ball.visited:
                assert counts == [] and view.reward(ball) is None
    assert seen > 3


def test_the_used_part_alone_reads_the_same(agent):
    whole = agent.blocks[0]
    used = whole[: int(whole[_spec.H_FRESH]) * int(_spec.UNIT_WORDS)]
    a, b = BlockView(whole), BlockView(used)
    assert [a.balls(h) for h in range(a.trees)] == [b.balls(h) for h in range(b.trees)]


def test_a_block_of_another_version_is_refused():
    words = learnt(*CASES["shared"], episodes=5).blocks[0].copy()
    words[_spec.H_HASH] ^= 1
    with pytest.raises(DamagedBlock, match="another version"):
        BlockView(words)
    words[_spec.H_MAGIC] = 0
    with pytest.raises(DamagedBlock, match="not a controller's block"):
        BlockView(words)


def test_a_division_of_codes_that_does_not_fit_the_dimensions_is_damage():
    words = SMALL.copy()
    words[_spec.H_BITS] = 2
    with pytest.raises(DamagedBlock, match="contradicts itself"):
        BlockView(words)


SMALL = learnt("oil-laplace", 1024, {}, episodes=120).blocks[0].copy()
WIDE = learnt("ambulance-2", 4096, {}, episodes=120).blocks[0].copy()


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([0, 1]),
    st.lists(st.tuples(st.integers(2, 400), st.integers(0, 0xFFFF)), min_size=1, max_size=6),
)
def test_any_damage_is_either_harmless_or_named(which, damage):
    words = (SMALL, WIDE)[which].copy()
    for index, value in damage:
        words[index] = value
    try:
        view = BlockView(words)
        for h in range(view.horizon):
            for ball in view.balls(h):
                view.q_raw(ball, h)
                view.next_states(ball)
            view.values(h)
    except DamagedBlock as error:
        assert str(error)
    try:
        assert read_ledger(words.tolist()).total == 2 * len(words)
    except DamagedBlock as error:
        assert str(error)
