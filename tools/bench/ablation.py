"""What each part of the learning is worth: `python -m adamb.tools.bench.ablation`.

Builds the C core once as it is and once without each part, by changing a line of a copy of its sources, and
plays all of them untuned on the same seeds at 4 KiB. A cell says by how many per cent the core without it
earns less (above zero: the part pays), with a 95 % interval over paired seeds. `dram-lite, jump` changes at
half time.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from joblib import Parallel, delayed
from scipy import stats

from adamb.firmware_model import _binding_build as build
from adamb.firmware_model import binding
from adamb.host_sim.agents import make_agent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import simulate

EPISODES, BUDGET, FIRST_SEED = 2000, 4096, 60000
PROBLEMS = (
    *("oil-laplace", "oil-noisy", "oil-sparse", "oil-2d", "dram-lite", "cache-lite", "allocation-2x1"),
    "dram-lite, jump",
)


@dataclass(frozen=True)
class Part:
    """A line of a source file, and what stands there without the part."""

    name: str
    file: str
    line: str
    without: str


PARTS = (
    Part("divides early what leads", "adamb_learn.c", "&& leads(c))", "&& 0 * leads(c))"),
    Part("refreshes any cell", "adamb_core.c", "if (c->chunks > 1) {", "if (c->chunks > 99) {"),
    Part(
        "bonus follows the best rewards",
        "adamb_adapt.c",
        "s[ADAMB_S_REWARD_TOP] = (uint16_t)(reward > top ? reward : top);",
        "(void)top;",
    ),
    Part("looks ahead before acting", "adamb_core.c", "uint8_t h = c->h;", "uint8_t h = c->h;\nreturn 0;"),
    Part("detector looks back 256 episodes", "adamb_spec.h", "DETECT_WINDOW (256)", "DETECT_WINDOW (32)"),
    Part(
        "fine cells in the sharing test",
        "adamb_adapt.c",
        "return dims == 1 ? 11 : c->d_s + c->d_a == 3 ? 10 : 8;",
        "return (void)c, (void)dims, 11;",
    ),
    Part(
        "folds without hope",
        "adamb_reclaim.c",
        "c->shared && before > after ? surplus : surplus + before - after",
        "surplus + before - after",
    ),
    Part("a split asks for eight units", "adamb_spec.h", "SPLIT_ROOM (8)", "SPLIT_ROOM (1)"),
    Part("spares leaves that are played", "adamb_spec.h", "PLAYED_MASK (7)", "PLAYED_MASK (0)"),
    Part("reclaims in one observe of four", "adamb_spec.h", "RECLAIM_MASK (3)", "RECLAIM_MASK (15)"),
)


def built(folder: Path, part: Part | None) -> Path:
    """A library of the core without the part, in the folder."""
    sources = folder / "c"
    shutil.copytree(build.FIRMWARE / "c", sources)
    if part is not None:
        path = sources / part.file
        text = path.read_text()
        if text.count(part.line) != 1:
            raise SystemExit(f"ablation: {part.file} has no single line {part.line!r}: adapt {__file__}")
        path.write_text(text.replace(part.line, part.without))
    library = folder / "core.so"
    batch = build.FIRMWARE / "batch"
    files = [*sorted(sources.glob("*.c")), *sorted(batch.glob("*.c"))]
    binding.compile_library(files, library, [*build.FLAGS, f"-I{sources}", f"-I{batch}"])
    return library


def play(part: Part | None, problem: str, seeds: int) -> np.ndarray:
    """Mean reward per episode of every seed."""
    name, _, jump = problem.partition(", ")
    with tempfile.TemporaryDirectory() as folder:
        ffi: Any = FFI()
        ffi.cdef(build.declarations())
        usual = binding.ffi, binding.lib
        binding.ffi, binding.lib = ffi, ffi.dlopen(str(built(Path(folder), part)))
        try:
            seen = range(FIRST_SEED, FIRST_SEED + seeds)
            made = make_problem(name, seen, episodes=EPISODES, drift="half" if jump else "none")
            agent = make_agent("adamb", made, budget_bytes=BUDGET, core="c")
            returns: np.ndarray = simulate(made, agent).returns.mean(axis=1)
        finally:
            binding.ffi, binding.lib = usual
    return returns


def cell(whole: np.ndarray, without: np.ndarray) -> str:
    gain = 100 * (whole - without) / whole.mean()
    half = stats.t.ppf(0.975, len(gain) - 1) * stats.sem(gain)
    return f"{gain.mean():+.1f} ± {half:.1f}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    if given.seeds < 2:
        parser.error(f"--seeds {given.seeds}: an interval needs at least 2")
    work = [(part, problem) for part in (None, *PARTS) for problem in PROBLEMS]
    done = Parallel(n_jobs=given.jobs)(delayed(play)(part, problem, given.seeds) for part, problem in work)
    played = dict(zip(work, done, strict=True))
    print(f"Seeds {FIRST_SEED} to {FIRST_SEED + given.seeds - 1}, {EPISODES} episodes, 4 KiB.\n")
    print(f"| part | {' | '.join(PROBLEMS)} |")
    print("|---" * (len(PROBLEMS) + 1) + "|")
    for part in PARTS:
        cells = (cell(played[None, problem], played[part, problem]) for problem in PROBLEMS)
        print(f"| {part.name} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
