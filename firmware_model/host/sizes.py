"""Numbers with a unit as people write them: sizes, charges, times.

Every unit of a size is binary, as in a data sheet of a chip: 4 KB is 4096 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from adamb.firmware_model.host.errors import InputError

_UNITS = {"": 1, "b": 1, "byte": 1, "bytes": 1}
for _power, _letter in enumerate("kmg", start=1):
    _UNITS |= dict.fromkeys((_letter, _letter + "b", _letter + "ib"), 1024**_power)

CAPS = ("budget", "budgets", "cap")
"""Fields that a user types a controller's memory in."""
MAX_BYTES = 4 * 1024**3
_SIZE = re.compile(r"(?P<sign>[+-]?)\s*(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?P<unit>[a-z]*)")
_EXAMPLES = "write a size such as 4KiB, 512B or 4096"


def parse_size(text: str | int, field: str = "budget") -> int:
    """Whole bytes from `4KiB`, `4kb`, `16 KiB`, `1.5k`, `4096`; anything else is an InputError, an odd cap too.

    >>> parse_size("4KiB"), parse_size("1.5k"), parse_size(512)
    (4096, 1536, 512)
    """
    written = str(text).strip()
    if not written:
        raise InputError(field, text, f"no size given; {_EXAMPLES}")
    match = _SIZE.fullmatch(written.lower().replace("_", ""))
    if match is None or len(written) > 64:
        raise InputError(field, text, f"not a size; {_EXAMPLES}")
    if match["unit"] not in _UNITS:
        raise InputError(field, text, f"the unit {match['unit']!r} is not known; use B, KiB, MiB or GiB")
    size = Fraction(match["number"]) * _UNITS[match["unit"]]
    if match["sign"] == "-":
        raise InputError(field, text, f"a size cannot be negative; {_EXAMPLES}")
    if size == 0:
        raise InputError(field, text, "nothing fits into 0 bytes; leave it out for no cap")
    if size.denominator != 1:
        raise InputError(field, text, "not a whole number of bytes")
    if size > MAX_BYTES:
        raise InputError(field, text, f"more than {format_bytes(MAX_BYTES)}; is the unit what you meant?")
    if size % 2 and field in CAPS:
        raise InputError(field, text, f"memory has words of 2 bytes; write {int(size) - 1} or {int(size) + 1}")
    return int(size)


def format_bytes(size: float) -> str:
    """`100 B`, `4 KiB`, `2.84 KiB`: three figures are enough to read, the JSON has them all.

    >>> format_bytes(4096), format_bytes(2908)
    ('4 KiB', '2.84 KiB')
    """
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    figures = f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
    return f"{figures} {unit}"


def format_cap(budget_bytes: int | None) -> str:
    """A cap in words; None is none."""
    return "no cap" if budget_bytes is None else format_bytes(budget_bytes)


Units = Mapping[str, int | Fraction]
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zµ]*)")
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
    match = _QUANTITY.fullmatch(text.strip().lower()) if len(text) <= 64 else None
    if match is None or match[2] not in units:
        raise InputError(field, text, f"write {expected}")
    found = Fraction(match[1]) * units[match[2]]
    if not 0 < found <= most or found < least:
        raise InputError(field, text, f"out of range: {expected}")
    return float(found)
