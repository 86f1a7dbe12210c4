"""What can go wrong for a user: every message names the field, the value and the limit."""

from __future__ import annotations


class AdambError(Exception):
    """Bad input or an impossible request; the command line prints it as one line and exits with 2."""

    partial: object = None
    """What a run had measured before an environment or agent made it impossible to go on."""


class InputError(AdambError):
    """One named field holds a value outside its limit."""

    def __init__(self, field: str, value: object, limit: str) -> None:
        self.field, self.value, self.limit = field, value, limit
        super().__init__(f"{field} = {value!r}: {limit}")


class BudgetExceeded(AdambError):
    """More bytes are required than there are."""

    def __init__(self, required: int, available: int, contributor: str) -> None:
        self.required, self.available, self.contributor = required, available, contributor
        super().__init__(
            f"budget: {required} bytes required, {available} available; the largest part is {contributor}"
        )
