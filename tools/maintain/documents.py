"""Numbers in documents come from commands; `make core` renews them.

A region between `<!-- begin: COMMAND -->` and `<!-- end -->` is what COMMAND prints. `begin text:` puts it into a text
block. Numbers of `begin measured:` may differ by SLACK, because tests compare them with limits. The same parser
finds the code blocks of a document, so that a test can run those marked `test`:

    ```sh test            runs, and must succeed
    ```python test        likewise; `file=NAME` writes the block into a file first
"""

from __future__ import annotations

import difflib
import functools
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SLACK = 0.1
"""How far a measured number may be from the one that is stated, as a part of it: limits.py has what it must keep."""
REGION = re.compile(
    r"(?P<begin><!-- begin(?P<kind> text| measured|): (?P<command>.+?) -->\n)(?P<body>.*?)(?P<end><!-- end -->)",
    re.DOTALL,
)
BLOCK = re.compile(r"^```(?P<language>\w+)(?P<words>[^\n]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?P<mean>[+-]?\d+(?:\.\d+)?)(?: ± (?P<half>\d+(?:\.\d+)?))?")
BLANKS = re.compile(r"[ ─]+")
"""The width of a column follows from its numbers."""
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
SHARE = re.compile(r"[+-]?\d+\.\d+(?: %)?")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and what follows it on the fence."""

    language: str
    words: tuple[str, ...]
    body: str
    line: int

    @property
    def file(self) -> str | None:
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)


@dataclass(frozen=True)
class Region:
    """Text that a command makes."""

    command: str
    body: str
    kind: str

    def made(self) -> str:
        """What the command prints now."""
        printed = run(self.command)
        return f"```text\n{printed}```\n" if self.kind == "text" else printed

    def difference(self) -> str | None:
        """What is written otherwise than the command prints it now."""
        return difference(self.body, self.made(), SLACK if self.kind == "measured" else 0.0)


def blocks(text: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match["language"], tuple(match["words"].split()), match["body"], line))
    return found


def regions(text: str) -> list[Region]:
    return [Region(m["command"], m["body"], m["kind"].strip()) for m in REGION.finditer(text)]


def environment() -> dict[str, str]:
    """A terminal of 80 columns without colours, with this installation's commands first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


@functools.cache
def run(command: str) -> str:
    """Standard output of a command, run once in a folder of its own; lines without blanks at their ends."""
    words = shlex.split(command)
    if words[:2] == ["python", "tests"]:
        words[1] = str(ROOT / "tests")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise RuntimeError(f"{command}: exit code {done.returncode}: {done.stderr.strip()}")
    lines = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
    return "\n".join(lines) + "\n"


def difference(written: str, made: str, slack: float = 0.0) -> str | None:
    """The first line that differs, or None.

    A seed gives the same on every machine, but a number is compared no closer than it is known: a mean with
    an interval must lie in the interval of the other. Where a cell of a table is one decimal number, a share
    say, it may be rounded the other way: one unit of its last place. Decimal numbers beside an interval
    follow from the mean: 1 %. With slack, any number may differ by such a part of it. All else must be equal,
    but for the order of rows, which follows from numbers.
    """
    before, after = _in_order(written), _in_order(made)
    for old, new in zip(before, after, strict=False):
        if not _agree(old, new, slack):
            return f"written: {old}\nprinted: {new}"
    return None if len(before) == len(after) else f"{len(before)} lines are written, {len(after)} printed"


def _in_order(text: str) -> list[str]:
    """Lines, those of a table in the order of their first cells."""
    lines: list[str] = []
    for is_table, found in itertools.groupby(text.splitlines(), lambda line: line.startswith("|")):
        group = list(found)
        lines += sorted(group, key=lambda line: line.split("|")[1].strip(" *")) if is_table else group
    return lines


def _agree(old: str, new: str, slack: float) -> bool:
    beside = "±" in old
    lines = (BLANKS.sub(" ", THOUSANDS.sub("", line.replace("**", ""))) for line in (old, new))
    cells = [[cell.strip(" *") for cell in line.split("|")] for line in lines]
    return len(cells[0]) == len(cells[1]) and all(
        _cell_agrees(first, second, beside, slack) for first, second in zip(*cells, strict=True)
    )


def _cell_agrees(old: str, new: str, beside_interval: bool, slack: float) -> bool:
    if old == new:
        return True
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return False
    alone = SHARE.fullmatch(old) is not None
    for first, second in zip(NUMBER.finditer(old), NUMBER.finditer(new), strict=True):
        apart = abs(float(first["mean"]) - float(second["mean"]))
        if apart > max(_allowed(first, second, alone, beside_interval), slack * abs(float(first["mean"]))) + 1e-9:
            return False
    return True


def _allowed(old: re.Match[str], new: re.Match[str], alone: bool, beside_interval: bool) -> float:
    """How far two numbers may be apart."""
    halves = [float(match["half"]) for match in (old, new) if match["half"]]
    decimals = old["mean"].partition(".")[2]
    if halves or not decimals:
        return max(halves, default=0.0)
    rounding = 10.0 ** -len(decimals) if alone else 0.0
    return max(rounding, 0.01 * abs(float(old["mean"])) if beside_interval else 0.0)


def renewed(text: str) -> str:
    """A document with what its commands print now."""

    def replace(match: re.Match[str]) -> str:
        return match["begin"] + Region(match["command"], "", match["kind"].strip()).made() + match["end"]

    return REGION.sub(replace, text)


def moved(before: str, after: str) -> list[str]:
    """The numbers of a document that are others now, one line per row of a table or line of text."""
    found = []
    pairs = difflib.SequenceMatcher(None, old := before.splitlines(), new := after.splitlines(), autojunk=False)
    for kind, a, b, c, d in pairs.get_opcodes():
        if kind == "equal":
            continue
        for was, now in itertools.zip_longest(old[a:b], new[c:d], fillvalue=""):
            cells = [[cell.strip(" *") for cell in line.split("|")] for line in (was, now)]
            if was.startswith("|") and len(cells[0]) == len(cells[1]) and cells[0][1] == cells[1][1]:
                changed = (f"{x} -> {y}" for x, y in zip(*cells, strict=True) if x != y)
                found.append(f"{cells[0][1]}: {'; '.join(changed)}")
            else:
                found += [f"{sign} {line.strip()}" for sign, line in (("-", was), ("+", now)) if line]
    return found
