"""Life of a battery, and wear of the flash by saves.

The controller decides and learns once per period, and the board sleeps the rest; what is assumed is in `ASSUMED`,
and every command that prints a time prints it too. Slots of a store are those of SPEC.md (12.2 to 12.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adamb.budgets.boards import Board
from adamb.budgets.cores import Range
from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import CHARGES, TIMES, format_bytes, parse_quantity

MOST_MAH, LONGEST_S = 1_000_000, 366 * 24 * 3600
ASSUMED = (
    "all of its charge at the board's supply voltage, nothing lost in regulators or with age; one act and "
    "one observe each period, sleep otherwise; sensors, actuators and radio not counted"
)


def parse_charge(text: str) -> float:
    """Milliampere hours from `1000mAh`, `2.5Ah`, `220 mAh`.

    >>> parse_charge("2.5Ah")
    2500.0
    """
    expected = "a charge such as 1000mAh or 2.5Ah, at most 1000 Ah"
    return parse_quantity("battery", text, CHARGES, most=MOST_MAH, expected=expected)


def parse_period(text: str) -> float:
    """Seconds from `1s`, `20ms`, `5min`, `1h`.

    >>> parse_period("20ms")
    0.02
    """
    expected = "a time such as 20ms, 1s or 5min, at most 366 days"
    return parse_quantity("period", text, TIMES, most=LONGEST_S, expected=expected)


@dataclass(frozen=True)
class Battery:
    """A charge, and the time between two calls of the controller."""

    charge_mah: float
    period_s: float

    @classmethod
    def asked(cls, text: str | None) -> Battery | None:
        """From `1000mAh@1s`; None where nothing is asked.

        >>> Battery.asked("2Ah@20ms")
        Battery(charge_mah=2000.0, period_s=0.02)
        """
        if text is None:
            return None
        charge, at, period = text.partition("@")
        if not at:
            raise InputError("battery", text, "write a charge and how often the controller decides: 1000mAh@1s")
        return cls(parse_charge(charge), parse_period(period))

    def average_ua(self, board: Board, busy_s: Range) -> Range:
        """Mean current of a board that works so long in each period and sleeps otherwise."""
        active, sleep = board.figures["active_current_ua"], board.figures["sleep_current_ua"]
        if busy_s[1] > self.period_s:
            limit = f"act and observe take up to {busy_s[1]:.3g} s on {board.name}; choose a longer one"
            raise InputError("period", f"{self.period_s:g} s", limit)

        def mean(busy: float, awake: float, asleep: float) -> float:
            return (busy * awake + (self.period_s - busy) * asleep) / self.period_s

        return mean(busy_s[0], active.low, sleep.low), mean(busy_s[1], active.high, sleep.high)

    def hours(self, board: Board, busy_s: Range) -> Range:
        """Shortest and longest life."""
        low, high = self.average_ua(board, busy_s)
        return self.charge_mah * 1000 / high, self.charge_mah * 1000 / max(low, 1e-9)

    def to_json(self, board: Board, busy_s: Range) -> dict[str, Any]:
        return {
            "charge_mah": self.charge_mah,
            "period_s": self.period_s,
            "average_ua": list(self.average_ua(board, busy_s)),
            "hours": list(self.hours(board, busy_s)),
            "assumed": ASSUMED,
        }

    def spoken(self, board: Board, busy_s: Range) -> str:
        """Its life in the unit that suits."""
        return _spoken(self.hours(board, busy_s))

    def sentence(self, board: Board, busy_s: Range, calls: str) -> str:
        """One line for people; `calls` says whether the times are means or worst cases."""
        sleep = board.figures["sleep_current_ua"]
        return (
            f"{self.charge_mah:g} mAh last {self.spoken(board, busy_s)} with a decision every "
            f"{self.period_s:g} s on {board.name}: {_span(*self.average_ua(board, busy_s))} µA with {calls} "
            f"calls, {_span(sleep.low, sleep.high)} µA asleep; assumed: {ASSUMED}"
        )


def _spoken(hours: Range) -> str:
    """In the unit that suits the shorter time."""
    units = {"years": 24 * 365, "days": 24, "hours": 1}
    unit = next((name for name, length in units.items() if hours[0] >= length), "hours")
    return f"{_span(*(each / units[unit] for each in hours))} {unit}"


def _span(low: float, high: float) -> str:
    shown = [f"{each:,.0f}" if each >= 100 else f"{each:.3g}" for each in (low, high)]
    return " to ".join(dict.fromkeys(shown))


PAGE_BYTES, SECTOR_BYTES = 256, 4096
"""Page and sector of the serial flash of most boards."""
ENDURANCE = 10_000
"""Erases of a sector that data sheets of on-chip flash commonly promise; look yours up."""
SECONDS_A_YEAR = 31_557_600
HEADS_BYTES = _spec.STORE_HEAD_BYTES + _spec.SNAPSHOT_HEAD_BYTES


def parse_save_period(text: str) -> float:
    """Seconds from `30s`, `10min`, `1.5h`, `1d`.

    >>> parse_save_period("10min"), parse_save_period("1d")
    (600.0, 86400.0)
    """
    expected = "a period from 1s to a year, such as 30s, 10min, 1h or 1d"
    return parse_quantity("save-every", text, TIMES, least=1, most=SECONDS_A_YEAR, expected=expected)


@dataclass(frozen=True)
class Wear:
    """A store on flash of usual pages and sectors, which saves a block once in a period."""

    block_bytes: int
    store_bytes: int
    period_seconds: float

    def __post_init__(self) -> None:
        if self.slots < 2 * self.group_slots:
            least = 2 * self._group_bytes
            saves = f"saves of a block of {self.block_bytes} bytes need at least {least} bytes"
            raise InputError("store", self.store_bytes, f"{saves}; write --save-every 1h,128KiB, or set a --budget")

    @property
    def _slot_bytes(self) -> int:
        words = min(self.block_bytes // 2, 4 * _spec.UNITS_MAX)
        return -(-(HEADS_BYTES + 2 * words) // PAGE_BYTES) * PAGE_BYTES

    @property
    def _group_bytes(self) -> int:
        return -(-self._slot_bytes // SECTOR_BYTES) * SECTOR_BYTES

    @property
    def group_slots(self) -> int:
        return self._group_bytes // self._slot_bytes

    @property
    def slots(self) -> int:
        return self.store_bytes // self._group_bytes * self.group_slots

    @property
    def erases_a_year(self) -> float:
        """Of every sector: once in a round of all slots (12.16)."""
        return SECONDS_A_YEAR / self.period_seconds / self.slots

    @property
    def years(self) -> float:
        return ENDURANCE / self.erases_a_year

    def rows(self) -> list[tuple[str, str, str]]:
        """For the table of `adamb plan`."""
        saves = SECONDS_A_YEAR / self.period_seconds
        place = f"{self.slots} slots in {format_bytes(self.store_bytes)}, sectors of {SECTOR_BYTES} B"
        return [
            ("saves a year", f"{saves:,.0f}", f"one every {self.period_seconds:g} s; {place}"),
            ("wear", f"{self.erases_a_year:,.1f}", "erases of every sector a year"),
            ("flash lasts", f"{self.years:,.1f} years", f"at {ENDURANCE:,} erases a sector"),
        ]

    def to_json(self) -> dict[str, object]:
        return {
            "wear": {
                "block_bytes": self.block_bytes,
                "store_bytes": self.store_bytes,
                "save_every_seconds": self.period_seconds,
                "slots": self.slots,
                "erases_a_year": self.erases_a_year,
                "endurance": ENDURANCE,
                "years": self.years,
            }
        }
