"""Ports of both cores, written once for the tests that build and run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from adamb.tools.cli import main


@pytest.fixture(scope="session")
def c_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("port") / "controller"
    assert main(["port", "--c", "--budget", "2KiB", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def pico(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("port") / "pico"
    assert main(["port", "--board", "pico", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package") / "AdaMB"
    assert main(["port", "--c", "--package", "--budget", "2KiB", "--out", str(folder)]) == 0
    return folder


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
