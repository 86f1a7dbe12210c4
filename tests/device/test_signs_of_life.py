"""A command that compiles or counts for long shows on a terminal that it works, and not in its output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.command import start

for _package in ("ziglang", "unicorn", "capstone"):
    pytest.importorskip(_package, reason="pip install adamb[device]")

LIMITS = "[limits]\nstack_bytes = 4000\n"
COMMANDS = {
    "making the files": ("port", "--c", "--out", "made"),
    "counting instructions": ("plan", "--budget", "4KiB"),
    "measuring oil-laplace": ("check-budget", "limits.toml"),
    "recording": ("latency", "oil-laplace", "--target", "host"),
}


@pytest.mark.parametrize("said", COMMANDS)
def test_a_command_that_works_for_long_shows_a_sign_of_life(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first `adamb port --c` had shown nothing for more than a minute."""
    monkeypatch.chdir(tmp_path)
    Path("limits.toml").write_text(f'problem = "oil-laplace"\nepisodes = 20\nseeds = 1\n{LIMITS}')
    ours, theirs = os.openpty()
    process = start(*COMMANDS[said], stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"})
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    out = process.communicate(timeout=120)[0]
    assert process.returncode == 0 and said in shown.decode() and said not in out
