"""How the C drivers of tests/fault are compiled, and one that is compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.paths import CORE

FLAGS = ["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{CORE}"]
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class Driver:
    """The compiled driver; a call returns what it printed."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(self.program), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=900)

    def __call__(self, *arguments: object) -> str:
        done = self.run(*arguments)
        print(done.stdout, done.stderr)
        assert done.returncode == 0, f"{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
        return done.stdout
