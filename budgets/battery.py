"""How long a battery lasts: the controller decides and learns once a period, and the board sleeps the rest.

What is assumed is in `ASSUMED`, and every command that prints a time prints it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adamb.budgets.boards import Board
from adamb.budgets.cores import Range
from adamb.budgets.errors import InputError
from adamb.budgets.quantity import CHARGES, TIMES, parse_quantity

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
    """What is asked: a charge, and how often the controller is called."""

    charge_mah: float
    period_s: float

    @classmethod
    def asked(cls, battery: str | None, period: str | None) -> Battery | None:
        """From two options that go together; None where neither is given."""
        if battery is None and period is None:
            return None
        if battery is None:
            raise InputError("period", period, "says how often a battery is used; add --battery 1000mAh")
        if period is None:
            raise InputError("battery", battery, "add --period 1s: how often the controller decides")
        return cls(parse_charge(battery), parse_period(period))

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
        """How long it lasts, the shorter time first."""
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
        """How long it lasts, in the unit that suits."""
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
