"""Both cores behind one interface, so that the same scenario runs on either."""

from __future__ import annotations

from array import array
from types import SimpleNamespace
from typing import Any

from adamb.firmware_model import _spec
from support.flash import CStore, Flash, fitting_bytes, sizes_of

FILL = 0x5A5A
Place = tuple[int, int, int]


class PythonTwin:
    """The modules are looked up at every call: a mutated one may have taken the place of another."""

    name = "python"

    @staticmethod
    def module(name: str) -> Any:
        from importlib import import_module

        return import_module(f"adamb.firmware_model.{name}")

    def config(self, fields: dict[str, Any]) -> Any:
        return self.module("core").Config(**fields | {"thresholds": array("H", fields["thresholds"])})

    def init(self, config: Any, block: array) -> Any:
        return self.module("core").init(config, block)

    def attach(self, block: array) -> Any:
        """A controller even of a damaged block, as a board has one when damage happens."""
        made = self.module("core").attach(block)
        return made

    def required_words(self, config: Any) -> int:
        return int(self.module("core").required_words(config))

    def thresholds(self, gamma: int, numerator: int, denominator: int) -> list[int]:
        return list(self.module("core").thresholds(gamma, numerator, denominator))

    def check(self, block: array) -> int:
        return int(self.module("check").check(block))

    def stats(self, block: array) -> dict[str, int]:
        return dict(self.module("check").stats(block))

    def scrub(self, block: array, place: Place) -> tuple[int, Place]:
        guard = self.module("guard")
        here = guard.Place()
        here.path, here.h, here.part = place
        code = guard.scrub(block, here)
        return int(code), (here.path, here.h, here.part)

    def save(self, block: array, capacity: int) -> bytes | int:
        out = bytearray(capacity)
        length = self.module("snapshot").save(block, out)
        return bytes(out[:length]) if length >= 0 else int(length)

    def snapshot_bytes(self, block: array) -> int:
        return int(self.module("snapshot").bytes(block))

    def restore(self, data: bytes, words: int) -> tuple[int, array]:
        block = array("H", [FILL] * words)
        return int(self.module("snapshot").restore(data, fitting_bytes(data), block)), block

    def open_store(self, flash: Flash, words: int) -> Any:
        return self.module("store").open(flash, words)

    def open_guard(self, config: Any, block: array, store: Any) -> Any:
        return self.module("guard").open(config, block, store)

    def wrong_points(self, block: array) -> list[int]:
        """Answers to points and arrays that are too short, and to numbers beyond 16 bits, of a 2+1 block."""
        made, action = self.attach(block), array("H", [0])
        points = ([5], [5, -1], [5, 65536], [-1, 5])
        codes = [made.act(0, point, action) for point in points] + [made.act(0, [5, 5], array("H"))]
        assert made.act(0, [5, 5], action) == 0
        codes += [made.observe(0, 5, point) for point in points]
        return codes + [made.observe(0, reward, [5, 5]) for reward in (-1, 65536)]

    def guard_without_config(self, block: array, store: Any) -> int:
        """Python has no null pointers; what C answers to one."""
        return int(_spec.ERR_ARGUMENT)

    def unit(self, zero: int, full: int) -> Any:
        return self.module("unit").init(zero, full)


class CTwin:
    """Through whichever library `binding.lib` is now."""

    name = "c"

    @property
    def binding(self) -> Any:
        from adamb.firmware_model.host import binding

        return binding

    def pointer(self, block: array) -> Any:
        return self.binding.ffi.from_buffer("uint16_t[]", block)

    def config(self, fields: dict[str, Any]) -> Any:
        return SimpleNamespace(**fields)

    def init(self, config: Any, block: array) -> Any:
        return self.binding.init(config, block)

    def attach(self, block: array) -> Any:
        return self.binding.Controller(block)

    def required_words(self, config: Any) -> int:
        return int(self.binding.required_words(config))

    def thresholds(self, gamma: int, numerator: int, denominator: int) -> list[int]:
        made = self.binding.ffi.new("adamb_config *")
        self.binding.lib.adamb_thresholds(made, gamma, numerator, denominator)
        return list(made.thresholds)

    def check(self, block: array) -> int:
        return int(self.binding.lib.adamb_check(self.pointer(block), len(block)))

    def stats(self, block: array) -> dict[str, int]:
        return dict(self.binding.read_stats(block))

    def scrub(self, block: array, place: Place) -> tuple[int, Place]:
        here = self.binding.ffi.new("adamb_place *")
        here.path, here.h, here.part = place
        code = self.binding.lib.adamb_scrub(self.pointer(block), len(block), here)
        return int(code), (int(here.path), int(here.h), int(here.part))

    def save(self, block: array, capacity: int) -> bytes | int:
        out = self.binding.ffi.new("uint8_t[]", max(capacity, 1))
        length = int(self.binding.lib.adamb_snapshot_save(self.pointer(block), out, capacity))
        return bytes(self.binding.ffi.buffer(out, length)) if length >= 0 else length

    def snapshot_bytes(self, block: array) -> int:
        return int(self.binding.lib.adamb_snapshot_bytes(self.pointer(block)))

    def restore(self, data: bytes, words: int) -> tuple[int, array]:
        block = array("H", [FILL] * words)
        given = self.binding.ffi.new("adamb_config *", sizes_of(fitting_bytes(data)))
        lib, pointer = self.binding.lib, self.pointer(block)
        return int(lib.adamb_snapshot_restore(data, len(data), given, pointer, words)), block

    def open_store(self, flash: Flash, words: int) -> Any:
        made = CStore(flash, words)
        return made if made.code in (0, _spec.ERR_DEVICE) else made.code

    def open_guard(self, config: Any, block: array, store: Any) -> Any:
        made = CGuard(config, block, store)
        return made if made.code >= 0 else made.code

    def wrong_points(self, block: array) -> list[int]:
        """C has no lengths, and its types hold no other numbers; what Python answers."""
        return [_spec.ERR_ARGUMENT] * 11

    def guard_without_config(self, block: array, store: CStore) -> int:
        made, null = self.binding.ffi.new("adamb_guard *"), self.binding.ffi.NULL
        opened = self.binding.lib.adamb_guard_open(made, null, self.pointer(block), len(block), store._store)
        return int(opened)

    def unit(self, zero: int, full: int) -> Any:
        made = CUnit(self.binding, zero, full)
        return made if made.error == 0 else made.error


class CGuard:
    """The C guard with the calls and counters of the Python twin's."""

    def __init__(self, config: Any, block: array, store: CStore | None) -> None:
        from adamb.firmware_model.host import binding

        self.block, self._store, self.config = block, store, config
        self._lib, self._config = binding.lib, binding.c_config(config)
        self._guard = binding.ffi.new("adamb_guard *")
        made = store._store if store else binding.ffi.NULL
        pointer = binding.ffi.from_buffer("uint16_t[]", block)
        self.code = int(self._lib.adamb_guard_open(self._guard, self._config, pointer, len(block), made))
        self.controller = binding.Controller(block)

    def handle(self, code: int) -> int:
        return int(self._lib.adamb_guard_handle(self._guard, code))

    def tick(self) -> int:
        return int(self._lib.adamb_guard_tick(self._guard))

    def save(self) -> int:
        return int(self._lib.adamb_guard_save(self._guard))

    @property
    def place(self) -> Any:
        return self._guard.place

    def __getattr__(self, name: str) -> int:
        return int(getattr(self._guard, name))

    def count(self, name: str, value: int) -> None:
        """Set a counter, to see what it does near its end."""
        setattr(self._guard, name, value)


class CUnit:
    """The C scale of a user's unit with the calls of the Python twin's."""

    def __init__(self, binding: Any, zero: int, full: int) -> None:
        self._lib, self._unit = binding.lib, binding.ffi.new("adamb_unit *")
        self.error = int(self._lib.adamb_unit_init(self._unit, zero, full))

    def code(self, value: int) -> int:
        return int(self._lib.adamb_unit_code(self._unit, value))

    def value(self, code: int) -> int:
        return int(self._lib.adamb_unit_value(self._unit, code))

    @property
    def out_of_range(self) -> int:
        return int(self._unit.out_of_range)

    @out_of_range.setter
    def out_of_range(self, value: int) -> None:
        self._unit.out_of_range = value

    @property
    def outside(self) -> int:
        return int(self._unit.outside)
