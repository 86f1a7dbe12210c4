"""Parameters of problems as users write them (`--set name=value`), checked before anything runs; and names, ranges and
units of what a problem senses and sets, declared once on the problem.

Tables, pictures and the report show coordinates in these ranges, and `adamb port` writes them for a board.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError, unknown_name

KINDS = ("float", "int", "bool", "str", "floats")


@dataclass(frozen=True)
class Parameter:
    """One setting: `kind` is float, int, bool, str or floats (numbers separated by commas).

    `low` and `high` bound every number; `words` are accepted as they stand (the only values of a str). A
    default of None means that the problem or the seed decides.

    >>> Parameter(0.1, "float", "deviation of the noise", low=0, high=1).parse("noise", "0.25")
    0.25
    """

    default: Any
    kind: str
    doc: str
    low: float = -math.inf
    high: float = math.inf
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError("kind", self.kind, f"must be one of {', '.join(KINDS)}")

    def parse(self, name: str, value: object) -> Any:
        """The value that `value` (a string of the command line, or already typed) stands for."""
        if value is None and self.default is None:
            return None
        if isinstance(value, str) and value in self.words:
            return value
        if self.kind == "str":
            return choose(name, str(value), self.words) if self.words else str(value)
        if self.kind == "bool":
            return self._parse_bool(name, value)
        if self.kind == "floats":
            parts = value.split(",") if isinstance(value, str) else value
            listed = parts if isinstance(parts, Iterable) else [parts]
            numbers = tuple(self._parse_number(name, part, value) for part in listed)
            if not numbers:
                raise InputError(name, value, self._expected())
            return numbers
        number = self._parse_number(name, value, value)
        if self.kind == "int":
            if number != int(number):
                raise InputError(name, value, self._expected())
            return int(number)
        return number

    @staticmethod
    def _parse_bool(name: str, value: object) -> bool:
        word = str(value).lower()
        if word in ("true", "yes", "on", "1"):
            return True
        if word in ("false", "no", "off", "0"):
            return False
        raise InputError(name, value, "must be on or off")

    def _parse_number(self, name: str, part: Any, shown: object) -> float:
        try:
            number = float(part)
        except (TypeError, ValueError):
            raise InputError(name, shown, self._expected()) from None
        if not (math.isfinite(number) and self.low <= number <= self.high):
            raise InputError(name, shown, self._expected())
        return number

    def limits(self) -> str:
        """Limits of a value in words."""
        return self._expected().removeprefix("must be ")

    def _expected(self) -> str:
        kinds = {"float": "a number", "int": "a whole number", "floats": "numbers separated by commas"}
        text = f"must be {kinds.get(self.kind, self.kind)}"
        if self.kind in ("bool", "str"):
            words = self.words or ("on", "off") * (self.kind == "bool")
            return f"must be {'one of ' + ', '.join(words) if words else 'text'}"
        if math.isfinite(self.low) or math.isfinite(self.high):
            text += f" from {self.low:.15g} to {self.high:.15g}"
        if self.words:
            text += f" or one of {', '.join(self.words)}"
        return text


def choose(field: str, word: str, known: Iterable[str]) -> str:
    """`word` if it is known, else an error with the nearest known word."""
    names = list(known)
    if word in names:
        return word
    raise unknown_name(field, word, names)


def check_declared(field: str, parameters: object) -> None:
    """Refuse a declaration that is not a dictionary of `Parameter`."""
    example = '{"want": Parameter(0.5, "float", "level to keep")}'
    if not isinstance(parameters, Mapping):
        raise InputError(field, parameters, f"must be a dictionary such as {example}")
    for name, parameter in parameters.items():
        if not isinstance(parameter, Parameter):
            raise InputError(f"{field}[{name!r}]", parameter, f"must be a Parameter, such as {example}")


def parse_parameters(
    known: Mapping[str, Parameter], given: Mapping[str, object], *, problem: str = ""
) -> dict[str, Any]:
    """All parameters of a problem: the given ones checked, the others at their defaults."""
    for name in given:
        choose(f"parameter of {problem}" if problem else "parameter", name, known)
    return {
        name: parameter.parse(name, given[name]) if name in given else parameter.default
        for name, parameter in known.items()
    }


START = Parameter(
    None, "floats", "start state; random: new in every episode, instance: drawn once per seed",
    0, 1, ("random", "instance"),
)  # fmt: skip
"""Start of episodes that do not draw their own state; several problems have it."""


def fixed_start(
    problem: Any, generators: list[np.random.Generator], default: Sequence[float] | None = None
) -> np.ndarray | None:
    """(n, d_s) start states as `start` says, None where every episode draws its own.

    Left out, it is `default`; without one, random for random instances and the centre for the paper's.
    """
    d_s = problem.d_s
    drawn = np.array([generator.random(d_s) for generator in generators])
    start = default if problem.params["start"] is None else problem.params["start"]
    if start is None:
        start = "random" if problem.instance == "random" else (0.5,)
    if start == "random":
        return None
    if start == "instance":
        return drawn
    if len(start) not in (1, d_s):
        raise InputError("start", start, f"must be 1 or {d_s} numbers")
    return np.broadcast_to(np.asarray(start, dtype=float), (problem.n, d_s)).copy()


NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
EXAMPLE = '{"temperature": (25, 100, "°C"), "duty": (0, 100, "%")}'
MOST_STEPS, MOST = 65534, 2**30 - 1
"""Between the ends of a range on a board, one less as both are rounded; the largest small integer of MicroPython."""
LARGEST = 1e12


@dataclass(frozen=True)
class Range:
    """One coordinate: the values of 0 and of 1 in its unit. A range may fall.

    >>> oven = Range("oven", 25, 100, "°C")
    >>> print(oven, oven.raw(0.5), oven.coordinate(40.0))
    oven 25 to 100 °C 62.5 0.2
    """

    name: str
    zero: float
    full: float
    unit: str

    def __str__(self) -> str:
        return f"{self.name} {self.zero:g} to {self.full:g} {self.unit}".rstrip()

    def raw(self, coordinates: Any) -> Any:
        return self.zero + (self.full - self.zero) * coordinates

    def coordinate(self, raw: Any) -> Any:
        return np.clip((np.asarray(raw) - self.zero) / (self.full - self.zero), 0.0, 1.0)

    @property
    def exponent(self) -> int:
        """A board counts whole multiples of 10 ** -exponent units: the finest that its numbers hold."""
        span, most = abs(self.full - self.zero), max(abs(self.zero), abs(self.full))
        return min(math.floor(math.log10(MOST_STEPS / span)), math.floor(math.log10(MOST / most)))

    @property
    def ends(self) -> tuple[int, int]:
        """Both ends in these multiples."""
        return round(self.zero * 10.0**self.exponent), round(self.full * 10.0**self.exponent)

    @property
    def step(self) -> str:
        """The multiple, such as 0.01 °C."""
        return f"{10.0**-self.exponent:.12g} {self.unit}".rstrip()


def declared(ranges: object, d_s: int, d_a: int) -> tuple[Range, ...]:
    """The ranges of a problem: its states, then its actions; empty where it declares none."""
    if not isinstance(ranges, Mapping):
        raise InputError("ranges", ranges, f"must be a dictionary such as {EXAMPLE}")
    if ranges and len(ranges) != d_s + d_a:
        raise InputError("ranges", len(ranges), f"must name {d_s} states, then {d_a} actions, in this order")
    return tuple(_range(name, given) for name, given in ranges.items())


def unnamed(d_s: int, d_a: int) -> tuple[Range, ...]:
    """Stand-ins for a problem that declares none: coordinates as they are, 0 to 1."""
    names = [f"state_{i + 1}" for i in range(d_s)] + [f"action_{i + 1}" for i in range(d_a)]
    return tuple(Range(name, 0, 1, "") for name in names)


def _range(name: object, given: Any) -> Range:
    field = f"ranges[{name!r}]"
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError("ranges", name, "a name has small letters, digits and _, as it becomes a name in programs")
    try:
        zero, full, unit = given
        made = Range(name, float(zero), float(full), unit)
    except (TypeError, ValueError):
        raise InputError(field, given, f"must be the values of 0 and of 1 and a unit, as in {EXAMPLE}") from None
    if not isinstance(unit, str) or any(not mark.isprintable() or mark in '*\\"@' for mark in unit):
        raise InputError(field, unit, 'a unit is a short text, without * \\ " @')
    if not max(abs(made.zero), abs(made.full)) <= LARGEST or not abs(made.full - made.zero) >= 1 / LARGEST:
        raise InputError(field, given, f"its ends must be two different numbers, at most {LARGEST:g}")
    low, high = made.ends
    if abs(high - low) < 100:
        raise InputError(field, given, "its ends are too near to each other for numbers of that size")
    return made
