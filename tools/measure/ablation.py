"""How much each part of the learning contributes: `python -m adamb.tools.maintain parts`.

Builds the C core once as it is and once without each part, whose switch is in spec.toml, and plays all of
them untuned on the same seeds, at 4 KiB or `--budget`. A cell says by how many per cent the core
without it earns less (above zero: the part helps), with a 95 % interval over paired seeds. `jump` changes at
half time, `walk` a little in every episode.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from joblib import Parallel, delayed
from scipy import stats

from adamb.firmware_model.host import _binding_build as build
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.errors import AdambError
from adamb.firmware_model.host.sizes import format_bytes, parse_size
from adamb.host_sim.agents import make_agent
from adamb.host_sim.problems import make_problem
from adamb.host_sim.runner import simulate
from adamb.tools.maintain import generate_spec
from adamb.tools.maintain.generate_spec import Part

EPISODES, FIRST_SEED = 2000, 60000
PROBLEMS = (
    *("oil-laplace", "oil-noisy", "oil-sparse", "oil-2d", "dram-lite", "cache-lite", "allocation-2x1"),
    *("oil-laplace, walk", "dram-lite, jump"),
)

DRIFT = {"": "none", "jump": "half", "walk": "walk"}


PARTS = [part for part in generate_spec.parts() if part.title]


def built(folder: Path, part: Part | None) -> Path:
    """A library of the core without the part, in the folder."""
    folder.mkdir()
    library = folder / "core.so"
    flags = [*build.FLAGS, *([f"-D{part.switch}"] if part else [])]
    places = [f"-I{build.FIRMWARE / place}" for place in build.FOLDERS]
    binding.compile_library(build.SOURCES, library, [*flags, *places])
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


def measured(parts: Sequence[Part], seeds: int, jobs: int, budget: int) -> dict[tuple[Part | None, str], np.ndarray]:
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
        print(f"| {part.title} | {' | '.join(cells)} |")
    return 0
