"""The command line as tests call it: inside this process, or as a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from adamb.tools.cli import main


def adamb(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def one_line(error: str) -> str:
    assert error.count("\n") == 1 and error.startswith("adamb: error: "), error
    return error


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that answers bad input; nothing on standard output, no traceback, exit code 2."""
    code, out, error = adamb(capsys, *arguments)
    assert code == 2 and out == "", (code, out, error)
    return one_line(error)


def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "adamb.tools.cli", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, encoding="utf-8", **(pipes | options))


def finish(process: subprocess.Popen[str], seconds: float = 120) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=seconds)
    assert "Traceback" not in error, error
    return process.returncode, out, error


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
