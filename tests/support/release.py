"""`make campaigns ONLY=release`: run tests and campaigns, and record their figures.

The figures are in a table of docs/reliability.md. When a command fails, or a figure is missing, the exit code is 1 and
the table stays as it is. `--only mutants soak` runs these alone and leaves the figures of the others. The hour of
libFuzzer takes one core; the other campaigns run beside it.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from support.paths import ROOT

DOCUMENT = ROOT / "docs" / "reliability.md"
TABLE = re.compile(r"(?<=<!-- figures: make campaigns ONLY=release -->\n)\n.*?\n(?=<!-- end of figures -->)", re.DOTALL)
ROW = re.compile(r"^\| ([\w-]+) \| ([^|]+) \| ([\d,.]+) \|$", re.MULTILINE)
COMMANDS = {
    "lint": "make lint",
    "test": "make test",
    "marked": "make campaigns",
    "prove": "make campaigns ONLY=prove",
    "mutants": "make campaigns ONLY=mutants",
    "fuzz": "make campaigns ONLY=fuzz",
    "soak": "make campaigns ONLY=soak",
    "floor": "make campaigns ONLY=floor",
    "libfuzzer": "make campaigns ONLY=fuzz ARGS='--engine libfuzzer --seconds 3600'",
}
BESIDE = "libfuzzer"
"""Runs beside the others, which follow one another: they share what they build."""


@dataclass(frozen=True)
class Figure:
    """A number that a campaign prints: the last match of a pattern, or the share of two in per cent."""

    campaign: str
    name: str
    pattern: str

    def of(self, output: str) -> float | None:
        found = re.findall(self.pattern, output)
        if not found:
            return None
        last = found[-1] if isinstance(found[-1], tuple) else (found[-1],)
        numbers = [float(text.replace(",", "")) for text in last]
        return numbers[0] if len(numbers) == 1 else int(1000 * numbers[0] / numbers[1]) / 10


FIGURES = (
    Figure("lint", "C files without a finding", r"(\d+) files, no finding"),
    Figure("prove", "proofs", r"(\d+) of \d+ proved"),
    Figure("mutants", "mutants judged", r"of (\d+) mutants noticed"),
    Figure("mutants", "noticed, per cent", r"(\d+) of (\d+) mutants noticed"),
    Figure("mutants", "survivors without a reason", r"(\d+) without one"),
    Figure("fuzz", "executions without a find", r"(\d+) executions in"),
    Figure("libfuzzer", "seconds without a find", r"no find in (\d+) s of libfuzzer"),
    Figure("soak", "episodes with power cuts", r"1 KiB: (\d+) episodes"),
)


def run(name: str) -> tuple[int, str]:
    """Exit code and output of a campaign, shown after its name as it comes."""
    command = shlex.split(COMMANDS[name])
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        lines = []
        for line in process.stdout or ():
            print(f"{name}: {line}", end="", flush=True)
            lines.append(line)
    return process.returncode, "".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def table(figures: dict[Figure, float]) -> str:
    rows = ["| campaign | figure | last release |", "|---|---|---:|"]
    for figure in FIGURES:
        number = _number(figures[figure]) if figure in figures else "not yet recorded"
        rows.append(f"| {figure.campaign} | {figure.name} | {number} |")
    return "\n".join(rows) + "\n"


def release(only: Collection[str]) -> int:
    """Run the campaigns and record their figures; the exit code."""
    text = DOCUMENT.read_text(encoding="utf-8")
    written = {(campaign, name): float(n.replace(",", "")) for campaign, name, n in ROW.findall(text)}
    figures = {each: written[key] for each in FIGURES if (key := (each.campaign, each.name)) in written}
    with ThreadPoolExecutor(1) as executor:
        beside = {name: executor.submit(run, name) for name in only if name == BESIDE}
        ran = {name: run(name) for name in only if name not in beside}
        ran |= {name: future.result() for name, future in beside.items()}
    wrong = [f"{COMMANDS[name]}: exit code {code}" for name, (code, _) in ran.items() if code]
    for figure in FIGURES:
        if figure.campaign in ran:
            now = figure.of(ran[figure.campaign][1])
            wrong += [f"{figure.campaign}: {figure.name} is missing"] if now is None else []
            figures |= {} if now is None else {figure: now}
    print(table(figures), *wrong, sep="\n")
    if wrong:
        print(f"{DOCUMENT.name} stays as it is", file=sys.stderr)
        return 1
    DOCUMENT.write_text(TABLE.sub(lambda _: f"\n{table(figures)}\n", text), encoding="utf-8")
    print(f"recorded in {DOCUMENT.name}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(COMMANDS), default=list(COMMANDS))
    return release(parser.parse_args().only)
