"""Ports of both cores, written once for the tests that build and run them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adamb.tools.cli import main


def written(name: str, *options: str) -> Any:
    """A fixture: the folder that `adamb port` writes."""

    @pytest.fixture(scope="session")
    def port(tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("port") / name
        assert main(["port", *options, "--out", str(folder)]) == 0
        return folder

    return port


c_folder = written("controller", "--runtime", "c", "--budget", "2KiB")
pico = written("pico", "--board", "pico")
library = written("AdaMB", "--runtime", "library", "--budget", "2KiB")


@pytest.fixture(scope="session")
def avr_installed() -> None:
    """Skips with what is missing of avr-gcc and simavr."""
    from adamb.tools.device.emulator import avr
    from adamb.tools.device.extras import DeviceToolMissing

    try:
        avr.simulator()
        avr.image("atmega2560")
    except DeviceToolMissing as missing:
        pytest.skip(str(missing))
