"""How much each part of the learning contributes: `python -m adamb.tools.measure.ablation`.

Builds the C core once as it is and once without each part, by changing a line of a copy of its sources, and
plays all of them untuned on the same seeds, at 4 KiB or `--budget`. A cell says by how many per cent the core
without it earns less (above zero: the part helps), with a 95 % interval over paired seeds. `jump` changes at
half time, `walk` a little in every episode.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from joblib import Parallel, delayed
from scipy import stats

from adamb.budgets.errors import AdambError
from adamb.budgets.sizes import format_bytes, parse_size
from adamb.firmware_model import _spec
from adamb.firmware_model.host import _binding_build as build
from adamb.firmware_model.host import binding
from adamb.host_sim.agents import make_agent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import simulate

EPISODES, FIRST_SEED = 2000, 60000
PROBLEMS = (
    *("oil-laplace", "oil-noisy", "oil-sparse", "oil-2d", "dram-lite", "cache-lite", "allocation-2x1"),
    *("oil-laplace, walk", "dram-lite, jump"),
)

DRIFT = {"": "none", "jump": "half", "walk": "walk"}


@dataclass(frozen=True)
class AblatedLine:
    """A line of a source file, and what stands there without the part."""

    name: str
    file: str
    line: str
    without: str

    def remove(self, sources: Path) -> None:
        """Change the line in a copy of the sources."""
        path = sources / self.file
        text = path.read_text()
        if text.count(self.line) != 1:
            raise SystemExit(f"ablation: {self.file} has no single line {self.line!r}: adapt {__file__}")
        path.write_text(text.replace(self.line, self.without))


def constant(name: str, of_spec: str, without: int) -> AblatedLine:
    """A part that goes when its constant has another value."""
    usual = f"#define ADAMB_{of_spec} ({getattr(_spec, of_spec)})"
    return AblatedLine(name, "adamb_spec.h", usual, f"#define ADAMB_{of_spec} ({without})")


PARTS = (
    AblatedLine(
        "follows finer actions", "adamb_core.c", "if (!has_flag(w, ADAMB_FLAG_RANDOM)) {", "if (0) {"
    ),
    AblatedLine(
        "keeps the finer action",
        "adamb_value.c",
        "if (c->paper || !finer) {",
        "if (1) {",
    ),
    AblatedLine("splits early", "adamb_learn.c", "(c->parent == 0 ||", "(1 ||"),
    constant("splits small balls late", "LATE_LEVEL", 15),
    constant("bonus within the size of its ball", "BONUS_SIDES", 64),
    constant("bonus fades", "FADE_MOST", 0),
    constant(f"{_spec.FINEST_EXTRA} more levels", "FINEST_EXTRA", 0),
    constant("lifts what was never visited", "RANK_LIFT", 0),
    AblatedLine(
        "weighs the future",
        "adamb_rank.c",
        "256 - adamb_number_divide(spread << 8, effect) : 0);",
        "256 : 256);",
    ),
    constant(f"remembers {1 << _spec.MEMORY_SHIFT} samples", "MEMORY_SHIFT", 14),
    constant("borrows from the parent", "PARENT_MOST", 0),
    constant(f"an alarm takes {1 << _spec.DETECT_SPELL_SHIFT} episodes", "DETECT_SPELL_SHIFT", 0),
    AblatedLine("refreshes any cell", "adamb_core.c", "if (c->wide) {", "if (0) {"),
    AblatedLine("but divides none for it", "adamb_refresh.c", "c->best_level = 0;", ""),
    AblatedLine(
        "V cells that agree are one",
        "adamb_internal.h",
        ">> (ADAMB_VALUE_NEAR_SHIFT + 1) == 0;",
        ">> (ADAMB_VALUE_NEAR_SHIFT + 1) == 0 && 0;",
    ),
    AblatedLine(
        "bonus follows the best rewards",
        "adamb_adapt.c",
        "s[ADAMB_S_REWARD_TOP] = (uint16_t)(reward > top ? reward : top);",
        "(void)top;",
    ),
    AblatedLine(
        "mean of all rewards at first",
        "adamb_adapt.c",
        "while (n >> rate == 0) {",
        "while (0) {",
    ),
    constant(f"looks ahead always for {_spec.NEXT_ALWAYS} episodes", "NEXT_ALWAYS", 0),
    AblatedLine(
        "looks ahead before acting", "adamb_refresh.c", "uint8_t h = c->h;", "uint8_t h = c->h;\nreturn 0;"
    ),
    constant(f"detector looks back {_spec.DETECT_WINDOW} episodes", "DETECT_WINDOW", 32),
    constant("fine cells in the sharing test", "SHARE_LOST_MORE", _spec.SHARE_LOST_FEW),
    AblatedLine(
        "a fold raises no Q",
        "adamb_reclaim.c",
        "c->shared && before > after ? surplus : surplus + before - after",
        "surplus + before - after",
    ),
    constant(f"a split asks for {_spec.SPLIT_ROOM} units", "SPLIT_ROOM", 1),
    constant("spares leaves that are played", "PLAYED_MASK", 0),
    constant(f"reclaims in one observe of {_spec.RECLAIM_MASK + 1}", "RECLAIM_MASK", 15),
)


def built(folder: Path, part: AblatedLine | None) -> Path:
    """A library of the core without the part, in the folder."""
    sources = folder / "c"
    shutil.copytree(build.FIRMWARE / "c", sources)
    if part is not None:
        part.remove(sources)
    library = folder / "core.so"
    batch = build.FIRMWARE / "host" / "batch"
    files = [*sorted(sources.glob("*.c")), *sorted(batch.glob("*.c"))]
    binding.compile_library(files, library, [*build.FLAGS, f"-I{sources}", f"-I{batch}"])
    return library


def play(library: Path, problem: str, seeds: int, budget: int) -> np.ndarray:
    """Mean reward per episode of every seed."""
    name, _, change = problem.partition(", ")
    ffi: Any = FFI()
    ffi.cdef(build.declarations())
    usual = binding.ffi, binding.lib
    binding.ffi, binding.lib = ffi, ffi.dlopen(str(library))
    try:
        seen = range(FIRST_SEED, FIRST_SEED + seeds)
        made = make_problem(name, seen, episodes=EPISODES, drift=DRIFT[change])
        agent = make_agent("adamb", made, budget_bytes=budget, core="c")
        returns: np.ndarray = simulate(made, agent).returns.mean(axis=1)
    finally:
        binding.ffi, binding.lib = usual
    return returns


def measured(
    parts: Sequence[AblatedLine], seeds: int, jobs: int, budget: int
) -> dict[tuple[AblatedLine | None, str], np.ndarray]:
    """What each core earns on each problem; a core is built once for all of them."""
    variants = (None, *parts)
    with tempfile.TemporaryDirectory() as folder, Parallel(n_jobs=jobs) as parallel:
        folders = (Path(folder) / str(i) for i in range(len(variants)))
        libraries = parallel(delayed(built)(each, part) for each, part in zip(folders, variants, strict=True))
        work = [(part, problem) for part in variants for problem in PROBLEMS]
        of = dict(zip(variants, libraries, strict=True))
        done = parallel(delayed(play)(of[part], problem, seeds, budget) for part, problem in work)
    return dict(zip(work, done, strict=True))


def cell(whole: np.ndarray, without: np.ndarray) -> str:
    gain = 100 * (whole - without) / whole.mean()
    half = stats.t.ppf(0.975, len(gain) - 1) * stats.sem(gain)
    return f"{gain.mean():+.1f} ± {half:.1f}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", default="4KiB", help="bytes of the block, as in 2KiB")
    parser.add_argument("--only", help="some of the parts, separated by commas")
    given = parser.parse_args(arguments)
    if given.seeds < 2:
        parser.error(f"--seeds {given.seeds}: an interval needs at least 2")
    named = {part.name: part for part in PARTS}
    wanted = list(named) if given.only is None else given.only.split(",")
    for name in wanted:
        if name not in named:
            parser.error(f"--only {name}: must be among {', '.join(named)}")
    parts = [named[name] for name in wanted]
    try:
        budget = parse_size(given.budget)
    except AdambError as error:
        parser.error(str(error))
    played = measured(parts, given.seeds, given.jobs, budget)
    seeds = f"Seeds {FIRST_SEED} to {FIRST_SEED + given.seeds - 1}"
    print(f"{seeds}, {EPISODES} episodes, {format_bytes(budget)}.\n")
    print(f"| part | {' | '.join(PROBLEMS)} |")
    print("|---" * (len(PROBLEMS) + 1) + "|")
    for part in parts:
        cells = (cell(played[None, problem], played[part, problem]) for problem in PROBLEMS)
        print(f"| {part.name} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
