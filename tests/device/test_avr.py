"""The core on an AVR in simavr, where int has 16 bits: the same words as everywhere."""

from __future__ import annotations

import json
import struct
from array import array
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("elftools", reason="pip install adamb[device]")

from adamb.firmware_model import _spec
from adamb.firmware_model.exact.model import Config
from adamb.firmware_model.exact.streams import run
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import ffi, lib
from adamb.tools.device.emulator import avr
from adamb.tools.device.emulator.avr import AvrMachine
from adamb.tools.device.settings import DeviceSettings
from support.board_controller import BoardController
from support.campaigns import few
from support.flash import fitting, sizes_of
from support.paths import TESTS, VECTORS
from support.replay import Replay

pytestmark = pytest.mark.usefixtures("avr_installed")
FITS = 1500
"""Words of a block of which a Mega's RAM holds a snapshot, too."""
FILES = [
    path for path in sorted(VECTORS.glob("*.jsonl")) if json.loads(path.read_text().splitlines()[0])["words"] <= FITS
]
STORE = TESTS / "device" / "avr_store.c"
every_stream = pytest.mark.parametrize(
    "path", few(sorted(FILES, key=lambda path: path.name.startswith("long-")), 17), ids=lambda path: path.stem
)


class Controller(BoardController):
    """On a Mega."""

    def __init__(self, config: Any, words: int) -> None:
        super().__init__(config, words, AvrMachine())

    call = BoardController._call

    def put(self, words: array) -> None:
        self._machine.write(self._block, words.tobytes())


@every_stream
def test_a_16_bit_int_computes_the_same_words(path: Path) -> None:
    """Codes, actions and digests are those recorded; check, scrub, statistics and saves are the host's."""
    one = Replay(path, "avr", start=Controller)
    assert one.play() > 100
    there = one.controller
    words, found = there._words, there.w
    here = ffi.from_buffer("uint16_t[]", found)
    assert there.call("adamb_check", there._block, words) == lib.adamb_check(here, words) == 0

    place, passed = ffi.new("adamb_place *"), there._machine.reserve(6)
    there._machine.write(passed, bytes(6))
    code = 0
    while code == 0:
        code = lib.adamb_scrub(here, words, place)
        assert there.call("adamb_scrub", there._block, words, passed) == code
        seen = struct.unpack("<IBB", there._machine.read(passed, 6))
        assert seen == (place.path, place.h, place.part)
    assert code == 1

    numbers = there._machine.reserve(4 + 14 * 2)
    assert there.call("adamb_stats", there._block, numbers) == 0
    counted = struct.unpack("<I14H", there._machine.read(numbers, 32))
    assert list(counted) == list(binding.read_stats(found).values())

    saved = ffi.new("uint8_t[]", 2 * words + 16)
    length = lib.adamb_snapshot_save(here, saved, len(saved))
    out = there._machine.reserve(length)
    assert there.call("adamb_snapshot_save", there._block, out, length) == length
    data = bytes(ffi.buffer(saved, length))
    assert there._machine.read(out, length) == data
    there.put(array("H", [0x5A5A] * words))
    sizes = sizes_of(fitting(found))
    expected = there._machine.reserve(ffi.sizeof("adamb_config"))
    there._machine.write(expected, bytes(sizes.values()))
    assert there.call("adamb_snapshot_restore", out, length, expected, there._block, words) == 0
    again = array("H", [0x5A5A] * words)
    given = ffi.new("adamb_config *", sizes)
    assert lib.adamb_snapshot_restore(data, length, given, ffi.from_buffer("uint16_t[]", again), words) == 0
    assert there.w == again


COUNTERS = ("REFUSED", "NO_ROOM", "RECLAIMS", "SATURATIONS", "SINCE", "SEEN", "EPISODES", "EPISODES_HIGH")


def test_counters_stop_at_their_ends() -> None:
    """Some episodes after all of them were full."""
    config = Config(d_s=2, d_a=1, horizon=3)
    there = Controller(config, 240)
    here = binding.init(config, array("H", [0] * 240))
    for name in COUNTERS:
        here.w[getattr(_spec, f"H_{name}")] = 0xFFFF
    there.put(here.w)
    for one in (here, there):
        assert all(code == 0 for _, code, _ in run(one, config, 7, 60))
    assert array("H", here.w) == there.w
    assert [there.w[getattr(_spec, f"H_{name}")] for name in COUNTERS[:4]] == [0xFFFF] * 4


def test_a_guard_restores_the_save_of_a_store_there() -> None:
    machine = AvrMachine(path=avr.image("atmega2560", more=(STORE,)))
    config = machine.reserve(44)
    machine.write(config, DeviceSettings(1, 1, 3).config())
    place = machine.symbols["block"] - avr.DATA

    def number(name: str) -> int:
        return machine.read(machine.symbols[name] - avr.DATA, 1)[0]

    assert machine.call("begin", config).result == 2, "nothing is saved yet"
    assert machine.call("save").result == 0
    sound = machine.read(place, 2 * 384)
    for _ in range(100):
        assert machine.call("tick").result == 0
    assert number("passes") > 1 and number("damages") == 0
    machine.write(place + 2 * _spec.H_POOL_AT, b"\xff\xff")
    assert machine.call("tick").result == 1, "restored"
    assert (number("damages"), number("restored")) == (1, 1)
    assert machine.read(place, 2 * 384) == sound
