"""Copy a port to a board through mpremote and run its self-test there.

mpremote's exit status says nothing about the program it ran, so the self-test's last word is looked for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from adamb.tools.device.extras import DeviceToolFailed, need
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


def deploy_folder(folder: Path, port: str) -> int:
    """Copy, then test on the board; 0 when the board prints PASS, else 1."""
    with waiting(f"copying to {port}"):
        for arguments in install_commands(folder):
            mpremote(port, *arguments)
    with waiting(f"testing on {port}, for about a minute"):
        output = mpremote(port, "run", str(folder / "selftest.py"))
    print(output, end="")
    return 0 if output.strip().endswith(PASS_WORD) else 1
