"""`make docs`: the documentation as a site, built offline from the pages of the repository and from the code.

Pages keep their places, so that links work on the site as they do in the repository. The reference is made here:
commands from their declarations, Python from its docstrings, C from its headers.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

import adamb.firmware_model.host.binding as binding
import adamb.host_sim as host_sim
from adamb.tools.cli import app
from adamb.tools.playground.page import build

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "build" / "site-source"
PAGES = ("*.md", "CITATION.cff", "LICENSE", "docs/*.md", "docs/*.svg", "firmware_model/*.md")
FENCE = re.compile(r"^(```\w+) .*$", re.MULTILINE)
"""What follows a language on a fence is for our tests."""
HEADERS = ("adamb.h", "adamb_unit.h", "adamb_snapshot.h", "adamb_store.h", "adamb_guard.h", "adamb.hpp")


def table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [list(headings), *([str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def commands() -> str:
    """Every command with its parameters, as `--help` has them."""
    group: Any = typer.main.get_command(app)
    parts = ["# Commands\n"]
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        for leaf, words in _leaves(command, f"adamb {name}"):
            rows = [(f"`{' '.join(each.opts)}`", each.help or "") for each in leaf.params if each.name != "help"]
            parts += [f"\n## {words}\n", f"\n{leaf.help or ''}\n", "\n" + table(("parameter", "meaning"), rows)]
            if leaf.epilog:
                parts.append(f"\n{leaf.epilog}\n")
    return "".join(parts)


def _leaves(command: Any, words: str) -> list[tuple[Any, str]]:
    if not hasattr(command, "list_commands"):
        return [(command, words)]
    names = command.list_commands(None)
    return [pair for name in names for pair in _leaves(command.get_command(None, name), f"{words} {name}")]


def python() -> str:
    """What `adamb.host_sim` offers, with docstrings."""
    parts = ["# Python\n\n`from adamb.host_sim import …`\n"]
    for name in host_sim.__all__:
        parts += _described(name, getattr(host_sim, name), 2)
    return "".join(parts)


def _described(name: str, found: Any, depth: int) -> list[str]:
    signature = str(inspect.signature(found)).replace("'", "")
    parts = [f"\n{'#' * depth} {name}\n", f"\n```python\n{name}{signature}\n```\n"]
    for paragraph in (inspect.getdoc(found) or "").split("\n\n"):
        parts.append(f"\n```python\n{paragraph}\n```\n" if paragraph.startswith(">>>") else f"\n{paragraph}\n")
    if inspect.isclass(found):
        for member, value in vars(found).items():
            if not member.startswith("_") and inspect.isfunction(value) and value.__doc__:
                parts += _described(f"{name}.{member}", value, depth + 1)
    return parts


def c() -> str:
    """The public headers, which are mostly prose."""
    folder = Path(binding.__file__).resolve().parents[1] / "c"
    parts = [f"\n## {name}\n\n```c\n{(folder / name).read_text(encoding='utf-8')}```\n" for name in HEADERS]
    return "# C\n\nThe headers that a program includes. All else is inside.\n" + "".join(parts)


def write_source(folder: Path = SOURCE) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for path in (found for pattern in PAGES for found in ROOT.glob(pattern)):
        place = folder / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(FENCE.sub(r"\1", path.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "reference").mkdir()
    (folder / "playground.html").write_text(build("oil-laplace"), encoding="utf-8")
    for made in (commands, python, c):
        (folder / "reference" / f"{made.__name__}.md").write_text(made(), encoding="utf-8")


def main(arguments: list[str]) -> int:
    write_source()
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(ROOT / "mkdocs.yml")]
    return subprocess.call([*command, *arguments], cwd=ROOT, env=quiet)
