"""The protocol of the benchmark, as data: problems, budgets, seeds, and who plays with which grid of options.

Every baseline is tuned for each problem and budget on seeds that are not scored; the controller is not tuned at
all. A baseline is `published` in the form of its paper, or `strengthened`: the same with further ideas (a finer
or coarser split rule, merging when full, one table for all steps), so that a win over a published baseline
cannot rest on a weakness that is easily mended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from adamb.firmware_model.host.errors import unknown_name
from adamb.host_sim.agents import OWN as OWN_FILE
from adamb.host_sim.agents import find_agent
from adamb.host_sim.problems import make_problem
from adamb.host_sim.user_code import names_file

KIB = 1024
BUDGETS = tuple(size * KIB for size in (1, 2, 4, 8, 16, 32))
FIRST_BUDGETS = (4 * KIB, 2 * KIB)
"""Played first: an interrupted bench should have said the most."""
EPISODES, LONG_EPISODES, QUICK_EPISODES = 2000, 20_000, 1000
WINDOWS = 40
"""Into so many parts a run is cut to see it recover after a jump."""
OURS, PUBLISHED, STRENGTHENED, OWN = "ours", "published", "strengthened", "your own"
UNTUNED, TUNED, PAPER = "adamb", "adamb-tuned", "adamb-paper-freeze"

Values = tuple[Any, ...]
Grid = Mapping[str, Values | Mapping[int, Values]]
"""Values to try by option; some differ with the dimensions of state and action together, 4 standing for more."""


@dataclass(frozen=True)
class Seeds:
    """Seeds that score and seeds that tune; none is both."""

    scored: tuple[int, ...]
    tuning: tuple[int, ...]


SEEDS = Seeds(tuple(range(660_000, 660_020)), tuple(range(40_000, 40_010)))
QUICK_SEEDS = Seeds(SEEDS.scored[:10], SEEDS.tuning[:4])
SLOW_TUNING = 5
"""Tuning seeds on the slow simulators."""


@dataclass(frozen=True)
class BenchmarkTask:
    """One problem of the benchmark; `group` is stationary, drift or long."""

    label: str
    problem: str
    params: tuple[tuple[str, Any], ...] = ()
    drift: str = "none"
    episodes: int = EPISODES
    rules: tuple[str, ...] = ()
    """Rules of which the best is the unit of the score where no model is known."""
    slow: bool = False
    """Whether the grids of the baselines are smaller here."""

    @property
    def group(self) -> str:
        if self.episodes > EPISODES:
            return "long"
        return "stationary" if self.drift == "none" else "drift"

    @cache  # noqa: B019 (the tasks are those of this module)
    def dimensions(self) -> tuple[int, int]:
        problem = make_problem(self.problem, [0], params=dict(self.params))
        return problem.d_s, problem.d_a


SHIFTING = (("arrivals", "shifting"),)
DRAM_RULES = ("t-star", "best-static", "adaptive", "timeout-100")
CACHE_RULES = ("planned", "utility-greedy", "myopic", "proportional", "half")
SLOW = "its simulator takes far longer than a learner"
STATIONARY = (
    BenchmarkTask("oil-laplace", "oil-laplace"),
    BenchmarkTask("oil-laplace-border", "oil-laplace", (("place", "border"),)),
    BenchmarkTask("oil-laplace-25", "oil-laplace", (("lam", 25.0),)),
    BenchmarkTask("oil-laplace-50", "oil-laplace", (("lam", 50.0),)),
    BenchmarkTask("oil-quadratic", "oil-quadratic"),
    BenchmarkTask("oil-noisy", "oil-noisy"),
    BenchmarkTask("oil-sparse", "oil-sparse"),
    BenchmarkTask("oil-2d", "oil-2d"),
    BenchmarkTask("ambulance-1", "ambulance-1"),
    BenchmarkTask("ambulance-1-shifting", "ambulance-1", SHIFTING),
    BenchmarkTask("ambulance-2", "ambulance-2"),
    BenchmarkTask("ambulance-2-shifting", "ambulance-2", SHIFTING),
    BenchmarkTask("dram-lite", "dram-lite"),
    BenchmarkTask("dram-drain", "dram-drain"),
    BenchmarkTask("dram-refresh", "dram-refresh"),
    BenchmarkTask("cache-lite", "cache-lite"),
    BenchmarkTask("allocation-2x1", "allocation-2x1"),
    BenchmarkTask("dram-1x1", "dram-1x1", rules=DRAM_RULES, slow=True),
    BenchmarkTask("dram-2x1", "dram-2x1", rules=DRAM_RULES, slow=True),
    BenchmarkTask("dram-3x2", "dram-3x2", rules=DRAM_RULES, slow=True),
    BenchmarkTask("cache-slow", "cache-slow", rules=CACHE_RULES, slow=True),
    BenchmarkTask("cache-2x1", "cache-2x1", rules=CACHE_RULES, slow=True),
    BenchmarkTask("cache-scan", "cache-scan", rules=CACHE_RULES, slow=True),
)  # fmt: skip
DRIFTING = ("oil-laplace", "oil-noisy", "ambulance-1", "dram-lite", "cache-lite")
LONG = ("oil-laplace", "oil-noisy", "oil-sparse", "dram-lite")
BY_LABEL = {task.label: task for task in STATIONARY}
JUMPS = tuple(replace(BY_LABEL[name], label=f"{name}-jump", drift="half") for name in DRIFTING)
WALKS = tuple(replace(BY_LABEL[name], label=f"{name}-walk", drift="walk") for name in DRIFTING)
LONGS = tuple(replace(BY_LABEL[name], label=f"{name}-long", episodes=LONG_EPISODES) for name in LONG)
TASKS = (*STATIONARY, *JUMPS, *WALKS, *LONGS)
QUICK_TASKS = ("oil-laplace", "ambulance-1", "dram-lite", "oil-laplace-jump")


@dataclass(frozen=True)
class BenchmarkContender:
    """A row of the benchmark: an agent, what is fixed about it and what is tuned."""

    label: str
    agent: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    grid: Grid | None = None
    drift_only: bool = False
    about: str = ""


FINE, COARSE = (0.005, 0.02, 0.1, 0.3, 1.0), (0.02, 0.1, 0.3, 0.6, 1.2)
ARM_BONUS = (0.02, 0.1, 0.3, 0.7, 1.2)
FEW, MANY = (8, 16, 32, 64), (4, 8, 12, 16)
BONUS_ONLY: Grid = {"bonus": COARSE}
TREE: Grid = {"bonus": COARSE, "phi": (0.25, 0.5, 1.0, 3.0)}
ZOOM: Grid = {"bonus": (0.1, 0.3, 0.5, 1.0, 1.5)}
BANDIT_ZOOM: Grid = {"bonus": (0.02, 0.1, 0.2, 0.4, 1.0), "phi": (0.1, 0.3, 1.0, 3.0)}
ARMS: Grid = {"bonus": ARM_BONUS, "size": {2: FEW, 3: FEW, 4: MANY}}
FORGETTING_ARMS: Grid = {
    "bonus": ARM_BONUS, "size": {2: (16, 32), 3: (16, 32), 4: (6, 10)}, "discount": (0.99, 0.997),
}  # fmt: skip
# Sizes of tables fill the budgets from 1 to 16 KiB, one after the other.
NET: Grid = {"bonus": FINE, "size": {2: (5, 7, 10, 14), 3: (3, 4, 5, 8), 4: (2, 3, 4, 5)}}
SHARED_NET: Grid = {"bonus": FINE, "size": {2: (6, 9, 14, 20), 3: (4, 5, 6, 9), 4: (2, 3, 4, 5)}}
MODEL: Grid = {"bonus": FINE, "size": {2: (4, 6, 8, 12), 3: (2, 3, 4, 5), 4: (2, 3, 4)}}
SHARED_MODEL: Grid = {
    "bonus": FINE,
    "size": {2: (6, 9, 12, 20), 3: (3, 4, 5, 7), 4: (2, 3, 4, 5)},
    "counts": {2: ("dense",), 3: ("sparse",), 4: ("sparse",)},
}
TILES: Grid = {
    "bonus": {2: (0.2, 0.4, 0.6, 0.8, 1.0), 3: (0.2, 0.4, 0.6, 0.8, 1.0), 4: (0.4, 0.8)},
    "size": {2: (4, 6, 8, 12), 3: (3, 4, 6, 8), 4: (3, 4)},
}
MERGE = {"when_full": "reclaim"}
CONTENDERS = (
    BenchmarkContender(UNTUNED, "adamb", OURS, about="the controller with its defaults; nothing is tuned"),
    BenchmarkContender(TUNED, "adamb", OURS, {}, BONUS_ONLY, about="the same with a tuned constant bonus"),
    BenchmarkContender(PAPER, "adamb", OURS, {"mode": "paper", "when_full": "freeze"}, BONUS_ONLY,
                    about="the paper's algorithm, which stops dividing when full"),
    BenchmarkContender("adaql", "adaql", PUBLISHED, {}, BONUS_ONLY, about="adaptive Q-learning"),
    BenchmarkContender("epsql", "epsql", PUBLISHED, {}, NET, about="Q-learning on a grid"),
    BenchmarkContender("epsmb", "epsmb", PUBLISHED, {}, MODEL, about="UCBVI on a grid"),
    BenchmarkContender("kernel-ucbvi", "kernel-ucbvi", PUBLISHED, {}, MODEL, about="Kernel-UCBVI"),
    BenchmarkContender("cmac", "cmac", PUBLISHED, {}, TILES, about="SARSA on tile coding"),
    BenchmarkContender("zoom", "zoom", PUBLISHED, {}, ZOOM, about="contextual zooming, which does not plan"),
    BenchmarkContender("bandit", "bandit", PUBLISHED, {}, ARMS, about="UCB over actions, blind to the state"),
    BenchmarkContender("bandit-discount", "bandit", PUBLISHED, {}, FORGETTING_ARMS, True,
                    about="discounted UCB, on problems that drift"),
    BenchmarkContender("adaql-phi", "adaql", STRENGTHENED, MERGE, TREE,
                    about="adaql, split rule tuned, merging"),
    BenchmarkContender("adaql-share", "adaql", STRENGTHENED, {**MERGE, "share": "on"}, TREE,
                    about="the same with one tree for all steps"),
    BenchmarkContender("adaql-stepless", "adaql", STRENGTHENED, {**MERGE, "share": "stepless"}, TREE,
                    about="the same with one discounted value per ball"),
    BenchmarkContender("zoom-phi", "zoom", STRENGTHENED, MERGE, TREE, about="zoom, split rule tuned, merging"),
    BenchmarkContender("bandit-zoom", "bandit-zoom", STRENGTHENED, MERGE, BANDIT_ZOOM,
                    about="zooming into the actions, blind to the state"),
    BenchmarkContender("epsql-share", "epsql", STRENGTHENED, {"share": "on"}, SHARED_NET,
                    about="epsql with one table for all steps"),
    BenchmarkContender("epsmb-share", "epsmb", STRENGTHENED, {"share": "on", "monotone": "off"}, SHARED_MODEL,
                    about="epsmb with one model for all steps"),
    BenchmarkContender("cmac-stepless", "cmac", STRENGTHENED, {"share": "on"}, TILES,
                    about="cmac with one table and a discounted return"),
)  # fmt: skip
KIND_OF = {each.label: each.kind for each in CONTENDERS}


def kind_of(label: str) -> str:
    """The class of a row; one that is not of the benchmark is an agent from a user's file."""
    return KIND_OF.get(label, OWN)


def grid_for(contender: BenchmarkContender, task: BenchmarkTask, *, quick: bool = False) -> dict[str, Values]:
    """Values that tuning tries: all of the grid; less where a run is slow, and in the quick version."""
    if contender.grid is None:
        return {}
    d = min(sum(task.dimensions()), 4)
    grid = {name: values[d] if isinstance(values, Mapping) else values for name, values in contender.grid.items()}
    if not (task.slow or quick):
        return grid
    cut = {name: values[1:4] if name == "bonus" else values[::2] for name, values in grid.items()}
    return {name: values if len(grid[name]) > 2 else grid[name] for name, values in cut.items()}


def cut_reason(contender: BenchmarkContender, task: BenchmarkTask) -> str:
    """Why a baseline has a smaller grid on this problem, or nothing."""
    if task.slow and contender.grid is not None:
        return SLOW
    if contender.agent == "cmac" and sum(task.dimensions()) >= 4:
        return "it compares 144 actions at each step"
    return ""


def find_tasks(names: Sequence[str] | None, *, quick: bool = False) -> list[BenchmarkTask]:
    """The problems asked for, in the order of the benchmark; the quick version has its own few."""
    known = {task.label: task for task in TASKS}
    chosen = list(names) if names else list(QUICK_TASKS if quick else known)
    for name in chosen:
        if name not in known:
            raise unknown_name("only", name, known)
    found = [task for task in TASKS if task.label in chosen]
    if not quick:
        return found
    return [replace(task, episodes=QUICK_EPISODES * (task.episodes // EPISODES)) for task in found]


def find_contenders(names: Sequence[str] | None) -> list[BenchmarkContender]:
    """Rows by label or by class (ours, published, strengthened, baselines); all without names.

    `file.py:Class` is an agent of the user: played as it is, and no part of any target.
    """
    if not names:
        return list(CONTENDERS)
    groups: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in (OURS, PUBLISHED, STRENGTHENED)}
    groups["baselines"] = (PUBLISHED, STRENGTHENED)
    wanted, own = set(), []
    for name in names:
        if names_file(name):
            find_agent(name)
            own.append(BenchmarkContender(name, name, OWN, about="your own, not tuned"))
            continue
        found = {c.label for c in CONTENDERS if c.label == name or c.kind in groups.get(name, ())}
        if not found:
            known = [*(task.label for task in TASKS), *groups, *(c.label for c in CONTENDERS), OWN_FILE]
            raise unknown_name("only", name, known)
        wanted |= found
    return [*(each for each in CONTENDERS if each.label in wanted), *own]
