"""A port of the C core, written once for the tests that build and run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from adamb.tools.cli import main


@pytest.fixture(scope="session")
def c_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("port") / "controller"
    assert main(["port", "--c", "--budget", "2KiB", "--out", str(folder)]) == 0
    return folder
