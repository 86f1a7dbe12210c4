"""Copy a port to a board through mpremote and run its self-test there.

mpremote's exit status says nothing about the program it ran, so the self-test's last word is looked for.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from adamb.budgets.boards.profile import CORE_IMPORT_BYTES, MICROPYTHON_RESERVE_BYTES
from adamb.budgets.errors import InputError
from adamb.tools.device.extras import DeviceToolFailed, need
from adamb.tools.device.loop.prompt import PROBE, Found, found_in
from adamb.tools.terminal.waiting import waiting

PASS_WORD = "PASS"
SELFTEST_FILES = ("adamb_settings.py", "vectors.bin")
TRAINED = "trained.sav"


def mpremote(port: str, *arguments: str, seconds: float = 300.0) -> str:
    """Run one mpremote command line on the board at `port`; its output, or its complaint as an error."""
    need("mpremote", "mpremote")
    command = [sys.executable, "-m", "mpremote", "connect", port, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise DeviceToolFailed(f"mpremote at {port}", f"no answer within {seconds:.0f} s") from error
    if done.returncode != 0:
        raise DeviceToolFailed(f"mpremote at {port}", done.stderr or done.stdout)
    return done.stdout


def install_commands(folder: Path) -> list[list[str]]:
    """What to do on the board, as mpremote arguments: the library by mip, then the files of the self-test."""
    names = [*SELFTEST_FILES, *([TRAINED] if (folder / TRAINED).is_file() else [])]
    files = [str(folder / name) for name in names]
    return [
        ["mip", "install", "--target", "/lib", str(folder / "package.json")],
        ["fs", "cp", *files, ":"],
    ]


def look(port: str) -> Found:
    """What the board at `port` says about its MicroPython."""
    output = mpremote(port, "exec", PROBE)
    try:
        printed = ast.literal_eval(output.strip().splitlines()[-1])
    except (IndexError, SyntaxError, ValueError) as error:
        raise DeviceToolFailed(f"mpremote at {port}", f"the board printed {output[-80:]!r}") from error
    return found_in(printed, "deploy", port)


def check_firmware(found: Found, port: str, block_bytes: int, *, usermod: bool) -> None:
    """Refuse a board without a file system, a firmware without the C core where it was asked for, and a
    heap that is too small."""
    if not found.has_files:
        raise InputError("deploy", port, "the board has no file system; build a firmware that has one")
    if usermod and not found.native:
        text = "the C core is not on the board; build it as README.md says under Native speed"
        raise InputError("deploy", port, f"{text}, or leave --usermod out for the Python core")
    needed = MICROPYTHON_RESERVE_BYTES + block_bytes + (0 if found.native else CORE_IMPORT_BYTES)
    if found.free_bytes < needed:
        way_out = "take a smaller --budget"
        if not found.native:
            way_out = "add --usermod for a firmware with the C core, which needs no heap, or " + way_out
        text = f"{found.free_bytes} bytes of heap are free, {needed} are needed"
        raise InputError("deploy", port, f"{text}; {way_out}")


def deploy_folder(folder: Path, port: str, block_bytes: int, *, usermod: bool = False) -> int:
    """Look, copy, then test on the board; 0 when the board prints PASS, else 1."""
    with waiting(f"looking at the board at {port}"):
        check_firmware(look(port), port, block_bytes, usermod=usermod)
    with waiting(f"copying to {port}"):
        for arguments in install_commands(folder):
            mpremote(port, *arguments)
    with waiting(f"testing on {port}, for about a minute"):
        output = mpremote(port, "run", str(folder / "selftest.py"))
    print(output, end="")
    return 0 if output.strip().endswith(PASS_WORD) else 1
