"""What a command loads, and the files it runs through: a quick start, and a short way to the table."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from support.paths import ROOT

HEAVY = {"numpy", "scipy", "matplotlib", "gymnasium", "joblib", "psutil"}


def traced(*arguments: str) -> dict[str, list[str]]:
    """The files that a command runs through, and the modules that are there when it ends."""
    command = [sys.executable, str(ROOT / "tests" / "support" / "way.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


def test_the_help_text_loads_nothing_heavy():
    assert HEAVY.isdisjoint(traced("--help")["loaded"])


def test_a_command_loads_no_other_command():
    loaded = traced("boards")["loaded"]
    found = [name for name in loaded if name.startswith("adamb.tools.commands.")]
    assert found == ["adamb.tools.commands.boards"]


def test_the_guide_shows_all_files_that_a_run_goes_through():
    files = traced("run", "oil-laplace", "--budget", "4KiB", "--episodes", "20", "--seeds", "2")["files"]
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    figure = guide[guide.index("## From the command line to the table") :].split("```")[1]
    assert set(re.findall(r"[\w/]+\.py", figure)) == set(files)
