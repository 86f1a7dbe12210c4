"""The decision engine does what adamb_act does, word for word, in the cycles that it promises."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl import EngineShape
from support.chip import DIMENSIONS, learnt, point

pytest.importorskip("amaranth", reason="pip install adamb[chip]")

from adamb.firmware_model.rtl.engine import HEADER, DecisionEngine
from adamb.tools.chip.bench import Decision, EngineBench

WORDS = 1024
CHECK_CYCLES = 3 * len(HEADER) + 1
HELD_CYCLES = 4
SEALED = [word for word in HEADER if word not in (spec.H_FLAGS, spec.H_HELD)]
"""With another flag, or held, it is another controller, not a damaged one."""


def bench(script: Any, **fixed: int) -> None:
    EngineBench(DecisionEngine(EngineShape(WORDS, **fixed))).run(script)


async def both(b: EngineBench, controller: Any, h: int, state: list[int], *, recheck: bool = False) -> Decision:
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


def stepwise(*shape: int, **options: Any) -> Any:
    """As `learnt`; the next episode is not held."""
    learner = learnt(*shape, **options)
    learner.w[spec.H_HELD] = 0
    return learner


def held_step(w: array) -> int:
    return spec.H_WORDS + 1 + (w[spec.H_SCALE] >> 8) + (w[spec.H_DIMS] >> 8) * spec.S_WORDS


@pytest.mark.parametrize("action", ["centre", "random"])
@pytest.mark.parametrize("mode", ["tracking", "paper"])
def test_the_engine_decides_as_the_c_core_for_all_dimensions(mode: str, action: str) -> None:
    async def script(b: EngineBench) -> None:
        for d_s, d_a in DIMENSIONS:
            seed = 10 * d_s + d_a
            rng = random.Random(seed)
            learner = stepwise(d_s, d_a, 3, WORDS, seed=seed, mode=mode, action=action)
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


@pytest.mark.parametrize("action", ["centre", "random"])
@pytest.mark.parametrize("fixed", [{}, {"horizon": 5}], ids=["any", "h5"])
def test_a_held_decision_takes_four_cycles_and_is_that_of_the_c_core(action: str, fixed: dict[str, int]) -> None:
    """One read, of the action of the held step, and two writes; no random number is read or written."""

    async def script(b: EngineBench) -> None:
        for d_s, d_a, horizon in [(*dims, horizon) for dims in DIMENSIONS for horizon in (5, 1)[: 2 - len(fixed)]]:
            rng = random.Random(10 * d_s + d_a)
            learner = learnt(d_s, d_a, horizon, WORDS, seed=1, episodes=20, action=action, share="on")
            assert learner.w[spec.H_HELD] == 1, "the first episodes are held"
            played_from = held_step(learner.w) + spec.S_V_AUX
            learner.w[played_from] ^= 0x2468  # the action of no other step
            b.load(learner.w)
            await both(b, learner, 0, point(rng, d_s), recheck=True)
            for h in (0, horizon - 1, rng.randrange(horizon)):
                await b.wait(rng.randrange(2 * CHECK_CYCLES))
                made = await both(b, learner, h, point(rng, d_s))
                assert made.cycles == HELD_CYCLES and len(made.writes) == 2
                assert [address for address in made.reads if address not in HEADER] == [played_from]
            made = await both(b, learner, horizon, [1] * d_s)
            assert made.error == spec.ERR_ARGUMENT, "nobody plays the held step itself"

    bench(script, **fixed)


def test_a_learning_controller_and_the_engine_stay_together() -> None:
    """The engine decides, the C core learns in the same block; episodes are held first, then stepwise."""

    async def script(b: EngineBench) -> None:
        rng = random.Random(5)
        learner = learnt(1, 1, 3, WORDS, seed=5, episodes=10)
        was_held = []
        for _ in range(40):
            was_held.append(learner.w[spec.H_HELD])
            for h in range(3):
                b.load(learner.w)
                made = await both(b, learner, h, point(rng, 1), recheck=h == 0)
                assert (made.cycles == HELD_CYCLES) == (was_held[-1] and h > 0)
                learner.observe(h, rng.randrange(65536), point(rng, 1))
            learner.end_episode()
        assert set(was_held) == {0, 1}

    bench(script, d_s=1, d_a=1, horizon=3)


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
        learner = stepwise(1, 1, 2, WORDS, seed=1, episodes=30, action=action)
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
        for word in SEALED:
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


@pytest.mark.parametrize("turned", [0, 1], ids=["set", "cleared"])
@pytest.mark.parametrize("word", [spec.H_FLAGS, spec.H_HELD], ids=["random", "held"])
def test_a_decision_goes_by_the_old_header_or_by_the_new_one_and_never_by_both(word: int, turned: int) -> None:
    """A word that says how to act changes by itself, and a decision begins in any cycle after that."""

    async def script(b: EngineBench) -> None:
        learner = stepwise(1, 1, 2, WORDS, seed=1, episodes=30, action="random")
        bit = spec.FLAG_RANDOM if word == spec.H_FLAGS else 1
        values = [learner.w[word] & ~bit, learner.w[word] | bit]
        if turned:
            values.reverse()
        noticed = []
        for gap in range(2 * CHECK_CYCLES + 1):
            learner.w[word] = values[0]
            b.load(learner.w)
            await both(b, learner, 0, [9], recheck=True)
            before, expected = array("H", learner.w), []
            for value in values:
                learner.w[:] = before
                learner.w[word] = value
                action = array("H", [0])
                assert learner.act(0, [9], action) == 0
                learner.w[word] = values[1]
                expected.append((list(learner.w), action[0]))
            b.context.set(b.top.store.data[word], values[1])
            await b.wait(gap)
            made = await b.act(0, [9])
            found = (b.block(WORDS), made.action[0])
            assert found in expected, f"{gap} cycles after the change"
            noticed.append(expected.index(found))
        assert noticed == sorted(noticed) and set(noticed) == {0, 1}, "once, and for good"

    bench(script)


@pytest.mark.parametrize("held", [0, 1])
def test_an_action_stays_when_the_next_episode_is_of_the_other_kind(held: int) -> None:
    """The port shows it until the next start, though random actions begin or end with the episode."""

    async def script(b: EngineBench) -> None:
        learner = stepwise(1, 1, 2, WORDS, seed=1, episodes=30, action="random")
        learner.w[spec.H_HELD] = held
        b.load(learner.w)
        made = await both(b, learner, 1, [9], recheck=True)
        b.context.set(b.top.store.data[spec.H_HELD], 1 - held)
        b.context.set(b.top.recheck, 1)
        await b.wait(1)
        b.context.set(b.top.recheck, 0)
        await b.wait(2 * CHECK_CYCLES)
        assert (b.context.get(b.top.action[0]),) == made.action[:1]
        learner.w[spec.H_HELD] = 1 - held
        await both(b, learner, 1, [9])

    bench(script)


def test_while_a_pass_sees_damage_the_walk_keeps_its_limits() -> None:
    """A decision in the middle of a pass goes by what was sound, not by words that no seal has confirmed."""

    async def script(b: EngineBench) -> None:
        learner = stepwise(1, 1, 2, WORDS, seed=1, episodes=10)
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
