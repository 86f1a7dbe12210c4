"""Boards by name: one TOML profile each, with the public document behind every figure: what it holds, how fast it is,
what it draws.

`load_board("rp2040")` reads a profile of this package, `load_board("./mine.toml")` your own; both pass the
same checks, and a mistake names the file, the key and what was expected there.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from adamb.budgets.cores import ProcessorCore, Range, core_named
from adamb.firmware_model.host.errors import InputError, nearest
from adamb.firmware_model.host.toml_file import check_known, checked_text, read_toml, refuse

BASES = ("data sheet", "measured", "estimate")
RUNTIMES = ("micropython", "usermod", "c")
"""The Python core, the C core in MicroPython's firmware (`adamb port --runtime usermod`), the C core alone."""

#: Set aside on a board without MicroPython: vectors, the application's stack and its own variables; at most
#: half of the RAM.
C_RESERVE_BYTES = 2048
#: Of that at least for the application, beside stack and tables of the core where these are known: its
#: variables, its strings, which an AVR keeps in RAM, and its interrupts.
C_PROGRAM_BYTES = 256
#: The most heap that importing the Python core from bytecode takes; a test compares it with a measurement.
CORE_IMPORT_BYTES = 36 * 1024
#: Set aside for the loop around the controller: its bytecode, buffers and what the REPL needs.
MICROPYTHON_RESERVE_BYTES = 8 * 1024


@dataclass(frozen=True)
class Rule:
    """Limits of one figure of a profile."""

    low: float
    high: float
    unit: str
    whole: bool = True
    ranged: bool = False
    optional: bool = False

    @property
    def expectation(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        text = f"{kind} of {self.unit} from {self.low:,.15g} to {self.high:,.15g}"
        if self.ranged:
            text += ", or [lowest, highest]"
        return text + (', or "none"' if self.optional else "")


FIGURES: dict[str, Rule] = {
    "clock_hz": Rule(1_000, 2_000_000_000, "hertz"),
    "ram_bytes": Rule(256, 2**30, "bytes"),
    "flash_bytes": Rule(1024, 2**32, "bytes"),
    "micropython_heap_bytes": Rule(1024, 2**30, "bytes", optional=True),
    "active_current_ua": Rule(1, 5_000_000, "microamperes", whole=False, ranged=True),
    "sleep_current_ua": Rule(0, 1_000_000, "microamperes", whole=False, ranged=True),
    "supply_mv": Rule(500, 48_000, "millivolts"),
    "stall_cycles": Rule(0, 20, "cycles per instruction", whole=False, ranged=True),
}
TEXTS = ("title", "aliases", "core", "flash", "pins")
FLASHES = ("file", "esp32")
"""Storage of the guarded loop of MicroPython: files, or a partition of an ESP32 if there is one."""
LAST_PIN = 255
PIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,15}")


@dataclass(frozen=True)
class Figure:
    """One figure: a single value has low == high; `None` means the board has no such thing."""

    value: int | float | tuple[float, float] | None
    basis: str
    source: str

    @property
    def low(self) -> float:
        return self._pair[0]

    @property
    def high(self) -> float:
        return self._pair[1]

    @property
    def _pair(self) -> Range:
        if self.value is None:
            raise ValueError("the board has no such figure")
        return self.value if isinstance(self.value, tuple) else (self.value, self.value)


@dataclass(frozen=True)
class Pins:
    """Sensor and actuator of the exported control loop: numbers or names, for machine.Pin."""

    adc: int | str = 26
    pwm: int | str = 15
    note: str = "an ADC input and a PWM output"


@dataclass(frozen=True)
class Board:
    """A checked profile. Times and energies are ranges: lowest figures together, highest figures together.

    >>> from adamb.budgets import load_board
    >>> board = load_board("rp2040")
    >>> board.ram_bytes, board.available_bytes("c") < board.ram_bytes
    (270336, True)
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    core: ProcessorCore
    figures: dict[str, Figure]
    path: Path
    pins: Pins = Pins()
    flash: str = "file"

    @property
    def clock_hz(self) -> int:
        return int(self.figures["clock_hz"].low)

    @property
    def ram_bytes(self) -> int:
        return int(self.figures["ram_bytes"].low)

    @property
    def flash_bytes(self) -> int:
        return int(self.figures["flash_bytes"].low)

    @property
    def micropython_heap_bytes(self) -> int | None:
        figure = self.figures["micropython_heap_bytes"]
        return None if figure.value is None else int(figure.low)

    @property
    def runtime(self) -> str:
        """The runtime assumed unless one is named: MicroPython where it has room for the Python core."""
        heap = self.micropython_heap_bytes or 0
        return "micropython" if heap > CORE_IMPORT_BYTES + MICROPYTHON_RESERVE_BYTES else "c"

    def available_bytes(self, runtime: str | None = None) -> int:
        """The largest block: of MicroPython's heap what the imported core (none, where the firmware has it)
        and a reserve for the program leave, of the RAM under C what a reserve for the firmware leaves."""
        runtime = runtime or self.runtime
        if runtime not in RUNTIMES:
            raise InputError("runtime", runtime, f"must be one of {', '.join(RUNTIMES)}")
        if runtime == "c":
            reserve, code = min(C_RESERVE_BYTES, self.ram_bytes // 2), self.core.code
            if code is not None:
                reserve = max(reserve, code.stack + code.tables + C_PROGRAM_BYTES)
            return max(0, self.ram_bytes - reserve) & ~1
        if self.micropython_heap_bytes is None:
            raise InputError("runtime", runtime, f"{self.name} does not run MicroPython; use c")
        imported = CORE_IMPORT_BYTES if runtime == "micropython" else 0
        return max(0, self.micropython_heap_bytes - imported - MICROPYTHON_RESERVE_BYTES)

    @property
    def cycles_per_instruction(self) -> Range:
        """Cycles of this board per instruction counted on Cortex-M0 code, memory stalls included."""
        stall, (low, high) = self.figures["stall_cycles"], self.core.cpi
        return self.core.instructions[0] * (low + stall.low), self.core.instructions[1] * (high + stall.high)

    @property
    def estimate(self) -> bool:
        """Whether the time per instruction rests on anything that no document states."""
        return self.core.estimate or self.figures["stall_cycles"].basis == "estimate"

    def cycles_of(self, counted: str) -> Range | None:
        """Cycles per instruction of this emulated processor; None where the board executes other ones."""
        low, high = self.cycles_per_instruction
        if counted == "cortex-m3":
            fewer = self.core.instructions
            return (low / fewer[0], high / fewer[1]) if self.core.runs_thumb_2 else None
        return (low, high) if counted == "cortex-m0" else None

    def seconds(self, instructions: float, counted: str = "cortex-m0") -> Range:
        """Time of so many instructions at the board's clock."""
        cycles = self.cycles_of(counted)
        if cycles is None:
            raise InputError("board", self.name, f"executes {self.core.instruction_set}, not {counted} code")
        low, high = cycles
        return instructions * low / self.clock_hz, instructions * high / self.clock_hz

    @property
    def current_ua_per_mhz(self) -> Range:
        """Active current by the clock, as data sheets state it."""
        current, megahertz = self.figures["active_current_ua"], self.clock_hz / 1e6
        return current.low / megahertz, current.high / megahertz

    def energy_uj(self, instructions: float, counted: str = "cortex-m0") -> Range:
        """Energy of so many instructions in microjoules: active current × supply × time."""
        current, volts = self.figures["active_current_ua"], self.figures["supply_mv"].low / 1000
        low, high = self.seconds(instructions, counted)
        return low * current.low * volts, high * current.high * volts

    def to_json(self) -> dict[str, Any]:
        low, high = self.cycles_per_instruction
        return {
            "name": self.name,
            "title": self.title,
            "aliases": list(self.aliases),
            "core": self.core.name,
            "architecture": self.core.instruction_set,
            "figures": {
                key: {"value": figure.value, "basis": figure.basis, "source": figure.source}
                for key, figure in self.figures.items()
            },
            "pins": asdict(self.pins),
            "flash": self.flash,
            "runtime": self.runtime,
            "available_bytes": self.available_bytes(),
            "current_ua_per_mhz": [round(each, 3) for each in self.current_ua_per_mhz],
            "cycles_per_instruction": {
                "model": self.core.model,
                "low": round(low, 4),
                "high": round(high, 4),
                "estimate": self.estimate,
                "source": self.core.source,
            },
        }


def read_profile(path: Path) -> Board:
    """Read and check one profile."""
    content = read_toml(path, "board")
    _check_keys(path, "", content, (*TEXTS, *FIGURES), required=("title", "core", *FIGURES))
    title = checked_text(path, "title", content["title"])
    aliases = content.get("aliases", [])
    if not (isinstance(aliases, list) and all(isinstance(alias, str) and alias for alias in aliases)):
        refuse(path, "aliases", aliases, "a list of texts")
    try:
        core = core_named(checked_text(path, "core", content["core"]))
    except InputError as error:
        raise InputError(f"{path}: core", error.value, error.limit) from None
    figures = {key: _figure(path, key, content[key], rule) for key, rule in FIGURES.items()}
    heap = figures["micropython_heap_bytes"]
    if heap.value is not None and heap.high > figures["ram_bytes"].high:
        limit = f"at most ram_bytes = {figures['ram_bytes'].value}"
        refuse(path, "micropython_heap_bytes.value", heap.value, limit)
    flash = checked_text(path, "flash", content.get("flash", Board.flash))
    if flash not in FLASHES:
        refuse(path, "flash", flash, f"one of {', '.join(FLASHES)}")
    pins = _pins(path, content["pins"]) if "pins" in content else Board.pins
    names = tuple(alias.lower() for alias in aliases)
    return Board(path.stem, title, names, core, figures, path, pins, flash)


def _check_keys(
    path: Path, prefix: str, table: dict[str, Any], known: tuple[str, ...], required: tuple[str, ...]
) -> None:
    check_known(path, prefix, table, known)
    for key in required:
        if key not in table:
            rule = FIGURES.get(key)
            expectation = f"a table with value ({rule.expectation}), basis and source" if rule else "a text"
            raise InputError(f"{path}: {prefix}{key}", None, f"is missing; expected {expectation}")


def _pins(path: Path, table: object) -> Pins:
    parts = ("adc", "pwm", "note")
    if not isinstance(table, dict):
        refuse(path, "pins", table, f"a table with {', '.join(parts)}")
    assert isinstance(table, dict)
    _check_keys(path, "pins.", table, parts, required=("note",))
    for key in ("adc", "pwm"):
        pin = table.get(key)
        number = isinstance(pin, int) and not isinstance(pin, bool) and 0 <= pin <= LAST_PIN
        if not number and not (isinstance(pin, str) and PIN_NAME.fullmatch(pin)):
            refuse(path, f"pins.{key}", pin, f"a pin: a number from 0 to {LAST_PIN} or a name")
    return Pins(table["adc"], table["pwm"], checked_text(path, "pins.note", table["note"]))


def _figure(path: Path, key: str, table: object, rule: Rule) -> Figure:
    if not isinstance(table, dict):
        refuse(path, key, table, f"a table with value ({rule.expectation}), basis and source")
    assert isinstance(table, dict)
    parts = ("value", "basis", "source")
    _check_keys(path, f"{key}.", table, parts, required=parts)
    basis = checked_text(path, f"{key}.basis", table["basis"])
    if basis not in BASES:
        refuse(path, f"{key}.basis", basis, f"one of {', '.join(BASES)}")
    source = checked_text(path, f"{key}.source", table["source"])
    value = table["value"]
    if rule.optional and value == "none":
        return Figure(None, basis, source)
    values = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not (rule.ranged and len(value) == 2):
        refuse(path, f"{key}.value", value, rule.expectation)
    for number in values:
        if not _fits(number, rule):
            refuse(path, f"{key}.value", value, rule.expectation)
    if isinstance(value, list):
        if value[0] > value[1]:
            refuse(path, f"{key}.value", value, "the lowest value first")
        return Figure((value[0], value[1]), basis, source)
    return Figure(value, basis, source)


def _fits(number: object, rule: Rule) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        return False
    return (not rule.whole or isinstance(number, int)) and rule.low <= number <= rule.high


__all__ = ["BASES", "FIGURES", "FOLDER", "RUNTIMES", "Board", "Figure", "board_names", "load_board", "read_profile"]

FOLDER = Path(__file__).parent


@cache
def board_names() -> tuple[str, ...]:
    """Our own profiles, smallest RAM first.

    >>> board_names()[0]
    'uno'
    """
    return tuple(sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda n: (_ours(n).ram_bytes, n)))


@cache
def _ours(name: str) -> Board:
    return read_profile(FOLDER / f"{name}.toml")


def load_board(name_or_path: str | Path) -> Board:
    """One of our boards by name or alias, or your own profile by path (with a `/` or ending in .toml).

    >>> load_board("microbit").name
    'nrf51'
    """
    text = str(name_or_path).strip()
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text or "\\" in text:
        return read_profile(Path(text))
    wanted = text.lower().replace("_", "-")
    known: dict[str, str] = {}
    for name in board_names():
        known |= dict.fromkeys((name, *_ours(name).aliases), name)
    if wanted in known:
        return _ours(known[wanted])
    limit = f"unknown, {nearest(wanted, known)}; your own profile is given as a path to a .toml file"
    raise InputError("board", str(name_or_path), limit)
