"""An integer that refuses what SPEC 4.9 promises never happens.

Give it to the reference as `number` and as its inputs: every sum, product and shift that grows from them is
again one of these, so a bound that does not hold raises at the operation that breaks it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LIMIT = 1 << 30


class OutOfBounds(AssertionError):
    """An intermediate of 2^30 or more, or a shift or division of a negative number."""


class Bounded(int):
    """Below 2^30 in magnitude; shifted and divided only when not negative."""

    largest = 0

    def __new__(cls, value: int = 0) -> Bounded:
        size = abs(int(value))
        if size >= LIMIT:
            raise OutOfBounds(f"{int(value)} needs more than 30 bits")
        if size > Bounded.largest:
            Bounded.largest = size
        return super().__new__(cls, value)


def _operation(name: str, needs_positive: bool) -> Callable[[Bounded, Any], Any]:
    plain = getattr(int, name)
    reflected = name.startswith("__r") and name not in ("__rshift__",)

    def method(self: Bounded, other: Any) -> Any:
        left = int(other) if reflected else int(self)
        if needs_positive and left < 0:
            raise OutOfBounds(f"{name} of {left}")
        result = plain(int(self), int(other))
        return NotImplemented if result is NotImplemented else Bounded(result)

    return method


for _stem in ("add", "sub", "mul", "and", "or", "xor", "lshift", "rshift", "floordiv", "mod"):
    for _name in (f"__{_stem}__", f"__r{_stem}__"):
        setattr(Bounded, _name, _operation(_name, _stem in ("lshift", "rshift", "floordiv", "mod")))
Bounded.__neg__ = lambda self: Bounded(-int(self))  # type: ignore[method-assign]
Bounded.__abs__ = lambda self: Bounded(abs(int(self)))  # type: ignore[method-assign]
