"""The simulated chip, processor and engine on one block, holds the words of the C core."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from adamb.firmware_model import _spec as spec
from adamb.tools.device.settings import DeviceSettings
from support import replay
from support.chip import DIMENSIONS, ChipController, controller, learnt, need_chip_tools, point
from support.replay import Replay

need_chip_tools()

WORDS = 1024
HELD_CYCLES = 4
PASS_CYCLES = 25
"""Of the engine over the header: what a decision waits at most for a word that was written."""
STEPS = 20_000
OPTIONS = [
    {"mode": mode, "share": share, "when_full": full, "action": action}
    for (mode, share), (full, action) in zip(
        product(("tracking", "paper"), ("off", "on", "auto")),
        [("reclaim", "centre"), ("freeze", "random"), ("reclaim", "random")] * 2,
        strict=True,
    )
]


# On the chip the engine decides: no call of its program takes an action that somebody else chose.
DECIDED = [path for path in replay.vector_files() if not path.stem.startswith("taught-")]


@pytest.mark.parametrize("path", DECIDED, ids=lambda path: path.stem)
def test_the_chip_agrees_with_the_exact_reference(path: Path) -> None:
    assert Replay(path, "chip", start=ChipController).play() > 100


def play(chip: ChipController, host: Any, rng: random.Random, dims: tuple[int, int, int], steps: int) -> None:
    """Steps of noise on both; actions are compared in every step, all words after every episode."""
    d_s, d_a, horizon = dims
    mine, its = array("H", bytes(2 * d_a)), array("H", bytes(2 * d_a))
    for _ in range(0, steps, horizon):
        for h in range(horizon):
            state = point(rng, d_s)
            assert chip.act(h, state, its) == host.act(h, state, mine) == 0
            assert its == mine
            reward, after = rng.choice((0, 65535, rng.randrange(65536), 65535 - mine[0])), point(rng, d_s)
            assert chip.observe(h, reward, after) == host.observe(h, reward, after) == 0
        assert chip.end_episode() == host.end_episode() == 0
        assert chip.w == host.w


@pytest.mark.parametrize("dims", DIMENSIONS, ids=lambda dims: f"{dims[0]}+{dims[1]}")
def test_twenty_thousand_random_steps_keep_the_words_of_the_c_core(dims: tuple[int, int]) -> None:
    """All pairs of dimensions, all modes; the engine decides, in every third block the processor."""
    each = -(-STEPS // (len(DIMENSIONS) * len(OPTIONS)))
    for index, options in enumerate(OPTIONS):
        seed = 100 * dims[0] + 10 * dims[1] + index
        settings = DeviceSettings(*dims, 3, seed=seed, **options)
        chip = ChipController(settings.fields(), WORDS, by=("engine", "engine", "processor")[index % 3])
        host = controller(*dims, 3, WORDS, seed, **options)
        host.w[:] = chip.w  # where init leaves words as they were
        play(chip, host, random.Random(seed), (*dims, 3), each)
        assert host.check() == 0


@pytest.mark.parametrize("cpu", ["picorv32", "serv"])
def test_the_engine_decides_while_the_processor_learns(cpu: str) -> None:
    """At any moment, for another step; the block is as if it had not, but for what act writes."""
    settings, rng = DeviceSettings(1, 1, 2, seed=9), random.Random(9)
    words = settings.required_words() + 16
    chip, host = ChipController(settings.fields(), words, cpu=cpu), controller(1, 1, 2, words, 9)
    host.w[:] = chip.w
    finest = host.w[spec.H_SCALE] >> 8
    first = spec.H_WORDS + 1 + finest
    seen, state = Counter(), point(rng, 1)
    other = controller(1, 1, 2, words, 9)

    def judge(taken: list, before: array, h: int, wait: int) -> None:
        played = first + h * spec.S_WORDS
        for place in (played + spec.S_STATE, played + spec.S_ACTION):
            host.w[place] = chip.w[place]
        assert chip.w == host.w
        held = {block[spec.H_HELD] for block in (before, host.w)}
        for each in taken:
            assert each.code == 0 and each.cycles <= wait + (HELD_CYCLES if held == {1} else finest + 6)
            seen["held" if each.cycles == HELD_CYCLES else "stepwise or late"] += 1
            near = [acted(other, block, h, each.state) for block in (before, host.w)]
            seen["as before or after" if each.action in near else "of a moment"] += 1
            lowest = each.action & -each.action
            assert lowest >= 1 << (15 - finest), f"{each.action:#x} is no action"

    for turn in range(120 if cpu == "picorv32" else 6):
        h, its, mine, following = turn % 2, array("H", [0]), array("H", [0]), point(rng, 1)
        assert chip.act(h, state, its) == host.act(h, state, mine) == 0 and its == mine
        before, reward = array("H", host.w), 65535 - abs(mine[0] - state[0])
        taken = chip.chip.observe_while_deciding(h, reward, following, 1 - h, rng.randrange(2**32))
        assert host.observe(h, reward, following) == 0
        judge(taken, before, 1 - h, 0)
        state = following
        if h == 1:
            before = array("H", host.w)
            taken = chip.chip.end_episode_while_deciding(0, rng.randrange(2**32))
            assert host.end_episode() == 0
            judge(taken, before, 0, PASS_CYCLES)
            seen["changes of held"] += before[spec.H_HELD] != host.w[spec.H_HELD]
    assert seen["as before or after"] > 1000 and seen["held"] > 100 and chip.chip.met == 0
    assert cpu == "serv" or (seen["changes of held"] > 0 and seen["stepwise or late"] > 100)


def acted(other: Any, block: array, h: int, state: int) -> int:
    """What the C core decides on a copy of a block."""
    action = array("H", [0])
    other.w[:] = block
    assert other.act(h, [state], action) == 0
    return action[0]


def test_a_block_that_came_from_elsewhere_is_decided_on_at_once() -> None:
    """The host writes a trained block over the old one; the engine notices without being told."""
    learner = learnt(2, 1, 3, WORDS, seed=4)
    chip = ChipController(DeviceSettings(1, 1, 5, seed=1).fields(), WORDS)
    its, mine = array("H", [0]), array("H", [0])
    assert chip.act(0, [5], its) == 0
    chip.chip.load(learner.w)
    for seed in range(20):
        state = point(random.Random(seed), 2)
        assert chip.act(1, state, its) == learner.act(1, state, mine) == 0
        assert its == mine and chip.w == learner.w


def test_a_damaged_header_is_a_bad_block_to_both_and_nothing_changes() -> None:
    learner = learnt(1, 1, 2, WORDS, seed=4)
    learner.w[spec.H_SCALE] ^= 0x100
    for by in ("engine", "processor"):
        chip = ChipController(DeviceSettings(1, 1, 2, seed=1).fields(), WORDS, by=by)
        chip.chip.load(learner.w)
        assert chip.act(0, [5], array("H", [0])) == spec.ERR_BLOCK
        assert chip.observe(0, 9, [5]) == spec.ERR_BLOCK
        assert chip.w == learner.w


def test_a_controller_that_does_not_fit_is_refused_by_the_chip() -> None:
    config = DeviceSettings(1, 1, 31, seed=1, share="off")
    assert ChipController(config.fields(), 512).code == spec.ERR_MEMORY
