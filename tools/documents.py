"""Numbers in documents come from commands: `python -m adamb.tools.documents README.md` renews them.

A region between `<!-- begin: COMMAND -->` and `<!-- end -->` is what COMMAND prints (`begin text:` puts it
into a text block). The same parser finds the code blocks of a document, so that a test can run those marked
`test`:

    ```sh test            runs, and must succeed
    ```sh test slow       the same, among the slow tests
    ```python test        likewise; `file=NAME` writes the block into a file first
"""

from __future__ import annotations

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
NUMBER = re.compile(r"(?P<mean>-?\d+(?:\.\d+)?)(?: ± (?P<half>\d+(?:\.\d+)?))?")


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

    A mean with an interval agrees when it lies in the interval of the other: compilers and numerical
    libraries may round differently. Everything else must be equal.
    """
    before, after = written.splitlines(), made.splitlines()
    for old, new in zip(before, after, strict=False):
        if not _agree(old, new):
            return f"written: {old}\nprinted: {new}"
    return None if len(before) == len(after) else f"{len(before)} lines are written, {len(after)} printed"


def _agree(old: str, new: str) -> bool:
    if "±" not in old:
        return old == new
    plain_old, plain_new = old.replace("**", ""), new.replace("**", "")
    if NUMBER.sub("#", plain_old) != NUMBER.sub("#", plain_new):
        return False
    for first, second in zip(NUMBER.finditer(plain_old), NUMBER.finditer(plain_new), strict=True):
        apart = abs(float(first["mean"]) - float(second["mean"]))
        halves = [float(match["half"]) for match in (first, second) if match["half"]]
        if apart > max(halves, default=0.01 * abs(float(first["mean"])) if "." in first["mean"] else 0.0):
            return False
    return True


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
