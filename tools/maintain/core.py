"""`make core`: all that follows from the core, generated in the right order, and a summary of what moved.

Each stage is a process of its own, which imports what the stages before it have written; spec and the build of the
core come before this, in the Makefile. A stage without its tools says so and leaves what there is.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from adamb.tools.maintain.documents import moved, renewed, run

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "README.md", ROOT / "firmware_model" / "DESIGN.md", *sorted((ROOT / "docs").glob("*.md")))
"""Sorted, memory-systems-tables.md is renewed before memory-systems.md, which sums it up."""
CHIP_PAGE = ROOT / "docs" / "hardware.md"
CHIP_SHOWN = re.compile(
    r"^```\n(?P<command>adamb chip [^\n]+)\n```\n\n```text\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
"""What place and route print: not in a begin block, because a test of every block would take ten minutes."""


def vectors() -> None:
    """The recorded streams of the exact reference."""
    from adamb.firmware_model.exact import streams

    streams.write_all(ROOT / "tests" / "vectors")


def costs() -> None:
    """Costs under MicroPython: its sources are built, and run in QEMU."""
    from adamb.tools.device.micropython import builds, costs
    from adamb.tools.measure import micropython_native

    why = builds.missing(builds.CROSS)
    if why is None:
        costs.KEPT.write_text(micropython_native.measured_text(), encoding="utf-8")
    else:
        print(f"not measured again: {why}")


def chip() -> None:
    """Cycles, sizes and clock of engines and chips, and the wires of a decision."""
    from adamb.firmware_model.rtl import EngineShape
    from adamb.tools.chip import synthesis
    from adamb.tools.chip.bench import example
    from adamb.tools.device.extras import DeviceToolMissing
    from adamb.tools.maintain.limits import ENGINE_MHZ

    try:
        for family, wanted in ENGINE_MHZ.items():
            for shape in (EngineShape(2048), EngineShape(2048, d_s=1, d_a=1)):
                size = synthesis.measure(family, shape)
                print(f"{size.family}, engine {shape}: {size.mhz} MHz, wanted {wanted}", flush=True)
    except (DeviceToolMissing, ImportError) as error:
        print(f"not measured again: {error}")
        return
    (ROOT / "docs" / "decision.svg").write_text(example(), encoding="utf-8")
    rewrite(CHIP_PAGE, chip_renewed)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Commands run for minutes: what somebody has written meanwhile stays, as they run once only."""
    change(path.read_text(encoding="utf-8"))
    text = path.read_text(encoding="utf-8")
    fresh = change(text)
    if fresh != text:
        path.write_text(fresh, encoding="utf-8")


def chip_renewed(text: str, printed: Callable[[str], str] = run) -> str:
    """The page with what its commands print now."""

    def fresh(match: re.Match[str]) -> str:
        command = match["command"]
        return f"```\n{command}\n```\n\n```text\n{printed(f'{command} --quiet')}```"

    return CHIP_SHOWN.sub(fresh, text)


def tables() -> None:
    """What lies between begin and end in documents, and the picture of README.md."""
    from adamb.tools.maintain.tables import drawing

    for path in DOCUMENTS:
        begin = time.monotonic()
        rewrite(path, renewed)
        print(f"{path.relative_to(ROOT)}: {time.monotonic() - begin:.0f} s", flush=True)
    (ROOT / "docs" / "partition.svg").write_text(drawing(), encoding="utf-8")


STAGES: dict[str, Callable[[], None]] = {"vectors": vectors, "costs": costs, "chip": chip, "tables": tables}


def summary(before: dict[Path, str]) -> list[str]:
    """What moved in the documents, and the files that git calls changed."""
    lines = []
    for path, text in before.items():
        found = moved(text, path.read_text(encoding="utf-8"))
        lines += [f"\n{path.relative_to(ROOT)}", *(f"  {line}" for line in found)] if found else []
    changed = subprocess.run(["git", "status", "--short"], cwd=ROOT, capture_output=True, text=True).stdout
    return [*lines, "\nchanged files:", changed.rstrip() or "  none"]


def main(arguments: Sequence[str]) -> int:
    """All stages, those that are named, or with `stage NAME` one in this process."""
    if list(arguments[:1]) == ["stage"]:
        STAGES[arguments[1]]()
        return 0
    unknown = [name for name in arguments if name not in STAGES]
    if unknown:
        print(f"{' '.join(unknown)}: the stages are {', '.join(STAGES)}", file=sys.stderr)
        return 2
    before = {path: path.read_text(encoding="utf-8") for path in DOCUMENTS}
    for name in arguments or STAGES:
        print(f"-- {name}", flush=True)
        code = subprocess.call([sys.executable, "-m", "adamb.tools.maintain", "core", "stage", name], cwd=ROOT)
        if code:
            return code
    print(*summary(before), sep="\n")
    return 0
