"""Campaigns that are a few commands each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.paths import ROOT

UV = Path(sys.executable).with_name("uv")


def marked(more: Sequence[str]) -> int:
    return pytest.main(["-n", "2", "-m", "campaign", *more])


def chip(more: Sequence[str]) -> int:
    """The first start of the WebAssembly tools takes minutes."""
    return pytest.main(["-n", "2", "tests/chip", *more])


def native(more: Sequence[str]) -> int:
    """With the sources in MPY_DIR, or fetched from Debian. Builds take minutes."""
    from adamb.tools.device.micropython import builds
    from support import micropython_sources

    print(micropython_sources.fetch_all())
    os.environ["MICROPYTHON"] = str(builds.unix_program(native=False))
    loops = [f"tests/device/loop/test_on_{place}.py" for place in ("micropython", "board")]
    return pytest.main(["tests/device/native", *loops, *more])


def floor(more: Sequence[str]) -> int:
    """In an environment of its own; warnings of old versions are theirs."""
    folder = ROOT / "build" / "floor"
    python, lowest = folder / "env" / "bin" / "python", folder / "lowest.txt"
    shutil.rmtree(folder / "wheel", ignore_errors=True)

    def call(*command: str | Path) -> None:
        subprocess.run(command, cwd=ROOT, check=True)

    call(UV, "venv", "--quiet", "--clear", "--python", sys.executable, folder / "env")
    extras = [word for extra in ("device", "cluster", "web") for word in ("--extra", extra)]
    call(
        UV, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--resolution", "lowest-direct",
        "--only-binary", ":all:", *extras, "pyproject.toml", "--output-file", lowest,
    )  # fmt: skip
    call(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder / "wheel", ".")
    (wheel,) = (folder / "wheel").glob("*.whl")
    call(
        UV, "pip", "install", "--quiet", "--python", python, "-r", lowest, wheel,
        "pytest", "pytest-xdist", "hypothesis",
    )  # fmt: skip
    tests = ["cli/test_run.py", "cli/test_report.py", "host/sweep", "host/test_runner.py", "device/loop"]
    options = ["-q", "-n", "2", "-o", "filterwarnings=default", "-p", "no:cacheprovider"]
    return subprocess.call([python, "-m", "pytest", *options, *(f"tests/{name}" for name in tests), *more], cwd=ROOT)
