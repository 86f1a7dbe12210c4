"""The core on an AVR in simavr, where int has 16 bits: the same words as everywhere."""

from __future__ import annotations

import struct
from array import array
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("elftools", reason="pip install adamb[device]")

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import ffi, lib
from adamb.tools.device.emulator import avr
from adamb.tools.device.emulator.avr import AvrMachine, long, pointer
from adamb.tools.device.settings import DeviceSettings
from support import replay
from support.campaigns import few
from support.exact.model import Config
from support.flash import fitting, sizes_of
from support.paths import TESTS, VECTORS

pytestmark = pytest.mark.usefixtures("avr_installed")
FILES = sorted(VECTORS.glob("*.jsonl"))
STORE = TESTS / "device" / "avr_store.c"
every_stream = pytest.mark.parametrize(
    "path",
    few(sorted(FILES, key=lambda path: path.name.startswith("long-")), 17),
    ids=lambda path: path.stem,
)


class Controller:
    """On a Mega behind the interface that a replay drives, codes and all."""

    def __init__(self, config: Any, words: int, path: Path | None = None) -> None:
        self.machine, self.words, self._d_a = AvrMachine(path=path), words, config.d_a
        self.block = self.machine.reserve(2 * words)
        self._point, self._action = self.machine.reserve(6), self.machine.reserve(6)
        data = bytes(ffi.buffer(binding.c_config(config)))
        place = self.machine.reserve(len(data))
        self.machine.write(place, data)
        self.machine.write(self.block, b"\xa5" * (2 * words))
        self.code = self.call("adamb_init", pointer(place), pointer(self.block), long(words))

    def call(self, name: str, *arguments: tuple[int, int], result_bytes: int = 2) -> int:
        return self.machine.call(name, *arguments, result_bytes=result_bytes).result

    @property
    def w(self) -> array:
        return array("H", struct.unpack(f"<{self.words}H", self.machine.read(self.block, 2 * self.words)))

    @w.setter
    def w(self, words: array) -> None:
        self.machine.write(self.block, struct.pack(f"<{self.words}H", *words))

    def act(self, h: int, point: Any, action: array) -> int:
        self.machine.write(self._point, struct.pack(f"<{len(point)}H", *point))
        code = self.call("adamb_act", *map(pointer, (self.block, h, self._point, self._action)))
        if code == 0:
            data = self.machine.read(self._action, 2 * self._d_a)
            action[:] = array("H", struct.unpack(f"<{self._d_a}H", data))
        return code

    def observe(self, h: int, reward: int, point: Any) -> int:
        self.machine.write(self._point, struct.pack(f"<{len(point)}H", *point))
        return self.call("adamb_observe", *map(pointer, (self.block, h, reward, self._point)))

    def end_episode(self) -> int:
        return self.call("adamb_end_episode", pointer(self.block))


def played(path: Path, monkeypatch: pytest.MonkeyPatch) -> Controller:
    """The controller at the end of a recorded stream, which held."""

    def start(_: str, config: Any, words: int) -> Any:
        made = Controller(config, words)
        return made.code or made

    monkeypatch.setattr(replay, "start", start)
    one = replay.Replay(path, "avr")
    assert one.play() > 100
    return one.controller


@every_stream
def test_a_16_bit_int_computes_the_same_words(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes, actions and digests are those recorded; check, scrub, statistics and saves are the host's."""
    there = played(path, monkeypatch)
    words, found = there.words, there.w
    here = ffi.from_buffer("uint16_t[]", found)
    assert there.call("adamb_check", pointer(there.block), long(words)) == lib.adamb_check(here, words) == 0

    place, passed = ffi.new("adamb_place *"), there.machine.reserve(6)
    there.machine.write(passed, bytes(6))
    code = 0
    while code == 0:
        code = lib.adamb_scrub(here, words, place)
        assert there.call("adamb_scrub", pointer(there.block), long(words), pointer(passed)) == code
        seen = struct.unpack("<IBB", there.machine.read(passed, 6))
        assert seen == (place.path, place.h, place.part)
    assert code == 1

    numbers = there.machine.reserve(4 + 14 * 2)
    assert there.call("adamb_stats", pointer(there.block), pointer(numbers)) == 0
    counted = struct.unpack("<I14H", there.machine.read(numbers, 32))
    assert list(counted) == list(binding.read_stats(found).values())

    saved = ffi.new("uint8_t[]", 2 * words + 16)
    length = lib.adamb_snapshot_save(here, saved, len(saved))
    out = there.machine.reserve(length)
    arguments = (pointer(there.block), pointer(out), long(length))
    assert there.call("adamb_snapshot_save", *arguments, result_bytes=4) == length
    data = bytes(ffi.buffer(saved, length))
    assert there.machine.read(out, length) == data
    there.w = array("H", [0x5A5A] * words)
    sizes = sizes_of(fitting(found))
    expected = there.machine.reserve(ffi.sizeof("adamb_config"))
    there.machine.write(expected, bytes(sizes.values()))
    arguments = (pointer(out), long(length), pointer(expected), pointer(there.block), long(words))
    assert there.call("adamb_snapshot_restore", *arguments) == 0
    again = array("H", [0x5A5A] * words)
    given = ffi.new("adamb_config *", sizes)
    assert lib.adamb_snapshot_restore(data, length, given, ffi.from_buffer("uint16_t[]", again), words) == 0
    assert there.w == again


COUNTERS = ("REFUSED", "NO_ROOM", "RECLAIMS", "SATURATIONS", "SINCE", "SEEN", "EPISODES", "EPISODES_HIGH")


def full_counters(path: Path | None) -> tuple[array, array]:
    """The blocks of host and AVR, some episodes after all counters were full."""
    config = Config(d_s=2, d_a=1, horizon=3)
    there = Controller(config, 240, path)
    here = binding.init(config, array("H", [0] * 240))
    for name in COUNTERS:
        here.w[getattr(_spec, f"H_{name}")] = 0xFFFF
    there.w = here.w
    for one in (here, there):
        assert all(code == 0 for _, code, _ in replay.run(one, config, 7, 60))
    return array("H", here.w), there.w


def test_counters_stop_at_their_ends(path: Path | None = None) -> None:
    here, there = full_counters(path)
    assert here == there
    assert [there[getattr(_spec, f"H_{name}")] for name in COUNTERS[:4]] == [0xFFFF] * 4


def test_a_guard_restores_the_save_of_a_store_there() -> None:
    machine = AvrMachine(path=avr.image("atmega2560", more=(STORE,)))
    config = machine.reserve(44)
    machine.write(config, DeviceSettings(1, 1, 3).config())
    place = machine.symbols["block"] - avr.DATA

    def number(name: str) -> int:
        return machine.read(machine.symbols[name] - avr.DATA, 1)[0]

    assert machine.call("begin", pointer(config)).result == 2, "nothing is saved yet"
    assert machine.call("save").result == 0
    sound = machine.read(place, 2 * 384)
    for _ in range(100):
        assert machine.call("tick").result == 0
    assert number("passes") > 1 and number("damages") == 0
    machine.write(place + 2 * _spec.H_POOL_AT, b"\xff\xff")
    assert machine.call("tick").result == 1, "restored"
    assert (number("damages"), number("restored")) == (1, 1)
    assert machine.read(place, 2 * 384) == sound
