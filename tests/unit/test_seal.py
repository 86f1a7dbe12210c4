"""The seal: what it is made of, and which flips of the words that memory safety rests on it tells."""

from __future__ import annotations

import itertools
from array import array

import numpy as np
import pytest

from adamb.firmware_model import _spec, check, config, core
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.options import make_config

SEED = 20
SEALED = (_spec.H_UNITS, _spec.H_DIMS, _spec.H_SCALE, _spec.H_POOL_AT)
BITS = 16 * len(SEALED)


def headers(count: int) -> np.ndarray:
    """(count, 4): units, dims, scale, pool_at of configurations and sizes that `init` can make."""
    rng = np.random.default_rng(SEED)
    d_s, d_a, horizon = (rng.integers(1, end, count) for end in (4, 4, _spec.HORIZON_MAX + 1))
    most = np.minimum(14 // d_s, np.array([0, 14, 7, 4])[d_a])
    finest = rng.integers(0, most + 1)
    fraction = np.where(horizon <= 7, 12, np.where(horizon <= 15, 11, 10))
    pool_at = (_spec.H_WORDS + finest + 1 + horizon * _spec.S_WORDS + 3) >> 2
    largest = rng.choice([300, 1000, 4000, _spec.UNITS_MAX], count)
    units = pool_at + 13 + rng.integers(0, largest - pool_at - 12)
    return np.stack([units, d_s | d_a << 4 | horizon << 8, fraction | finest << 8, pool_at], axis=1)


def seals(words: np.ndarray) -> np.ndarray:
    mix = ((words[:, 0] * 11 + words[:, 1]) * 11 + words[:, 2]) * 11 + words[:, 3]
    mix = mix * 11
    return (mix ^ mix >> 13) & 0xFFFF


def flipped(words: np.ndarray, *bits: int) -> np.ndarray:
    changed = words.copy()
    for bit in bits:
        changed[:, bit // 16] ^= 1 << bit % 16
    return changed


def test_the_seal_is_that_of_the_specification():
    for words in headers(200).tolist():
        block = array("H", [0] * _spec.H_WORDS)
        for place, word in zip(SEALED, words, strict=True):
            block[place] = word
        assert config._seal(block) == seals(np.array([words]))[0]


def test_every_single_flip_is_told():
    words = headers(100_000)
    sound = seals(words)
    missed = sum(int((seals(flipped(words, bit)) == sound).sum()) for bit in range(BITS))
    print(f"seed {SEED}: {BITS * len(words):,} flips, {missed} missed")
    assert missed == 0


@pytest.mark.campaign
def test_two_flips_are_told_but_for_one_pair_in_a_hundred_thousand():
    words = headers(4000)
    sound = seals(words)
    pairs = list(itertools.combinations(range(BITS), 2))
    missed = sum(int((seals(flipped(words, *pair)) == sound).sum()) for pair in pairs)
    for bit in range(BITS):  # one of them in the hash itself
        change = seals(flipped(words, bit)) ^ sound
        missed += int(((change & (change - 1)) == 0).sum())
    tried = (len(pairs) + 16 * BITS) * len(words)
    print(f"seed {SEED}: {tried:,} pairs, {missed} missed")
    assert missed < 1e-5 * tried


@pytest.mark.parametrize("word", [_spec.H_MAGIC, _spec.H_HASH, *SEALED])
def test_every_call_refuses_a_flipped_sealed_word_and_changes_nothing(word):
    settings = make_config(2, 2, 5, {})
    block = array("H", bytes(2 * (binding.required_words(settings) + 100)))
    made = [binding.init(settings, block), core.attach(block)]
    for bit in range(16):
        block[word] ^= 1 << bit
        before, action = array("H", block), array("H", [1, 2])
        for controller in made:
            assert controller.act(0, [5, 5], action) == _spec.ERR_BLOCK
            assert controller.observe(0, 5, [5, 5]) == _spec.ERR_BLOCK
            assert controller.end_episode() == _spec.ERR_BLOCK
        assert core.attach(block) == check.check(block) == made[0].check() == _spec.ERR_BLOCK
        assert binding.read_stats(block) == {}
        assert block == before and list(action) == [1, 2]
        block[word] ^= 1 << bit


@pytest.mark.parametrize("make", [binding.init, core.init], ids=["C", "Python"])
def test_a_finer_action_is_never_written_over_a_sealed_word(make):
    """A link of V to unit 0 makes `units` look like the aux of a cell; the way ends on the magic word."""
    options = {"share": "off", "phi": 100, "bonus": 0}
    block = array("H", [0] * 2048)
    made = make(make_config(1, 1, 4, options), block)
    action, step = array("H", [0]), block[_spec.H_STEPS_AT]
    following = step + _spec.S_WORDS
    block[step + _spec.S_V_SLOT] = 0
    block[following + _spec.S_V_SLOT] = _spec.TAG | (_spec.MAGIC & _spec.VALUE_MASK)
    assert made.act(0, [0], action) == 0 and action[0] == block[_spec.H_UNITS]
    block[step + _spec.S_LAST] = 0x7FFF
    before = [block[place] for place in SEALED]
    assert made.observe(0, 0, [0]) == 0
    assert [block[place] for place in SEALED] == before
