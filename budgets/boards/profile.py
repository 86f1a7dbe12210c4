"""One board: what it holds, how fast it is and what it draws, each figure with the document that states
it."""

from __future__ import annotations

import difflib
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamb.budgets.cores import Core, Range, core_named
from adamb.budgets.errors import InputError

BASES = ("data sheet", "measured", "estimate")
RUNTIMES = ("micropython", "c")

#: Set aside on a board without MicroPython: vectors, the application's stack and its own variables.
C_RESERVE_BYTES = 2048


@dataclass(frozen=True)
class Rule:
    """What one figure of a profile may be."""

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
TEXTS = ("title", "aliases", "core")


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
class Board:
    """A checked profile. Times and energies are ranges: lowest figures together, highest figures together."""

    name: str
    title: str
    aliases: tuple[str, ...]
    core: Core
    figures: dict[str, Figure]
    path: Path

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
        """The runtime assumed unless one is named: MicroPython where it runs, as it leaves less memory."""
        return "c" if self.micropython_heap_bytes is None else "micropython"

    def available_bytes(self, runtime: str | None = None) -> int:
        """Memory that a controller may use: MicroPython's free heap, or the RAM less a reserve for C
        firmware."""
        runtime = runtime or self.runtime
        if runtime not in RUNTIMES:
            raise InputError("runtime", runtime, f"must be one of {', '.join(RUNTIMES)}")
        if runtime == "c":
            return max(0, self.ram_bytes - C_RESERVE_BYTES)
        if self.micropython_heap_bytes is None:
            raise InputError("runtime", runtime, f"{self.name} does not run MicroPython; use c")
        return self.micropython_heap_bytes

    @property
    def cycles_per_instruction(self) -> Range:
        """Cycles of this board per instruction counted on Cortex-M0 code, memory stalls included."""
        stall, (low, high) = self.figures["stall_cycles"], self.core.cpi
        return self.core.instructions[0] * (low + stall.low), self.core.instructions[1] * (high + stall.high)

    @property
    def estimate(self) -> bool:
        """Whether the time per instruction rests on anything that no document states."""
        return self.core.estimate or self.figures["stall_cycles"].basis == "estimate"

    def seconds(self, instructions: float) -> Range:
        """Time of so many Cortex-M0 instructions at the board's clock."""
        low, high = self.cycles_per_instruction
        return instructions * low / self.clock_hz, instructions * high / self.clock_hz

    def energy_uj(self, instructions: float) -> Range:
        """Energy of so many Cortex-M0 instructions in microjoules: active current × supply × time."""
        current, volts = self.figures["active_current_ua"], self.figures["supply_mv"].low / 1000
        low, high = self.seconds(instructions)
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
            "runtime": self.runtime,
            "available_bytes": self.available_bytes(),
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
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("board", str(path), "there is no such file") from None
    except UnicodeDecodeError:
        raise InputError("board", str(path), "must be a UTF-8 text file in TOML") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError("board", str(path), f"must be valid TOML: {error}") from None
    except OSError as error:
        raise InputError("board", str(path), f"cannot be read: {error.strerror}") from None
    _check_keys(path, "", content, (*TEXTS, *FIGURES), required=("title", "core", *FIGURES))
    title = _text(path, "title", content["title"])
    aliases = content.get("aliases", [])
    if not (isinstance(aliases, list) and all(isinstance(alias, str) and alias for alias in aliases)):
        _refuse(path, "aliases", aliases, "a list of texts")
    try:
        core = core_named(_text(path, "core", content["core"]))
    except InputError as error:
        raise InputError(f"{path}: core", error.value, error.limit) from None
    figures = {key: _figure(path, key, content[key], rule) for key, rule in FIGURES.items()}
    heap = figures["micropython_heap_bytes"]
    if heap.value is not None and heap.high > figures["ram_bytes"].high:
        limit = f"at most ram_bytes = {figures['ram_bytes'].value}"
        _refuse(path, "micropython_heap_bytes.value", heap.value, limit)
    return Board(path.stem, title, tuple(alias.lower() for alias in aliases), core, figures, path)


def _refuse(path: Path, key: str, value: object, expectation: str) -> None:
    raise InputError(f"{path}: {key}", value, f"expected {expectation}")


def _check_keys(
    path: Path, prefix: str, table: dict[str, Any], known: tuple[str, ...], required: tuple[str, ...]
) -> None:
    for key in table:
        if key not in known:
            nearest = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {nearest[0]}? " if nearest else ""
            raise InputError(f"{path}: {prefix}{key}", key, f"{hint}expected only {', '.join(known)}")
    for key in required:
        if key not in table:
            rule = FIGURES.get(key)
            expectation = f"a table with value ({rule.expectation}), basis and source" if rule else "a text"
            raise InputError(f"{path}: {prefix}{key}", None, f"is missing; expected {expectation}")


def _text(path: Path, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        _refuse(path, key, value, "a text that is not empty")
    return str(value).strip()


def _figure(path: Path, key: str, table: object, rule: Rule) -> Figure:
    if not isinstance(table, dict):
        _refuse(path, key, table, f"a table with value ({rule.expectation}), basis and source")
    assert isinstance(table, dict)
    parts = ("value", "basis", "source")
    _check_keys(path, f"{key}.", table, parts, required=parts)
    basis = _text(path, f"{key}.basis", table["basis"])
    if basis not in BASES:
        _refuse(path, f"{key}.basis", basis, f"one of {', '.join(BASES)}")
    source = _text(path, f"{key}.source", table["source"])
    value = table["value"]
    if rule.optional and value == "none":
        return Figure(None, basis, source)
    values = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not (rule.ranged and len(value) == 2):
        _refuse(path, f"{key}.value", value, rule.expectation)
    for number in values:
        if not _fits(number, rule):
            _refuse(path, f"{key}.value", value, rule.expectation)
    if isinstance(value, list):
        if value[0] > value[1]:
            _refuse(path, f"{key}.value", value, "the lowest value first")
        return Figure((value[0], value[1]), basis, source)
    return Figure(value, basis, source)


def _fits(number: object, rule: Rule) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        return False
    return (not rule.whole or isinstance(number, int)) and rule.low <= number <= rule.high
