"""Flip bits of live blocks by the hundred thousand: `python tests flips` prints what was found.

Every configuration of flips.c learns for a while; then one bit of a copy flips (in every eighth, up to four),
the block is checked, some hundred calls follow, and it is checked again, under the address and
undefined-behaviour sanitizers. The shares are those of single flips.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from support.drivers import SANITIZERS
from support.paths import CORE, FAULT

FLAGS = ["-std=gnu99", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
_LINE = re.compile(r"^([a-z ]+): (\d+) (\d+) (\d+)$", re.MULTILINE)


@dataclass
class Kind:
    """Flips in one kind of word: how many, and how many of them the check and the scrub found."""

    flips: int = 0
    check: int = 0
    scrub: int = 0


@dataclass
class Campaign:
    """What a campaign has done so far."""

    seed: int
    flips: int = 0
    calls: int = 0
    kinds: dict[str, Kind] = field(default_factory=dict)

    def add(self, output: str, flips: int, calls: int) -> None:
        for name, *numbers in _LINE.findall(output):
            kind = self.kinds.setdefault(name, Kind())
            made, check, scrub = map(int, numbers)
            kind.flips, kind.check, kind.scrub = kind.flips + made, kind.check + check, kind.scrub + scrub
        self.flips += flips
        self.calls += flips * calls

    def table(self) -> str:
        lines = ["| word | flips | found by the check | by a pass of the scrub |", "|---|---:|---:|---:|"]
        for name, kind in self.kinds.items():
            shares = [f"{100 * found / max(1, kind.flips):.1f} %" for found in (kind.check, kind.scrub)]
            lines.append(f"| {name} | {kind.flips:,} | {shares[0]} | {shares[1]} |")
        made = f"{self.flips:,} flips, {self.calls:,} steps after them, seed {self.seed}"
        return "\n".join([*lines, "", made + ": no crash, no hang, no access outside."])


def build(folder: Path, *flags: str, core: Path = CORE) -> Path:
    """The driver; `core` may be a copy with a fault planted in it."""
    program = folder / "flips"
    sources = [*sorted(core.glob("*.c")), FAULT / "flips.c"]
    command = ["gcc", *FLAGS, f"-I{core}", *SANITIZERS, *flags, *map(str, sources), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return program


def configurations(program: Path) -> int:
    return int(subprocess.run([program, "configs"], capture_output=True, text=True, check=True).stdout)


def campaign(program: Path, *, flips: int, calls: int, seed: int) -> Campaign:
    """So many flips, shared by all configurations; a failure is an exception that says how to replay it."""
    done = Campaign(seed)
    count = configurations(program)
    each = -(-flips // count)
    for number in range(count):
        arguments = ["run", number, seed, each, calls]
        run = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        if run.returncode:
            raise AssertionError(f"flips {' '.join(map(str, arguments))}\n{run.stdout}{run.stderr}")
        done.add(run.stdout, each, calls)
        print(run.stdout.splitlines()[-1], file=sys.stderr, flush=True)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=300, help="steps that follow each flip")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = campaign(build(Path(folder)), flips=given.flips, calls=given.calls, seed=given.seed)
    print(done.table())
    return 0
