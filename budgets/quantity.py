"""Numbers with a unit as people write them: charges and times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from adamb.budgets.errors import InputError

Units = Mapping[str, int | Fraction]
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zµ]*)")
_MICRO = Fraction(1, 10**6)
#: In milliampere hours, and in seconds.
CHARGES: Units = {"ah": 1000, "mah": 1, "uah": Fraction(1, 1000), "µah": Fraction(1, 1000)}
TIMES: Units = {
    "us": _MICRO, "µs": _MICRO, "ms": Fraction(1, 1000), "s": 1, "min": 60, "h": 3600, "d": 86400,
}  # fmt: skip


def parse_quantity(
    field: str, text: str, units: Units, *, most: int, expected: str, least: int | Fraction = 0
) -> float:
    """The number in the unit that counts 1: above 0, from `least` to `most`; else an InputError.

    >>> parse_quantity("period", "20ms", TIMES, most=60, expected="a time up to a minute")
    0.02
    """
    match = _NUMBER.fullmatch(text.strip().lower()) if len(text) <= 64 else None
    if match is None or match[2] not in units:
        raise InputError(field, text, f"write {expected}")
    found = Fraction(match[1]) * units[match[2]]
    if not 0 < found <= most or found < least:
        raise InputError(field, text, f"out of range: {expected}")
    return float(found)
