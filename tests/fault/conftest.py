"""Builds of the core with sanitizers and a driver around it; one build a session and set of flags."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from support.drivers import FLAGS, SANITIZERS, Driver
from support.paths import CORE, FAULT


@pytest.fixture(scope="session")
def build_driver(tmp_path_factory):
    """build(*flags, renamed={file: flags of that file alone}) -> Driver."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs gcc or clang")
    probe = tmp_path_factory.mktemp("probe") / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    trial = [compiler, *SANITIZERS, probe, "-o", probe.with_suffix("")]
    if subprocess.run(trial, capture_output=True).returncode:
        pytest.skip("the compiler has no address and undefined-behaviour sanitizers")

    def build(*flags: str, renamed: dict[str, str] | None = None) -> Driver:
        folder = tmp_path_factory.mktemp("driver")
        special = {"adamb_pool.c": "-Dadamb_pool_alloc=real_pool_alloc", **(renamed or {})}
        objects = []
        for source in [*sorted(CORE.glob("*.c")), FAULT / "driver.c"]:
            target = folder / f"{source.stem}.o"
            own = [special[source.name]] if source.name in special else []
            _check([compiler, *FLAGS, *SANITIZERS, *flags, *own, "-c", source, "-o", target])
            objects.append(target)
        _check([compiler, *SANITIZERS, *objects, "-o", folder / "driver"])
        return Driver(folder / "driver")

    return build


@pytest.fixture(scope="session")
def driver(build_driver):
    """The core as it is compiled for processors without a divider."""
    return build_driver()


def _check(command) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
