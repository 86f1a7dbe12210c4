"""How large the house is: `make size` prints it; no test asserts it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import typer

from adamb.tools.cli import app

ROOT = Path(__file__).parents[2]
PLAIN_RUN = "from adamb.tools.cli import main; main(['run', 'oil-laplace', '--seeds', '1', '--quiet'])"
DOOR = "if __name__ == " + '"__main__"'
LOADED = "; import sys; print(sum(name.startswith('adamb.') for name in sys.modules))"


def leaves(command: Any) -> list[Any]:
    """A command, or the commands of a group."""
    if not hasattr(command, "list_commands"):
        return [command]
    below = (command.get_command(None, name) for name in command.list_commands(None))
    return [leaf for each in below for leaf in leaves(each)]


def main(_: list[str]) -> None:
    git = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = {name: (ROOT / name).read_bytes().count(b"\n") for name in git.stdout.splitlines()}
    product = ("firmware_model/", "host_sim/", "budgets/", "tools/")
    tests = [name for name in lines if name.startswith("tests/") and not name.startswith("tests/vectors/")]
    core = [(ROOT / name).read_text() for name in lines if re.fullmatch(r"firmware_model/c/\w+\.c", name)]
    defined = re.compile(r"^(?!static|ADAMB_NOINLINE)\w[^;=]*?\)\n\{", re.MULTILINE)
    extern = sum(len(defined.findall(text)) for text in core)
    commands = leaves(typer.main.get_command(app))
    targets = re.search(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    doors = [
        name for name in lines if name.endswith(".py") and name != "tools/cli.py" and DOOR in (ROOT / name).read_text()
    ]
    readme = (ROOT / "README.md").read_text()
    loaded = subprocess.run([sys.executable, "-c", PLAIN_RUN + LOADED], capture_output=True, text=True)
    figures = {
        "tracked lines": sum(lines.values()),
        "tracked files": len(lines),
        "Python modules": sum(name.endswith(".py") and name.startswith(product) for name in lines),
        "lines of the product": sum(n for name, n in lines.items() if name.startswith(product)),
        "lines of tests without vectors": sum(lines[name] for name in tests),
        "C files of the core": len(core),
        "extern functions of the core": extern,
        "commands": len(commands),
        "parameters": sum(len(command.params) for command in commands),
        "make targets": len(targets[1].split()) if targets else 0,
        "other entry points": len(doors),
        "modules loaded by a plain run": (loaded.stdout.split() or ["?"])[-1],
        "words of the README": len(readme.split()),
        "its first code in line": readme[: readme.index("```")].count("\n") + 1,
    }
    for name, figure in figures.items():
        print(f"{figure:>7}  {name}")
