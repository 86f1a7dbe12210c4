"""The head of every test run."""

from __future__ import annotations

from support import mutants


def pytest_report_header() -> str:
    return f"mutants: seed {mutants.tree_seed()}, from the C files of the core"
