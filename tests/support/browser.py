"""What the tests in a browser look at."""

from __future__ import annotations

import pytest

CAMPAIGN = pytest.mark.campaign
RECORDED = ("full", pytest.param("steps", marks=CAMPAIGN), pytest.param("wide", marks=CAMPAIGN))
KINDS = (*RECORDED, pytest.param("compared", marks=CAMPAIGN), "block")
