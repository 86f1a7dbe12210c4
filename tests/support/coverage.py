"""Lines and branches of the C core that the drivers of tests/fault run: `python tests coverage FOLDER`.

Build: gcc --coverage -O0, division in software; the core has no asserts.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from support.fuzzing import unpacked
from support.paths import CORE, FAULT

POOL = "adamb_pool.o"

# Program, its sources beside the core, the lines of arguments it is run with, where the corpus is unpacked.
PROGRAMS: dict[str, tuple[list[str], list[list[object]]]] = {
    "edges": (["edges.c"], [[]]),
    "driver": (["driver.c"], [["runs", 1, 300, 400], ["refuse", 3, 120], ["damage", 1, 40, 300]]),
    "fuzz": (["fuzz.c", "fuzz_main.c"], [["replay", "corpus"]]),
    "store_driver": (
        ["store_driver.c"],
        [
            ["runs", 64, 512, 3, 240, 60, 3],
            ["forge", 64, 512, 4, 240, 600, 1],
            ["wear", 64, 512, 4, 240, 9, 5],
        ],
    ),
    "store_model": (["store_model.c"], [[256, 512, 4, 3, 1], [512, 1024, 2, 3, 1]]),
    "flips": (["flips.c"], [["run", config, 1, 400, 5] for config in range(8)]),
    "soak": (["soak.c"], [[20_000, 1]]),
}


def run(command: list[object], **options: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return str(done.stdout)


def measure(folder: Path) -> None:
    """Build and run everything in the folder; the counts stay there."""
    unpacked(folder)
    for source in sorted(CORE.glob("*.c")):
        run(["gcc", "-std=c99", "-O0", "--coverage", f"-I{CORE}", "-c", source], cwd=folder)
    core = sorted(folder.glob("adamb_*.o"))
    # driver.c stands between the pool and its callers, to refuse what they ask for.
    renamed = folder / "renamed" / POOL
    renamed.parent.mkdir()
    run(["objcopy", "--redefine-sym", "adamb_pool_alloc=real_pool_alloc", folder / POOL, renamed])
    for name, (sources, calls) in PROGRAMS.items():
        objects = [renamed if name == "driver" and path.name == POOL else path for path in core]
        for source in sources:
            objects.append(folder / f"main_{Path(source).stem}.o")
            run(["gcc", "-std=c11", "-O1", f"-I{CORE}", "-c", FAULT / source, "-o", objects[-1]])
        run(["gcc", "--coverage", *objects, "-o", folder / name])
        for arguments in calls:
            run([folder / name, *arguments], cwd=folder)


def gcovr(folder: Path, *options: object) -> str:
    return run([sys.executable, "-m", "gcovr", "--root", CORE, folder, *options], cwd=folder)


def missing(report: dict[str, list[dict[str, object]]]) -> list[str]:
    """The lines with something that was never run, as a compiler names them, with their text."""
    found = []
    for file in report["files"]:
        text = (CORE / str(file["file"])).read_text().splitlines()
        for line in file["lines"]:  # type: ignore[attr-defined]
            never = [branch for branch in line.get("branches", []) if branch["count"] == 0]
            if line["count"] == 0 or never:
                n, what = line["line_number"], f"{len(never)} branches" if never else "line"
                found.append(f"{file['file']}:{n}: {what} never taken: {text[n - 1].strip()}")
    return found


def main() -> int:
    """Leave the pages of the report in a folder."""
    if len(sys.argv) != 2:
        print("usage: python tests coverage FOLDER", file=sys.stderr)
        return 2
    out = Path(sys.argv[1]).resolve()
    work = out / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    measure(work)
    gcovr(work, "--html-details", out / "index.html")
    print(gcovr(work, "--txt"), *missing(json.loads(gcovr(work, "--json"))), sep="\n")
    return 0
