"""Check device Python against what a board's MicroPython really offers.

The published stubs (PyPI micropython-<port>-stubs) replace the whole standard library for the type checker,
so they must live in a folder of their own. They still offer a few things of CPython that boards lack; those
are taken out here: array methods beyond append and extend, int.bit_length and the like.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from adamb.tools.device.extras import DeviceToolFailed, build_folder, need

STUBS_VERSION = "1.29"
_ABSENT = ("bit_length", "bit_count", "as_integer_ratio", "is_integer", "conjugate")

_CONFIGURATION = """\
[mypy]
custom_typeshed_dir = {stubs}
mypy_path = {stubs}
no_site_packages = True
explicit_package_bases = True
namespace_packages = True
check_untyped_defs = True
cache_dir = {cache}
[mypy-_mpy_shed.*]
ignore_errors = True
[mypy-_typeshed.*]
ignore_errors = True
"""


def stubs_folder(port: str = "rp2") -> Path:
    """The stubs of one port, installed from PyPI on first use and narrowed to what boards have."""
    folder = build_folder("stubs") / f"{port}-{STUBS_VERSION}"
    if folder.is_dir():
        return folder
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "stubs"
        names = [f"micropython-{port}-stubs~={STUBS_VERSION}.0", f"micropython-stdlib-stubs~={STUBS_VERSION}.0"]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run([*command, "--target", str(made), *names], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise DeviceToolFailed("installing the MicroPython stubs", done.stderr)
        _narrow(made / "stdlib")
        # Two test processes may get here together; the second finds the work done.
        if not folder.exists():
            made.replace(folder)
    return folder


def _narrow(stdlib: Path) -> None:
    shutil.copyfile(Path(__file__).with_name("array.pyi"), stdlib / "array.pyi")
    builtins = stdlib / "builtins.pyi"
    text = builtins.read_text(encoding="utf-8")
    for name in _ABSENT:
        text = re.sub(rf"^    def {name}\(.*\n", "", text, flags=re.MULTILINE)
    builtins.write_text(text, encoding="utf-8")


def check(files: Mapping[str, Path], *, port: str = "rp2") -> list[str]:
    """What the type checker says about files of a board's file system (place -> host file); empty is good."""
    need("mypy", "the type checker")
    stubs = stubs_folder(port)
    with tempfile.TemporaryDirectory() as scratch:
        board = Path(scratch) / "board"
        for place, source in files.items():
            (board / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, board / place)
        settings = Path(scratch) / "mypy.ini"
        settings.write_text(_CONFIGURATION.format(stubs=stubs, cache=build_folder("stubs-cache")))
        command = [sys.executable, "-m", "mypy", "--config-file", str(settings), *sorted(files)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=board, timeout=300)
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    if done.returncode != 0 and not found:
        raise DeviceToolFailed("mypy", done.stdout + done.stderr)
    # The stubs have mistakes of their own; and a stand-in for micropython.const is what it looks like.
    ours = [line for line in found if line.partition(":")[0] in files]
    return [line for line in ours if "conditional function variants" not in line]
