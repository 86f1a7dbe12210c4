"""The host's batch calls refuse a block whose header names dimensions that no array of theirs has."""

from __future__ import annotations

from array import array

import pytest

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from support.exact.model import Config

ffi, lib = binding.ffi, binding.lib
WORDS = 512


@pytest.mark.parametrize("dims", [0x0000, 0x0510, 0x0501, 0x0011, 0x051F, 0x05F1, 0xFFFF])
def test_a_damaged_shape_is_a_bad_block_in_every_batch_call(dims):
    block = array("H", [0] * WORDS)
    made = binding.init(Config(d_s=1, d_a=1, horizon=5), block)
    assert not isinstance(made, int)
    block[_spec.H_DIMS] = dims
    words = ffi.cast("uint16_t *", ffi.from_buffer(block))
    before = block[:]
    numbers, out = ffi.new("double[16]"), ffi.new("double[16]")
    few = ffi.new("uint16_t[16]")
    assert lib.adamb_batch_act(words, WORDS, 1, 0, numbers, out) == _spec.ERR_BLOCK
    assert lib.adamb_batch_observe(words, WORDS, 1, 0, numbers, numbers) == _spec.ERR_BLOCK
    assert lib.adamb_batch_replay(words, 1, few, few, few, few) == _spec.ERR_BLOCK
    assert block == before and list(out) == [0.0] * 16
