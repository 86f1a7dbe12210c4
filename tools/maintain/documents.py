"""Numbers in documents come from commands: `python -m adamb.tools.maintain.documents README.md` renews them.

A region between `<!-- begin: COMMAND -->` and `<!-- end -->` is what COMMAND prints (`begin text:` puts it
into a text block). The same parser finds the code blocks of a document, so that a test can run those marked
`test`:

    ```sh test            runs, and must succeed
    ```sh test slow       the same, among the slow tests
    ```python test        likewise; `file=NAME` writes the block into a file first
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REGION = re.compile(
    r"(?P<begin><!-- begin(?P<text> text)?: (?P<command>.+?) -->\n)(?P<body>.*?)(?P<end><!-- end -->)",
    re.DOTALL,
)
BLOCK = re.compile(r"^```(?P<language>\w+)(?P<words>[^\n]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?P<mean>[+-]?\d+(?:\.\d+)?)(?: ± (?P<half>\d+(?:\.\d+)?))?")
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
    as_text: bool

    def made(self) -> str:
        """What the command prints now."""
        printed = run(self.command)
        return f"```text\n{printed}```\n" if self.as_text else printed


def blocks(text: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match["language"], tuple(match["words"].split()), match["body"], line))
    return found


def regions(text: str) -> list[Region]:
    return [Region(m["command"], m["body"], m["text"] is not None) for m in REGION.finditer(text)]


def environment() -> dict[str, str]:
    """A terminal of 80 columns without colours, with this installation's commands first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


def run(command: str) -> str:
    """Standard output of a command, run in a folder of its own; lines without blanks at their ends."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            shlex.split(command), cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command}: exit code {done.returncode}: {done.stderr.strip()}")
    lines = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
    return "\n".join(lines) + "\n"


def difference(written: str, made: str) -> str | None:
    """The first line that differs, or None.

    A seed gives the same on every machine, but a number is compared no closer than it is known: a mean with
    an interval must lie in the interval of the other. Where a cell of a table is one decimal number, a share
    say, it may be rounded the other way: one unit of its last place. Decimal numbers beside an interval
    follow from the mean: 1 %. All else must be equal, but for the order of rows, which follows from numbers.
    """
    before, after = _in_order(written), _in_order(made)
    for old, new in zip(before, after, strict=False):
        if not _agree(old, new):
            return f"written: {old}\nprinted: {new}"
    return None if len(before) == len(after) else f"{len(before)} lines are written, {len(after)} printed"


def _in_order(text: str) -> list[str]:
    """Lines, those of a table in the order of their first cells."""
    lines: list[str] = []
    for is_table, found in itertools.groupby(text.splitlines(), lambda line: line.startswith("|")):
        group = list(found)
        lines += sorted(group, key=lambda line: line.split("|")[1].strip(" *")) if is_table else group
    return lines


def _agree(old: str, new: str) -> bool:
    beside = "±" in old
    cells = [[cell.strip(" *") for cell in line.replace("**", "").split("|")] for line in (old, new)]
    return len(cells[0]) == len(cells[1]) and all(
        _cell_agrees(first, second, beside) for first, second in zip(*cells, strict=True)
    )


def _cell_agrees(old: str, new: str, beside_interval: bool) -> bool:
    if old == new:
        return True
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return False
    alone = SHARE.fullmatch(old) is not None
    for first, second in zip(NUMBER.finditer(old), NUMBER.finditer(new), strict=True):
        apart = abs(float(first["mean"]) - float(second["mean"]))
        if apart > _allowed(first, second, alone, beside_interval) + 1e-9:
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


def renew(path: Path) -> bool:
    """Write what the commands of a document print now; True when something changed."""
    text = path.read_text(encoding="utf-8")
    made = {(region.command, region.as_text): region.made() for region in regions(text)}

    def replace(match: re.Match[str]) -> str:
        return match["begin"] + made[match["command"], match["text"] is not None] + match["end"]

    fresh = REGION.sub(replace, text)
    if fresh != text:
        path.write_text(fresh, encoding="utf-8")
    return fresh != text


def main(arguments: Sequence[str]) -> int:
    for name in arguments:
        print(f"{name}: {'renewed' if renew(Path(name)) else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
