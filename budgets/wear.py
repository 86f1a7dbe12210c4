"""How fast saves wear the flash: slots of a store as SPEC.md counts them (12.2 to 12.4), erases a year."""

from __future__ import annotations

from dataclasses import dataclass

from adamb.budgets.errors import InputError
from adamb.budgets.quantity import TIMES, parse_quantity
from adamb.budgets.sizes import format_bytes
from adamb.firmware_model import _spec

PAGE_BYTES, SECTOR_BYTES = 256, 4096
"""What the serial flash of most boards writes and erases at once."""
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
            raise InputError("store", self.store_bytes, f"{saves}; raise --store, or set a --budget")

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
