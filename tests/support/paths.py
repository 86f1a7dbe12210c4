"""The folders that tests read."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "firmware_model" / "c"
TESTS = ROOT / "tests"
FAULT = TESTS / "fault"
VECTORS = TESTS / "vectors"
