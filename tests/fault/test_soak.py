"""A long run with power cuts equals, link by link, the run without; counters at their ends stay there.

`make soak` is the million episodes, and a thousand million calls.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.drivers import FLAGS, SANITIZERS, Driver
from support.paths import CORE, FAULT


def build(folder: Path, core: Path = CORE, main: str = "soak", flags: tuple[str, ...] = SANITIZERS) -> Driver:
    program, sources = folder / main, [str(path) for path in sorted(core.glob("*.c"))]
    command = ["gcc", *FLAGS, "-O2", *flags, *sources, str(FAULT / f"{main}.c"), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Driver(program)


def test_a_life_with_cuts_is_the_life_without(build_driver, tmp_path):
    out = build(tmp_path)("100000", 1)
    lines = [line for line in out.splitlines() if " cuts, " in line]
    assert len(lines) == 4 and lines[0].startswith("1+1, 1 KiB: 100000 episodes")
    for line in lines:
        numbers = {name: int(n) for n, name in re.findall(r"(\d+) (cuts|saves|restarts|reclaims)", line)}
        assert min(numbers.values()) > 0, f"each must happen for the run to mean something: {line}"
    assert "every run with cuts equals the run without" in out


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_millions_of_calls_pass_the_ends_of_counters_and_break_nothing(tmp_path):
    out = build(tmp_path, main="long_run", flags=())("8000000", 1)
    assert "nothing broken" in out
    rows = [
        dict(re.findall(r"(episodes|refused|no room|reclaims) (\d+)", line)) for line in out.splitlines()[:-1]
    ]
    assert all(row["episodes"] == "4294967295" for row in rows), "the number of episodes has stopped"
    for counter in ("refused", "no room"):
        assert any(row[counter] == "65535" for row in rows), f"no run reaches the end of {counter}"
