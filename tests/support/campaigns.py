"""What `make test` leaves to `make campaigns`: a promise again, with more seeds, machines or problems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(values: Iterable[Any], n: int = 1) -> list[Any]:
    """The values of one parameter: the first n for every run of the tests, the others for campaigns."""
    listed = list(values)
    return listed[:n] + [pytest.param(value, marks=pytest.mark.campaign) for value in listed[n:]]
