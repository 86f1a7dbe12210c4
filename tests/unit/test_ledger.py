"""The ledger: every byte has one owner, the sum is the block, and damage is found and named."""

from __future__ import annotations

import random

import pytest

from adamb.budgets.bounds.layout import Layout
from adamb.budgets.ledger import OWNERS, DamagedBlock, host_memory, read_ledger
from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from support.real_core import RealCore


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
    assert ledger.used_bytes <= ledger.peak_bytes <= 2 * words
    assert binding.lib.adamb_check(core.block, words) == 0


def test_a_fresh_controller_owns_its_header_and_nothing_else():
    core = played(episodes=0)
    ledger = core.ledger()
    assert ledger.pool_units == 0
    assert ledger.used_bytes == ledger.peak_bytes == 8 * core.header("pool_at")
    assert ledger.leaves == 3
    assert ledger.bytes["header"] == 2 * _spec.H_WORDS
    assert ledger.bytes["steps"] == 2 * 3 * _spec.S_WORDS


def test_the_sharing_test_owns_its_table_while_it_runs():
    assert played(share="auto", episodes=0).ledger().bytes["sharing test"] == 8 * _spec.SHARE_TABLE_UNITS
    assert played(share="on", episodes=0).ledger().bytes["sharing test"] == 0


def test_the_peak_stays_when_units_are_reclaimed():
    core = played(words=800, episodes=600)
    ledger = core.ledger()
    assert core.header("reclaims") > 0
    assert ledger.peak_bytes >= ledger.used_bytes
    assert ledger.peak_bytes <= 1600


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


@pytest.mark.parametrize("seed", range(20))
def test_no_random_damage_escapes_as_another_error_or_an_endless_walk(seed):
    core = played()
    draw = random.Random(seed)
    for _ in range(20):
        core.words[draw.randrange(len(core.words))] = draw.getrandbits(16)
    try:
        assert core.ledger().total == 2 * len(core.words)
    except DamagedBlock as damage:
        assert str(damage)


@pytest.mark.parametrize("seed", range(100))
def test_no_damage_of_the_header_escapes_as_another_error(seed):
    core = played(episodes=20)
    draw = random.Random(seed)
    core.words[draw.randrange(int(_spec.H_WORDS) + 30)] = draw.getrandbits(draw.choice([4, 8, 16]))
    try:
        assert core.ledger().total == 2 * len(core.words)
    except DamagedBlock as damage:
        assert str(damage)


def test_host_memory_is_labelled_as_the_hosts():
    found = host_memory()
    assert all(label.startswith("host process") for label in found)
    assert min(found.values()) > 1_000_000
