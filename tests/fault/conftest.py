"""Builds of the core with a driver around it, one per session and set of flags."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest

from support.drivers import SANITIZERS, Driver, compiled


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """build(driver, *flags, sanitized=True) -> Driver; skips where the compiler or its sanitizers are missing."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("drivers")
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    trial = ["gcc", *SANITIZERS, probe, "-o", probe.with_suffix("")]
    has_sanitizers = subprocess.run(trial, capture_output=True).returncode == 0

    @cache
    def build(name: str, *flags: str, sanitized: bool = True) -> Driver:
        if sanitized and not has_sanitizers:
            pytest.skip("the compiler has no address and undefined-behaviour sanitizers")
        return compiled(folder, name, *(SANITIZERS if sanitized else ()), *flags)

    return build
