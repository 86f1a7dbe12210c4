"""The Python core in MicroPython, with which the C core is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from adamb.tools.device.micropython import builds
from support.native import UnixBoard
from support.on_board import copied


@pytest.fixture(scope="session")
def python_board(pico: Path, tmp_path_factory: pytest.TempPathFactory) -> UnixBoard:
    made = UnixBoard(builds.unix_program(native=False), tmp_path_factory.mktemp("board"))
    made.put(copied(pico, "mpy"))
    return made
