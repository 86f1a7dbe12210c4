"""The protocol of the league, as data: problems, budgets, seeds, and who plays with which grid of options.

Every rival is tuned for each problem and budget on seeds that are not scored; the controller is not tuned at
all. A rival is `published` in the form of its paper, or `strengthened`: the same with further ideas (a finer
or coarser split rule, merging when full, one table for all steps), so that a win over a published rival
cannot rest on a weakness that is easily mended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adamb.budgets.errors import unknown_name
from adamb.host_sim.agents import OWN as OWN_FILE
from adamb.host_sim.agents import find_agent
from adamb.host_sim.registry import make_problem
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

Grid = dict[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Seeds:
    """Seeds that score and seeds that tune; none is both."""

    scored: tuple[int, ...]
    tuning: tuple[int, ...]


SEEDS = Seeds(tuple(range(120_000, 120_020)), tuple(range(40_000, 40_010)))
QUICK_SEEDS = Seeds(SEEDS.scored[:10], SEEDS.tuning[:4])
SLOW_TUNING = 5
"""Tuning seeds on the slow simulators."""


@dataclass(frozen=True)
class LeagueTask:
    """One problem of the league; `group` is stationary, drift or long."""

    label: str
    problem: str
    params: tuple[tuple[str, Any], ...] = ()
    drift: str = "none"
    episodes: int = EPISODES
    baselines: tuple[str, ...] = ()
    """Where no model is known, the best of these is the unit of the score."""
    slow: str = ""
    """Why the grids of the rivals are smaller here; empty where they are not."""

    @property
    def group(self) -> str:
        if self.episodes > EPISODES:
            return "long"
        return "stationary" if self.drift == "none" else "drift"

    def dimensions(self) -> tuple[int, int]:
        problem = make_problem(self.problem, [0], params=dict(self.params))
        return problem.d_s, problem.d_a


SHIFTING = (("arrivals", "shifting"),)
DRAM_RULES = ("t-star", "best-static", "adaptive", "timeout-100")
CACHE_RULES = ("planned", "utility-greedy", "myopic", "proportional", "half")
SLOW_DRAM = "its simulator takes far longer than a learner"
SLOW_CACHE = "its simulator takes far longer than a learner"
STATIONARY = (
    LeagueTask("oil-laplace", "oil-laplace"),
    LeagueTask("oil-laplace-border", "oil-laplace", (("place", "border"),)),
    LeagueTask("oil-laplace-25", "oil-laplace", (("lam", 25.0),)),
    LeagueTask("oil-laplace-50", "oil-laplace", (("lam", 50.0),)),
    LeagueTask("oil-quadratic", "oil-quadratic"),
    LeagueTask("oil-noisy", "oil-noisy"),
    LeagueTask("oil-sparse", "oil-sparse"),
    LeagueTask("oil-2d", "oil-2d"),
    LeagueTask("ambulance-1", "ambulance-1"),
    LeagueTask("ambulance-1-shifting", "ambulance-1", SHIFTING),
    LeagueTask("ambulance-2", "ambulance-2"),
    LeagueTask("ambulance-2-shifting", "ambulance-2", SHIFTING),
    LeagueTask("dram-lite", "dram-lite"),
    LeagueTask("dram-drain", "dram-drain"),
    LeagueTask("dram-refresh", "dram-refresh"),
    LeagueTask("cache-lite", "cache-lite"),
    LeagueTask("allocation-2x1", "allocation-2x1"),
    LeagueTask("dram-1x1", "dram-1x1", baselines=DRAM_RULES, slow=SLOW_DRAM),
    LeagueTask("dram-2x1", "dram-2x1", baselines=DRAM_RULES, slow=SLOW_DRAM),
    LeagueTask("dram-3x2", "dram-3x2", baselines=DRAM_RULES, slow=SLOW_DRAM),
    LeagueTask("cache-slow", "cache-slow", baselines=CACHE_RULES, slow=SLOW_CACHE),
    LeagueTask("cache-2x1", "cache-2x1", baselines=CACHE_RULES, slow=SLOW_CACHE),
    LeagueTask("cache-scan", "cache-scan", baselines=CACHE_RULES, slow=SLOW_CACHE),
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
class LeagueContender:
    """A row of the league: an agent, what is fixed about it and what is tuned."""

    label: str
    agent: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    grid: Callable[[int, int], Grid] | None = None
    drift_only: bool = False
    about: str = ""


SMALL_NUMBERS = (0.005, 0.02, 0.1, 0.3, 1.0)
TREE_NUMBERS = (0.02, 0.1, 0.3, 0.6, 1.2)


def _bonus_only(d_s: int, d_a: int) -> Grid:
    return {"bonus": TREE_NUMBERS}


def _tree(d_s: int, d_a: int) -> Grid:
    return {"bonus": TREE_NUMBERS, "phi": (0.25, 0.5, 1.0, 3.0)}


def _zoom(d_s: int, d_a: int) -> Grid:
    return {"bonus": (0.1, 0.3, 0.5, 1.0, 1.5)}


def _bandit_zoom(d_s: int, d_a: int) -> Grid:
    return {"bonus": (0.02, 0.1, 0.2, 0.4, 1.0), "phi": (0.1, 0.3, 1.0, 3.0)}


def _arms(d_s: int, d_a: int) -> Grid:
    return {"bonus": (0.02, 0.1, 0.3, 0.7, 1.2), "size": {1: (8, 16, 32, 64)}.get(d_a, (4, 8, 12, 16))}


def _forgetting_arms(d_s: int, d_a: int) -> Grid:
    size = {1: (16, 32)}.get(d_a, (6, 10))
    return {"bonus": (0.02, 0.1, 0.3, 0.7, 1.2), "size": size, "discount": (0.99, 0.997)}


def _sized(by_dimensions: Mapping[int, tuple[int, ...]], bonus: tuple[float, ...], d: int) -> Grid:
    """Sizes that fill the budgets from 1 to 16 KiB, one after the other."""
    return {"bonus": bonus, "size": by_dimensions[min(max(d, 2), 4)]}


def _net(d_s: int, d_a: int) -> Grid:
    return _sized({2: (5, 7, 10, 14), 3: (3, 4, 5, 8), 4: (2, 3, 4, 5)}, SMALL_NUMBERS, d_s + d_a)


def _shared_net(d_s: int, d_a: int) -> Grid:
    return _sized({2: (6, 9, 14, 20), 3: (4, 5, 6, 9), 4: (2, 3, 4, 5)}, SMALL_NUMBERS, d_s + d_a)


def _model(d_s: int, d_a: int) -> Grid:
    return _sized({2: (4, 6, 8, 12), 3: (2, 3, 4, 5), 4: (2, 3, 4)}, SMALL_NUMBERS, d_s + d_a)


def _shared_model(d_s: int, d_a: int) -> Grid:
    found = _sized({2: (6, 9, 12, 20), 3: (3, 4, 5, 7), 4: (2, 3, 4, 5)}, SMALL_NUMBERS, d_s + d_a)
    return {**found, "counts": ("dense" if d_s + d_a <= 2 else "sparse",)}


def _tiles(d_s: int, d_a: int) -> Grid:
    d = d_s + d_a
    bonus = (0.2, 0.4, 0.6, 0.8, 1.0) if d < 4 else (0.4, 0.8)
    return _sized({2: (4, 6, 8, 12), 3: (3, 4, 6, 8), 4: (3, 4)}, bonus, d)


MERGE = {"when_full": "reclaim"}
CONTENDERS = (
    LeagueContender(UNTUNED, "adamb", OURS, about="the controller with its defaults; nothing is tuned"),
    LeagueContender(TUNED, "adamb", OURS, {}, _bonus_only, about="the same with a tuned constant bonus"),
    LeagueContender(PAPER, "adamb", OURS, {"mode": "paper", "when_full": "freeze"}, _bonus_only,
                    about="the paper's algorithm, which stops dividing when full"),
    LeagueContender("adaql", "adaql", PUBLISHED, {}, _bonus_only, about="adaptive Q-learning"),
    LeagueContender("epsql", "epsql", PUBLISHED, {}, _net, about="Q-learning on a grid"),
    LeagueContender("epsmb", "epsmb", PUBLISHED, {}, _model, about="UCBVI on a grid"),
    LeagueContender("kernel-ucbvi", "kernel-ucbvi", PUBLISHED, {}, _model, about="Kernel-UCBVI"),
    LeagueContender("cmac", "cmac", PUBLISHED, {}, _tiles, about="SARSA on tile coding"),
    LeagueContender("zoom", "zoom", PUBLISHED, {}, _zoom, about="contextual zooming, which does not plan"),
    LeagueContender("bandit", "bandit", PUBLISHED, {}, _arms, about="UCB over actions, blind to the state"),
    LeagueContender("bandit-discount", "bandit", PUBLISHED, {}, _forgetting_arms, True,
                    about="discounted UCB, on problems that drift"),
    LeagueContender("adaql-phi", "adaql", STRENGTHENED, MERGE, _tree,
                    about="adaql, split rule tuned, merging"),
    LeagueContender("adaql-share", "adaql", STRENGTHENED, {**MERGE, "share": "on"}, _tree,
                    about="the same with one tree for all steps"),
    LeagueContender("adaql-stepless", "adaql", STRENGTHENED, {**MERGE, "share": "stepless"}, _tree,
                    about="the same with one discounted value per ball"),
    LeagueContender("zoom-phi", "zoom", STRENGTHENED, MERGE, _tree, about="zoom, split rule tuned, merging"),
    LeagueContender("bandit-zoom", "bandit-zoom", STRENGTHENED, MERGE, _bandit_zoom,
                    about="zooming into the actions, blind to the state"),
    LeagueContender("epsql-share", "epsql", STRENGTHENED, {"share": "on"}, _shared_net,
                    about="epsql with one table for all steps"),
    LeagueContender("epsmb-share", "epsmb", STRENGTHENED, {"share": "on", "monotone": "off"}, _shared_model,
                    about="epsmb with one model for all steps"),
    LeagueContender("cmac-stepless", "cmac", STRENGTHENED, {"share": "on"}, _tiles,
                    about="cmac with one table and a discounted return"),
)  # fmt: skip
KIND_OF = {each.label: each.kind for each in CONTENDERS}


def kind_of(label: str) -> str:
    """The class of a row; one that is not of the league is an agent from a user's file."""
    return KIND_OF.get(label, OWN)


def grid_for(contender: LeagueContender, task: LeagueTask, *, quick: bool = False) -> Grid:
    """What tuning tries: all of it; less where a run is slow, and in the quick version."""
    if contender.grid is None:
        return {}
    grid = contender.grid(*task.dimensions())
    if not (task.slow or quick):
        return grid
    cut = {name: values[1:4] if name == "bonus" else values[::2] for name, values in grid.items()}
    return {name: values if len(grid[name]) > 2 else grid[name] for name, values in cut.items()}


def cut_reason(contender: LeagueContender, task: LeagueTask) -> str:
    """Why a rival has a smaller grid on this problem, or nothing."""
    if task.slow and contender.grid is not None:
        return task.slow
    if contender.agent == "cmac" and sum(task.dimensions()) >= 4:
        return "it compares 144 actions at each step"
    return ""


def find_tasks(names: Sequence[str] | None, *, quick: bool = False) -> list[LeagueTask]:
    """The problems asked for, in the order of the league; the quick version has its own few."""
    known = {task.label: task for task in TASKS}
    chosen = list(names) if names else list(QUICK_TASKS if quick else known)
    for name in chosen:
        if name not in known:
            raise unknown_name("only", name, known)
    found = [task for task in TASKS if task.label in chosen]
    if not quick:
        return found
    return [replace(task, episodes=QUICK_EPISODES * (task.episodes // EPISODES)) for task in found]


def find_contenders(names: Sequence[str] | None) -> list[LeagueContender]:
    """Rows by label or by class (ours, published, strengthened, rivals); all without names.

    `file.py:Class` is an agent of the user: played as it is, and no part of any target.
    """
    if not names:
        return list(CONTENDERS)
    groups: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in (OURS, PUBLISHED, STRENGTHENED)}
    groups["rivals"] = (PUBLISHED, STRENGTHENED)
    wanted, own = set(), []
    for name in names:
        if names_file(name):
            find_agent(name)
            own.append(LeagueContender(name, name, OWN, about="your own, not tuned"))
            continue
        found = {c.label for c in CONTENDERS if c.label == name or c.kind in groups.get(name, ())}
        if not found:
            raise unknown_name("agents", name, [*groups, *(c.label for c in CONTENDERS), OWN_FILE])
        wanted |= found
    return [*(each for each in CONTENDERS if each.label in wanted), *own]
