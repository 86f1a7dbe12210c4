"""Wrong arguments, storage that fails once, values at the ends of their range: all get an answer."""

from __future__ import annotations

import re
import subprocess

from support.drivers import FLAGS, SANITIZERS, Driver
from support.paths import CORE, FAULT


def test_the_calls_that_no_run_makes_are_answered_as_documented(build_driver, tmp_path):
    program, sources = tmp_path / "edges", [str(path) for path in sorted(CORE.glob("*.c"))]
    command = ["gcc", *FLAGS, *SANITIZERS, *sources, str(FAULT / "edges.c"), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(re.match(r"(\d+) answers as documented", Driver(program)())[1]) > 1_000_000
