"""The reader of blocks: Q and actions are those that the core would decide by, every byte has one owner, the sum is
the block, and damage is named and never believed."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets.bounds.layout import Layout
from adamb.budgets.ledger import read_ledger
from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.reader import OWNERS, BlockView, DamagedBlock, coordinates
from adamb.host_sim.agents import make_agent
from adamb.host_sim.problem import make_problem
from adamb.host_sim.runner import simulate
from support.bounds import RealCore

# ---- balls, values and next states ---------------------------------------------------------------------

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
    assert sum(2.0 ** -(ball.level * view.d_a) for ball in view.held_balls) == 1.0
    assert (len(view.held_balls) > 1) == (view.shared and not view.paper), "held episodes are for shared steps"


def test_q_is_the_cores_own(agent):
    library, view = core_library(), BlockView(agent.blocks[0])
    library.adamb_tree_q.restype = ctypes.c_uint16
    block, call = np.ascontiguousarray(agent.blocks[0]), ctypes.create_string_buffer(512)
    compared = 0
    for h in range(view.horizon + 1):
        library.adamb_call_decode(call, ctypes.c_void_p(block.ctypes.data), ctypes.c_uint8(h))
        for ball in view.balls(h) if h < view.horizon else view.held_balls:
            reference = ball.record or ball.parent
            level = ball.level if ball.record else max(0, ball.level - 1)
            found = library.adamb_tree_q(
                call, ctypes.c_uint16(ball.advantage), ctypes.c_uint16(reference), ctypes.c_uint8(level)
            )
            assert view.q_raw(ball, h) == found, (h, ball)
            compared += 1
    assert compared > 20


@pytest.fixture
def kind(agent):
    """Makes the next episode one that is held (1), or not (0)."""
    before = int(agent.blocks[0][_spec.H_HELD])
    yield lambda held: agent.blocks[0].__setitem__(_spec.H_HELD, held)
    agent.blocks[0][_spec.H_HELD] = before


def test_the_cell_of_a_state_holds_the_action_that_act_plays(agent, kind):
    kind(0)
    view, rng = BlockView(agent.blocks[0]), random.Random(2)
    assert view.next_kind == "stepwise"
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


def test_a_held_episode_plays_its_action_at_every_step(agent, kind):
    kind(1)
    view, rng = BlockView(agent.blocks[0]), random.Random(4)
    assert view.next_kind == "held"
    for h in range(view.horizon):
        assert tuple(agent.act(h, np.array([[rng.random() for _ in range(view.d_s)]]))[0]) == view.held_action


def test_what_decides_about_held_episodes_is_that_of_the_header(agent):
    view, w = BlockView(agent.blocks[0]), agent.blocks[0]
    one, held, stepwise = 1 << view.fraction, view.kinds["held"], view.kinds["stepwise"]
    assert (held.n, stepwise.n) == (w[_spec.H_HELD_N], w[_spec.H_STEPS_N])
    assert stepwise.mean_return * one == w[_spec.H_STEPS_MEAN]
    assert held.mean_return * one == w[_spec.H_HELD_MEAN]
    assert 0 < stepwise.mean_return <= view.horizon and stepwise.n > 2
    assert (held.n > 0) == (view.shared and not view.paper)
    assert 0 < view.held_value <= view.horizon


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


def test_a_division_of_codes_that_does_not_fit_the_dimensions_is_damage():
    words = SMALL.copy()
    words[_spec.H_BITS] = 2
    with pytest.raises(DamagedBlock, match="contradicts itself"):
        BlockView(words)


SMALL = learnt("oil-laplace", 1024, {}, episodes=120).blocks[0].copy()
WIDE = learnt("ambulance-2", 4096, {}, episodes=120).blocks[0].copy()


ANYWHERE = st.tuples(st.integers(0, 400), st.integers(0, 0xFFFF))
IN_THE_HEADER = st.tuples(st.integers(0, int(_spec.H_WORDS) + 30), st.sampled_from([4, 8, 16]).flatmap(
    lambda bits: st.integers(0, (1 << bits) - 1)
))  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from([0, 1]),
    st.lists(ANYWHERE, min_size=1, max_size=6) | st.lists(IN_THE_HEADER, min_size=1, max_size=1),
)
def test_any_damage_is_either_harmless_or_named(which, damage):
    words = (SMALL, WIDE)[which].copy()
    for index, value in damage:
        words[index] = value
    try:
        view = BlockView(words)
        for h in range(view.horizon):
            view.all_q_raw(h)
            view.values(h)
            for ball in view.balls(h):
                view.next_states(ball)
        assert read_ledger(words.tolist()).total == 2 * len(words)
    except DamagedBlock as error:
        assert str(error)


# ---- bytes by owner ------------------------------------------------------------------------------------


def played(
    d_s=1, d_a=1, mode="tracking", share="off", words=2000, freeze=False, episodes=300, seed=3, gamma=2
) -> RealCore:
    layout = Layout(d_s, d_a, 3, mode)
    core = RealCore(layout, layout.rule(gamma, 1, "inherited"), share, words=words, freeze=freeze)
    draw = random.Random(seed)
    for _ in range(episodes):
        state = [draw.getrandbits(16) for _ in range(d_s)]
        for h in range(3):
            core.act(h, state)
            state = [draw.getrandbits(16) for _ in range(d_s)]
            core.observe(h, draw.getrandbits(16), state)
        core.end_episode()
    return core


@pytest.mark.parametrize("mode", ["tracking", "paper"])
@pytest.mark.parametrize("share", ["off", "on", "auto"])
@pytest.mark.parametrize(("d_s", "d_a"), [(1, 1), (1, 2), (2, 2), (3, 1), (3, 3)])
@pytest.mark.parametrize(("words", "freeze"), [(16_003, False), (1602, False), (1602, True)])
def test_every_byte_has_one_owner_and_they_sum_to_the_block(d_s, d_a, mode, share, words, freeze):
    core = played(d_s, d_a, mode, share, words, freeze, episodes=150)
    ledger = core.ledger()
    assert tuple(ledger.bytes) == OWNERS
    assert ledger.total == 2 * words
    assert ledger.bytes["unclaimed"] == 0
    assert ledger.bytes["tail"] == 2 * (words % 4)
    assert ledger.splits == core.header("splits")
    trees = 3 if core.header("share") == _spec.SHARE_OFF else 1
    assert ledger.leaves == trees + (2 ** (d_s + d_a) - 1) * ledger.splits
    assert ledger.records * 8 == ledger.bytes["records"]
    assert (ledger.bytes["held partition"] > 0) == (mode == "tracking" and trees == 1)
    assert ledger.used_bytes <= ledger.peak_bytes <= 2 * words
    assert binding.lib.adamb_check(core.block, words) == 0


def test_a_fresh_controller_owns_its_header_and_nothing_else():
    core = played(episodes=0)
    ledger = core.ledger()
    assert ledger.pool_units == 0
    assert ledger.used_bytes == ledger.peak_bytes == 8 * core.header("pool_at")
    assert ledger.leaves == 3
    assert ledger.bytes["header"] == 2 * _spec.H_WORDS
    assert ledger.bytes["steps"] == 2 * (3 + 1) * _spec.S_WORDS


def test_the_sharing_test_owns_its_table_while_it_runs():
    assert played(share="auto", episodes=0).ledger().bytes["sharing test"] == 8 * _spec.SHARE_TABLE_UNITS
    assert played(share="on", episodes=0).ledger().bytes["sharing test"] == 0


def test_words_never_used_may_be_left_out():
    core = played(words=16_000)
    used = core.header("fresh") * 4
    assert read_ledger(core.words[:used].tolist(), 16_000) == core.ledger()
    with pytest.raises(DamagedBlock, match="shorter than"):
        read_ledger(core.words[: used - 4].tolist(), 16_000)


def first_unit(core: RealCore, owner_word: str) -> int:
    step = core.header("steps_at")
    return int(core.words[step + getattr(_spec, owner_word)])


def test_a_unit_with_two_owners_is_damage():
    core = played()
    step = core.header("steps_at")
    core.words[step + _spec.S_V_SLOT] = first_unit(core, "S_ROOT")
    with pytest.raises(DamagedBlock, match="belongs to records and to values"):
        core.ledger()


def test_a_link_out_of_the_pool_is_damage():
    for wrong in (1, 30_000):
        core = played()
        core.words[core.header("steps_at") + _spec.S_ROOT] = wrong
        with pytest.raises(DamagedBlock, match=f"leads to unit {wrong}, outside the pool"):
            core.ledger()


def test_a_held_step_with_counts_or_with_a_divided_v_is_damage():
    core = played(share="on")
    step = core.header("steps_at") + 3 * int(_spec.S_WORDS)
    core.words[4 * int(core.words[step + _spec.S_ROOT]) + _spec.R_COUNTS] = _spec.TAG | 1
    with pytest.raises(DamagedBlock, match="a record of the held step has counts"):
        core.ledger()
    core = played(share="on")
    core.words[step + _spec.S_V_SLOT] = first_unit(core, "S_V_SLOT")
    with pytest.raises(DamagedBlock, match="V of the held step is divided"):
        core.ledger()


def test_a_lost_subtree_shows_as_unclaimed():
    core = played()
    core.words[core.header("steps_at") + _spec.S_V_SLOT] = _spec.TAG
    ledger = core.ledger()
    assert ledger.bytes["unclaimed"] > 0
    assert ledger.total == 2 * len(core.words)


def test_a_wrong_length_of_the_free_list_is_damage():
    core = played(words=800, episodes=600)
    core.words[_spec.H_FREE_N] += 1
    with pytest.raises(DamagedBlock, match="free units"):
        core.ledger()


@pytest.mark.parametrize(
    ("word", "value", "message"),
    [("H_MAGIC", 1, "not a controller"), ("H_HASH", 1, "another version"), ("H_FRESH", 0, "contradict"),
     ("H_UNITS", 30_000, "damaged")],
)  # fmt: skip
def test_what_is_not_our_block_is_refused(word, value, message):
    core = played(episodes=5)
    core.words[getattr(_spec, word)] = value
    with pytest.raises(DamagedBlock, match=message):
        core.ledger()
    with pytest.raises(DamagedBlock, match="not a controller"):
        read_ledger([1, 2, 3])
