"""A new program meets the saves of the old one: what it does not expect is refused, in both twins."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from adamb.firmware_model import _spec, check
from adamb.firmware_model.guard import REINITIALISED, RESTORED
from adamb.firmware_model.host.binding import ffi, lib
from adamb.firmware_model.host.options import make_config
from support.flash import Flash, sizes_of
from support.twins import CTwin, PythonTwin
from support.used_blocks import learnt, same_used

WORDS = 600
OTHERS = [(1, 3, 5), (2, 1, 5), (1, 1, 4)]
"""State and action dimensions and horizon of the old program; the new one has 1+1 and five steps."""
both = pytest.mark.parametrize("twin", [CTwin(), PythonTwin()], ids=["c", "python"])
other_sizes = pytest.mark.parametrize("sizes", OTHERS, ids=["1+3", "2+1", "four steps"])


def pending(twin: Any, config: Any) -> array:
    """A block that has learnt, with an action pending at step 0."""
    block = learnt(twin.init, config, WORDS, 40)
    assert twin.attach(block).act(0, [5] * config.d_s, array("H", [0] * config.d_a)) == 0
    return block


@both
@other_sizes
def test_a_save_of_other_dimensions_is_refused_and_the_block_is_as_it_was(twin: Any, sizes: Any) -> None:
    old, new = make_config(*sizes, {}, seed=1), make_config(1, 1, 5, {}, seed=1)
    saved, block = pending(twin, old), array("H", [0x5A5A] * WORDS)
    made = twin.open_store(Flash(64, 2048, 4), WORDS)
    assert made.save(saved) == 0
    assert made.restore(new, block) == _spec.ERR_DIMENSIONS and set(block) == {0x5A5A}
    assert made.restore(old, block) == 0
    data = twin.save(saved, 16 + 2 * WORDS)
    block = array("H", [0x5A5A] * WORDS)
    if twin.name == "c":
        given, pointer = ffi.new("adamb_config *", sizes_of(new)), ffi.from_buffer("uint16_t[]", block)
        code = lib.adamb_snapshot_restore(data, len(data), given, pointer, WORDS)
    else:
        code = twin.module("snapshot").restore(data, new, block)
    assert code == _spec.ERR_DIMENSIONS and set(block) == {0x5A5A}
    assert "dimensions" in check.error_text(code) == ffi.string(lib.adamb_error_text(code)).decode()


@both
def test_after_an_update_and_a_downgrade_each_program_finds_its_own_newest_save(twin: Any) -> None:
    programs = [make_config(1, 3, 5, {}, seed=1), make_config(1, 1, 5, {}, seed=1)]
    made = twin.open_store(Flash(64, 2048, 4), WORDS)
    saves = [pending(twin, config) for config in programs]
    assert [made.save(block) for block in saves] == [0, 0]
    for config, wanted in zip(programs, saves, strict=True):
        found = array("H", bytes(2 * WORDS))
        assert made.restore(config, found) == 0
        assert same_used(found, wanted)


@both
@other_sizes
def test_a_guard_that_cannot_begin_leaves_no_foreign_controller(twin: Any, sizes: Any) -> None:
    old, new = make_config(*sizes, {}, seed=1), make_config(1, 1, 5, {}, seed=1)
    made = twin.open_store(Flash(64, 2048, 4), WORDS)
    assert made.save(pending(twin, old)) == 0
    short = pending(twin, old)[:200]  # memory that was kept through a reset, now too short for init
    assert twin.open_guard(new, short, made) == _spec.ERR_MEMORY
    assert short[_spec.H_MAGIC] != _spec.MAGIC
    block = pending(twin, old)
    opened = twin.open_guard(new, block, made)
    assert not isinstance(opened, int) and block[_spec.H_DIMS] == 1 | 1 << 4 | 5 << 8


@both
def test_only_what_was_reinitialised_counts_as_reinitialised(twin: Any) -> None:
    config, block = make_config(1, 1, 5, {}, seed=1), array("H", bytes(2 * WORDS))
    opened = twin.open_guard(config, block, None)
    if twin.name == "c":
        opened._guard.words = 200
    else:
        opened.block = array("H", bytes(400))
    assert opened.handle(_spec.ERR_BLOCK) == _spec.ERR_MEMORY
    assert (opened.damages, opened.restored, opened.reinitialised) == (1, 0, 0)


@both
def test_an_action_that_was_pending_is_lost_with_a_restore_of_the_guard(twin: Any) -> None:
    config = make_config(1, 1, 5, {}, seed=1)
    made = twin.open_store(Flash(64, 2048, 4), WORDS)
    assert made.save(pending(twin, config)) == 0
    block = array("H", bytes(2 * WORDS))
    opened = twin.open_guard(config, block, made)
    assert opened.controller.observe(0, 9, [9]) == _spec.ERR_ORDER
    block[_spec.H_MAGIC] ^= 1
    assert opened.handle(opened.controller.act(0, [9], array("H", [0]))) == RESTORED
    assert opened.controller.observe(0, 9, [9]) == _spec.ERR_ORDER
    assert RESTORED != REINITIALISED
