"""`make release`: run every campaign, compare its figures with those of the last release, and record them.

The figures are in a table of SECURITY.md. When a campaign fails, or a figure is missing or worse than the
recorded one, the exit code is 1 and the table stays as it is. A campaign without a target in the Makefile is
left out, and the output says so; once recorded, it must be there. `--only mutants soak` runs these alone and
leaves the figures of the others. The hour of libFuzzer takes one core; the other campaigns run beside it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "SECURITY.md"
BEGIN, END = "<!-- figures: make release -->\n", "<!-- end of figures -->"
ROW = re.compile(r"^\| `make ([\w-]+)[^|`]*` \| ([^|]+) \| ([\d,.]+) \| at \w+(?: \d+)? \|$", re.MULTILINE)


@dataclass(frozen=True)
class CampaignFigure:
    """A number that a campaign prints: the last match of a pattern, or the share of two in per cent."""

    name: str
    pattern: str
    more_is_better: bool = True
    enough: int | None = None
    """Where chance decides how many more there are: so many must be there, whatever the last release had."""

    def of(self, output: str) -> float | None:
        found = re.findall(self.pattern, output)
        if not found:
            return None
        last = found[-1] if isinstance(found[-1], tuple) else (found[-1],)
        numbers = [float(text.replace(",", "")) for text in last]
        return numbers[0] if len(numbers) == 1 else int(1000 * numbers[0] / numbers[1]) / 10


CAMPAIGNS: dict[str, tuple[CampaignFigure, ...]] = {
    "analyse": (CampaignFigure("C files without a finding", r"(\d+) files"),),
    "prove": (CampaignFigure("proofs", r"(\d+) of \d+ proved"),),
    "mutants": (
        CampaignFigure("mutants judged", r"of (\d+) mutants noticed", enough=300),
        CampaignFigure("noticed, per cent", r"(\d+) of (\d+) mutants noticed"),
        CampaignFigure("survivors without a reason", r"(\d+) without one", more_is_better=False),
    ),
    "fuzz": (
        CampaignFigure("executions without a find", r"(\d+) executions in"),
        CampaignFigure("branches of the core that the corpus runs, per cent", r"(\d+) of (\d+) branches"),
    ),
    "fuzz-hour": (CampaignFigure("seconds of libFuzzer without a find", r"no find in (\d+) s of libfuzzer"),),
    "soak": (
        CampaignFigure("episodes with power cuts", r"1 KiB: (\d+) episodes"),
        CampaignFigure("calls", r"(\d+) calls, nothing broken"),
    ),
    "test": (),
    "campaigns": (),
    "floor": (),
}
BESIDE = "fuzz-hour"
"""Runs beside the others, which follow one another: they share what they build."""
UNKNOWN = "not yet recorded"
MORE_IS_BETTER = {(name, one.name): one.more_is_better for name, all_ in CAMPAIGNS.items() for one in all_}
ENOUGH = {(name, one.name): one.enough for name, all_ in CAMPAIGNS.items() for one in all_ if one.enough}
Recorded = dict[tuple[str, str], float]
Run = Callable[[str], tuple[int, str]]


def make(target: str) -> tuple[int, str]:
    """Exit code and output of a target, shown behind its name as it comes; code -1: no such target."""
    if not re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
        return -1, ""
    with subprocess.Popen(
        ["make", target], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        lines = []
        for line in process.stdout or ():
            print(f"{target}: {line}", end="", flush=True)
            lines.append(line)
    return process.returncode, "".join(lines)


def recorded(text: str) -> Recorded:
    """(campaign, figure) → number, from the table in the document."""
    table = text.split(BEGIN)[1].split(END)[0]
    return {(campaign, name): float(n.replace(",", "")) for campaign, name, n in ROW.findall(table)}


def measured(run: Run, only: Collection[str]) -> tuple[Recorded, list[str]]:
    """Figures of the campaigns, and what went wrong, one line each."""
    found: Recorded = {}
    wrong = []
    with ThreadPoolExecutor(1) as executor:
        beside = {name: executor.submit(run, name) for name in only if name == BESIDE}
        ran = {name: run(name) for name in only if name not in beside}
        ran |= {name: future.result() for name, future in beside.items()}
    for campaign in only:
        figures = CAMPAIGNS[campaign]
        code, output = ran[campaign]
        if code == -1:
            print(f"make {campaign}: no such target, left out")
            continue
        if code:
            wrong.append(f"make {campaign}: exit code {code}")
        for figure in figures:
            value = figure.of(output)
            if value is None:
                wrong.append(f"make {campaign}: {figure.name}: not printed")
            else:
                found[campaign, figure.name] = value
    return found, wrong


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def worse(new: Recorded, old: Recorded) -> list[str]:
    """A line for every figure that is worse than the recorded one, or gone."""
    lines = []
    for key, before in old.items():
        now, what = new.get(key), f"make {key[0]}: {key[1]}"
        before = ENOUGH.get(key, before)
        if now is None and key in MORE_IS_BETTER:  # a figure that is no longer asked for is not missing
            lines.append(f"{what}: was {_number(before)}, now missing")
        elif now is not None and (now < before if MORE_IS_BETTER[key] else now > before):
            word = "needs" if key in ENOUGH else "was"
            lines.append(f"{what}: {word} {_number(before)}, now {_number(now)}")
    return lines


def table(figures: Recorded, rows_of: Collection[tuple[str, str]]) -> str:
    """The rows as the document has them; a figure without a number is named too."""
    rows = ["| campaign | figure | last release | next one |", "|---|---|---:|---|"]
    for campaign, name in rows_of:
        bound = "at least" if MORE_IS_BETTER[campaign, name] else "at most"
        bound += f" {ENOUGH[campaign, name]}" if (campaign, name) in ENOUGH else ""
        number = _number(figures[campaign, name]) if (campaign, name) in figures else UNKNOWN
        rows.append(f"| `make {campaign}` | {name} | {number} | {bound} |")
    return "\n".join(rows) + "\n"


def renewed(text: str, figures: Recorded) -> str:
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + table(figures, MORE_IS_BETTER) + "\n" + END + rest.split(END)[1]


def release(run: Run = make, document: Path = DOCUMENT, only: Collection[str] = tuple(CAMPAIGNS)) -> int:
    """Run the campaigns, judge their figures, record them; the exit code."""
    text = document.read_text(encoding="utf-8")
    figures, wrong = measured(run, only)
    old = recorded(text)
    wrong += worse(figures, {key: value for key, value in old.items() if key[0] in only})
    print(table(figures, figures), *wrong, sep="\n")
    if wrong:
        print(f"{document.name} stays as it is", file=sys.stderr)
        return 1
    kept = {key: value for key, value in old.items() if key[0] not in only and key in MORE_IS_BETTER}
    document.write_text(renewed(text, kept | figures), encoding="utf-8")
    print(f"recorded in {document.name}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", choices=list(CAMPAIGNS), default=list(CAMPAIGNS))
    return release(only=parser.parse_args().only)


if __name__ == "__main__":
    sys.exit(main())
