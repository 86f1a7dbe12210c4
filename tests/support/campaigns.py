"""What `make test` leaves to `make campaigns`: a promise again, with more seeds, machines or problems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(values: Iterable[Any], n: int = 1, *, rows: bool = False) -> list[Any]:
    """Of a parameter's values, or rows of several: the first n for `make test`, the others for campaigns."""
    listed = list(values)
    others = [pytest.param(*(value if rows else [value]), marks=pytest.mark.campaign) for value in listed[n:]]
    return listed[:n] + others
