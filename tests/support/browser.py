"""What the tests in a browser look at."""

from __future__ import annotations

import pytest

SLOW = pytest.mark.slow
RECORDED = ("full", pytest.param("steps", marks=SLOW), pytest.param("wide", marks=SLOW))
KINDS = (*RECORDED, pytest.param("compared", marks=SLOW), "block")
