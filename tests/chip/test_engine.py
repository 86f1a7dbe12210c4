"""The decision engine does what adamb_act does, word for word, in the cycles that it promises."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl.shape import EngineShape
from support.chip_blocks import DIMENSIONS, learnt, point

pytest.importorskip("amaranth", reason="pip install adamb[chip]")

from adamb.firmware_model.rtl.engine import DEPTH_MAX, HEADER, DecisionEngine
from adamb.tools.chip.bench import Decision, EngineBench

WORDS = 1024
CHECK_CYCLES = 3 * len(HEADER) + 1


def bench(script: Any, **fixed: int) -> None:
    EngineBench(DecisionEngine(EngineShape(WORDS, **fixed))).run(script)


async def both(
    b: EngineBench, controller: Any, h: int, state: list[int], *, recheck: bool = False
) -> Decision:
    """One decision by C and by the engine, compared: code, action and every word of the block."""
    d_a = controller.w[spec.H_DIMS] >> 4 & 15
    action = array("H", bytes(2 * d_a))
    code = controller.act(h, state, action)
    made = await b.act(h, state, recheck=recheck)
    assert made.error == code
    if code == 0:
        assert made.action[:d_a] == tuple(action)
        assert not any(made.action[d_a:])
    else:
        assert made.writes == []
    assert b.block(WORDS) == list(controller.w)
    return made


def finest(controller: Any) -> int:
    return (controller.w[spec.H_SCALE] >> 8) * (controller.w[spec.H_DIMS] & 15)


@pytest.mark.parametrize("action", ["centre", "random"])
@pytest.mark.parametrize("mode", ["tracking", "paper"])
def test_the_engine_decides_as_the_c_core_for_all_dimensions(mode: str, action: str) -> None:
    async def script(b: EngineBench) -> None:
        for d_s, d_a in DIMENSIONS:
            seed = 10 * d_s + d_a
            rng = random.Random(seed)
            learner = learnt(d_s, d_a, 3, WORDS, seed=seed, mode=mode, action=action)
            b.load(learner.w)
            await both(b, learner, 0, point(rng, d_s), recheck=True)
            depths = set()
            for _ in range(6):
                made = await both(b, learner, rng.randrange(5), point(rng, d_s))
                assert made.cycles <= finest(learner) + 6, (d_s, d_a, made)
                if made.error == 0:
                    # One read for the root and one for the action; a random number is one of each more, and
                    # one cycle more if the header was being read.
                    draws = action == "random"
                    depth = len([at for at in made.reads if at not in HEADER]) - 2 - draws
                    depths.add(depth)
                    late = draws and made.reads[0] in HEADER
                    assert made.cycles == depth + 5 + late and len(made.writes) == 2 + draws
            assert max(depths) > 0, f"seed {seed}: no walk went down"

    bench(script)


def test_a_learning_controller_and_the_engine_stay_together() -> None:
    """The engine decides, the C core learns in the same block."""

    async def script(b: EngineBench) -> None:
        rng = random.Random(5)
        learner = learnt(1, 1, 3, WORDS, seed=5, episodes=20)
        b.load(learner.w)
        await both(b, learner, 0, [1], recheck=True)
        for _ in range(40):
            for h in range(3):
                b.load(learner.w)
                await both(b, learner, h, point(rng, 1))
                learner.observe(h, rng.randrange(65536), point(rng, 1))
            learner.end_episode()

    bench(script, d_s=1, d_a=1, horizon=3)


def test_every_flipped_bit_of_a_sealed_word_is_a_bad_block_and_nothing_is_written() -> None:
    async def script(b: EngineBench) -> None:
        learner = learnt(1, 1, 3, WORDS, seed=3, episodes=5)
        good = array("H", learner.w)
        for word in HEADER:
            if word == spec.H_FLAGS:
                continue  # not sealed: another flag is another controller, not a damaged one
            for bit in range(16):
                learner.w[:] = good
                learner.w[word] ^= 1 << bit
                b.load(learner.w)
                made = await both(b, learner, 0, [7], recheck=True)
                assert made.error == spec.ERR_BLOCK

    bench(script)


def test_a_step_outside_the_horizon_is_refused_and_nothing_is_written() -> None:
    async def script(b: EngineBench) -> None:
        learner = learnt(2, 1, 3, WORDS, seed=4, episodes=5)
        b.load(learner.w)
        for h in range(spec.HORIZON_MAX + 1):
            made = await both(b, learner, h, [7, 8], recheck=h == 0)
            assert made.error == (0 if h < 3 else spec.ERR_ARGUMENT)

    bench(script)


def test_damaged_pools_give_what_c_gives_and_every_walk_ends_inside() -> None:
    async def script(b: EngineBench) -> None:
        for seed in range(30):
            rng = random.Random(seed)
            d_s, d_a = DIMENSIONS[seed % len(DIMENSIONS)]
            learner = learnt(
                d_s, d_a, 2, WORDS, seed=seed, episodes=20, action=rng.choice(("centre", "random"))
            )
            for _ in range(rng.choice((1, 30, 2000))):
                place = rng.randrange(spec.H_WORDS + 1, WORDS)
                learner.w[place] = rng.choice((learner.w[place] ^ 1 << rng.randrange(16), rng.randrange(300)))
            b.load(learner.w)
            for first in (True, False, False, False):
                made = await both(b, learner, rng.randrange(2), point(rng, d_s), recheck=first)
                assert made.cycles <= DEPTH_MAX + 5 + first * CHECK_CYCLES, f"seed {seed}"
                assert all(address < WORDS for address in made.reads), f"seed {seed}"

    bench(script)


def chain(w: array, depth: int, bits: int, *, loop: bool = False) -> None:
    """A value tree of step 0 with one path of `depth` links for the code `bits`."""
    step = spec.H_WORDS + 1 + (w[spec.H_SCALE] >> 8)
    unit, slot = w[spec.H_POOL_AT], step + spec.S_V_SLOT
    for level in range(depth):
        if not (loop and level):
            w[slot] = unit + level
            for word in range(4):
                w[4 * (unit + level) + word] = (spec.TAG | level) if word < 2 else 1000 + level
        slot = 4 * (unit + (0 if loop else level)) + (bits >> (15 - level) & 1)
        if loop:
            w[slot] = unit


@pytest.mark.parametrize(("d_s", "action"), [(1, "centre"), (1, "random"), (2, "centre"), (3, "random")])
def test_the_deepest_tree_takes_one_cycle_a_level_and_five(d_s: int, action: str) -> None:
    async def script(b: EngineBench) -> None:
        learner = learnt(d_s, 1, 2, WORDS, seed=1, episodes=0, action=action)
        depth = finest(learner)
        chain(learner.w, depth, 0xB5A2)
        b.load(learner.w)
        state = {1: [0xB5A2], 2: [0xC000, 0xFFFF], 3: [0, 0xFFFF, 0x8000]}[d_s]
        await both(b, learner, 0, state, recheck=True)
        made = await both(b, learner, 0, state)
        assert made.cycles <= depth + 5
        if d_s == 1:
            assert made.cycles == depth + 5

    bench(script)


def test_a_loop_of_links_ends_after_sixteen_levels_as_in_c() -> None:
    async def script(b: EngineBench) -> None:
        learner = learnt(1, 1, 2, WORDS, seed=1, episodes=0)
        chain(learner.w, 16, 0xFFFF, loop=True)
        b.load(learner.w)
        await both(b, learner, 0, [0xFFFF], recheck=True)
        made = await both(b, learner, 0, [0xFFFF])
        assert made.cycles == DEPTH_MAX + 5 and len(made.reads) == DEPTH_MAX + 2

    bench(script)


def test_an_engine_for_other_dimensions_refuses_the_block() -> None:
    async def script(b: EngineBench) -> None:
        for d_s, d_a, horizon in [(2, 1, 3), (1, 2, 3), (1, 1, 4)]:
            learner = learnt(d_s, d_a, horizon, WORDS, seed=1, episodes=2)
            b.load(learner.w)
            made = await b.act(0, [1], recheck=True)
            assert made.error == spec.ERR_BLOCK and not made.writes
        learner = learnt(1, 1, 3, WORDS, seed=1, episodes=2)
        b.load(learner.w)
        await both(b, learner, 0, [1], recheck=True)

    bench(script, d_s=1, d_a=1, horizon=3)


def test_a_block_larger_than_the_sram_is_refused() -> None:
    async def script(b: EngineBench) -> None:
        learner = learnt(1, 1, 2, WORDS + 4, seed=1, episodes=2)
        b.load(learner.w[:WORDS])
        made = await b.act(0, [1], recheck=True)
        assert made.error == spec.ERR_BLOCK and not made.writes

    bench(script)


@pytest.mark.parametrize("action", ["centre", "random"])
def test_a_decision_may_come_in_any_cycle_and_does_not_wait_for_the_header(action: str) -> None:
    async def script(b: EngineBench) -> None:
        learner = learnt(1, 1, 2, WORDS, seed=1, episodes=30, action=action)
        b.load(learner.w)
        first = await both(b, learner, 0, [9])
        assert [address for address in first.reads if address in HEADER] == list(HEADER), "after reset"
        again = await both(b, learner, 0, [9])
        assert not [address for address in again.reads if address in HEADER]
        assert first.cycles == again.cycles + CHECK_CYCLES
        for gap in range(2 * CHECK_CYCLES + 3):
            await b.wait(gap)
            made = await both(b, learner, 0, [9])
            late = action == "random" and gap % CHECK_CYCLES != 0
            assert made.cycles == again.cycles + late, f"{gap} cycles after the decision before"
            assert made.cycles <= finest(learner) + 6

    bench(script)


def test_a_word_that_changes_by_itself_is_noticed_while_nothing_is_decided() -> None:
    """Nobody raises recheck. C refuses at once; the engine does when a pass over the header has ended."""

    async def script(b: EngineBench) -> None:
        learner = learnt(1, 1, 2, WORDS, seed=1, episodes=10)
        b.load(learner.w)
        await both(b, learner, 0, [9])
        for word in HEADER:
            if word == spec.H_FLAGS:
                continue
            for bit in (0, 7, 15):
                b.context.set(b.top.store.data[word], learner.w[word] ^ 1 << bit)
                assert (await b.act(0, [9])).error == 0, "no pass was complete"
                before = b.block(WORDS)
                await b.wait(2 * CHECK_CYCLES)
                assert (await b.act(0, [9])).error == spec.ERR_BLOCK, f"word {word}, bit {bit}"
                assert b.block(WORDS) == before
                b.context.set(b.top.store.data[word], learner.w[word])
                await b.wait(2 * CHECK_CYCLES)
                assert (await b.act(0, [9])).error == 0, "sound again"

    bench(script)


def test_while_a_pass_sees_damage_the_walk_keeps_its_limits() -> None:
    """A decision in the middle of a pass goes by what was sound, not by words that no seal has confirmed."""

    async def script(b: EngineBench) -> None:
        learner = learnt(1, 1, 2, WORDS, seed=1, episodes=10)
        for gap in range(CHECK_CYCLES):
            b.load(learner.w)
            await both(b, learner, 0, [9], recheck=True)
            for word in (spec.H_UNITS, spec.H_DIMS, spec.H_SCALE):
                b.context.set(b.top.store.data[word], 0xFFFF)
            await b.wait(gap)
            made, action = await b.act(0, [9]), array("H", [0])
            assert learner.act(0, [9], action) == 0
            assert made.error == 0 and made.action[0] == action[0], f"after {gap} cycles"

    bench(script)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"words": 1000}, "words = 1000: a power of two from 512 to 131072"),
        ({"words": 256}, "words = 256: a power of two from 512 to 131072"),
        ({"d_s": 4}, "d_s = 4: from 1 to 3"),
        ({"d_a": 0}, "d_a = 0: from 1 to 3"),
        ({"horizon": 32}, "horizon = 32: from 1 to 31"),
    ],
)
def test_an_engine_that_cannot_be_built_says_why(arguments: dict[str, int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        EngineShape(**{"words": WORDS, **arguments})
