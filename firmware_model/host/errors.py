"""Errors for a user: every message names the field, the value and the limit."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AdambError(Exception):
    """Bad input or an impossible request; the command line prints it as one line and exits with 2.

    >>> issubclass(InputError, AdambError) and issubclass(BudgetExceeded, AdambError)
    True
    """

    partial: object = None
    """Measurements of a run before an environment or agent ended it."""

    def __reduce__(self) -> tuple[object, ...]:
        """Copied by its fields: `Exception` would call `__init__` with the message alone, and an error in a
        worker process would reach nobody."""
        return _copied, (type(self), self.args, self.__dict__)


def _copied(kind: type[AdambError], arguments: tuple[object, ...], fields: dict[str, object]) -> AdambError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(fields)
    return error


class InputError(AdambError):
    """One named field holds a value outside its limit.

    >>> print(InputError("seeds", 0, "must be at least 1"))
    seeds = 0: must be at least 1
    """

    def __init__(self, field: str, value: object, limit: str) -> None:
        self.field, self.value, self.limit = field, value, limit
        super().__init__(f"{field} = {value!r}: {limit}")


class BudgetExceeded(AdambError):
    """More bytes are required than there are.

    >>> BudgetExceeded(required=300, available=256, contributor="the header").required
    300
    """

    def __init__(self, required: int, available: int, contributor: str) -> None:
        self.required, self.available, self.contributor = required, available, contributor
        super().__init__(f"budget: {required} bytes required, {available} available; the largest part is {contributor}")


def nearest(word: object, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest known one, or all of them where nothing is near.

    >>> nearest("oil-laplac", ["oil-laplace", "oil-2d"])
    'did you mean oil-laplace?'
    """
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(str(word), names, n=1)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(names) or 'none'}"


def unknown_name(field: str, value: object, known: Iterable[str], what: str = "unknown") -> InputError:
    """The error for a name that does not exist, with the nearest one that does."""
    return InputError(field, value, f"{what}, {nearest(value, known)}")
