"""The C core in lockstep under the address and undefined-behaviour sanitizers, dividing in software."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GCC = shutil.which("gcc")
WRAPPER = """#!/bin/sh
exec {gcc} "$@" -g -UADAMB_HAS_DIVIDE -fsanitize=address,undefined -fno-sanitize-recover=all
"""


def runtime(name: str) -> Path | None:
    """A sanitizer's library, which must be loaded before Python."""
    if GCC is None or sys.platform != "linux":
        return None
    done = subprocess.run([GCC, f"-print-file-name={name}"], capture_output=True, text=True)
    path = Path(done.stdout.strip())
    return path if path.is_absolute() else None


LIBRARIES = [runtime("libasan.so"), runtime("libubsan.so")]


def lockstep(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    compiler = folder / "sanitizing-cc"
    compiler.write_text(WRAPPER.format(gcc=GCC))
    compiler.chmod(0o755)
    settings = {
        "CC": str(compiler),
        "ADAMB_PLAIN_LIBRARY": "1",
        "ADAMB_CACHE": str(folder),
        "LD_PRELOAD": " ".join(map(str, LIBRARIES)),
        "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0",
    }
    command = [sys.executable, "-m", "adamb.tools.maintain.lockstep", *arguments]
    return subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)


@pytest.mark.campaign
@pytest.mark.skipif(None in LIBRARIES, reason="needs gcc with libasan and libubsan")
def test_sanitizers_find_nothing_in_random_runs(tmp_path: Path) -> None:
    done = lockstep(tmp_path, "--seed", "2000", "--cases", "60", "--steps", "1200")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "72000 steps, all words equal" in done.stdout
    assert b"__asan_" in next(tmp_path.glob("core-*.so")).read_bytes()
