"""Parameters of problems as users write them (`--set name=value`), checked before anything runs."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adamb.budgets.errors import InputError

KINDS = ("float", "int", "bool", "str", "floats")


@dataclass(frozen=True)
class Parameter:
    """One setting: `kind` is float, int, bool, str or floats (numbers separated by commas).

    `low` and `high` bound every number; `words` are accepted as they stand (the only values of a str). A
    default of None means that the problem or the seed decides.
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

    def _expected(self) -> str:
        kinds = {"float": "a number", "int": "a whole number", "floats": "numbers separated by commas"}
        text = f"must be {kinds.get(self.kind, self.kind)}"
        if math.isfinite(self.low) or math.isfinite(self.high):
            text += f" from {self.low:g} to {self.high:g}"
        if self.words:
            text += f" or one of {', '.join(self.words)}"
        return text


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest known one, or all of them when nothing is near."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(names) or 'none'}"


def choose(field: str, word: str, known: Iterable[str]) -> str:
    """`word` if it is known, else an error with the nearest known word."""
    names = list(known)
    if word in names:
        return word
    raise InputError(field, word, f"unknown, {nearest(str(word), names)}")


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
