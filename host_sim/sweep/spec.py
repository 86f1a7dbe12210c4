"""What a sweep is, as data: cells, which are one combination of problem, agent and budget with some seeds.

A cell is a piece of work that is done whole or not at all. Its key is a hash of everything that decides its
result, so a cell that is finished is finished for every sweep that contains it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adamb.host_sim.agents import make_agent
from adamb.host_sim.provenance import spec_hash, version
from adamb.host_sim.registry import make_problem
from adamb.host_sim.user_code import file_digest

TUNE_SEEDS, TUNE_SEED_BASE = 10, 10_000
Choice = tuple[tuple[str, Any], ...]
"""Options and the values chosen for them."""


@dataclass(frozen=True)
class Cell:
    """One combination and some of its seeds."""

    problem: str
    problem_label: str
    params: tuple[tuple[str, Any], ...]
    agent: str
    agent_label: str
    options: tuple[tuple[str, Any], ...]
    bonus: str | float | None
    budget_bytes: int | None
    seeds: tuple[int, ...]
    episodes: int
    horizon: int | None
    instance: str
    drift: str
    continuing: bool
    curves: int = 0
    tune: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """Options that are still open, with the values to try; a cell that runs has none."""

    @property
    def combination(self) -> tuple[Any, ...]:
        """What the seeds of one average have in common."""
        return (self.problem_label, self.agent_label, self.bonus, self.budget_bytes)

    def key(self) -> str:
        """A name for the result: equal for equal work of equal versions, whatever sweep it is part of."""
        content = {k: v for k, v in vars(self).items() if not k.endswith("_label")}
        core = spec_hash() if self.agent == "adamb" else None
        named = [self.problem, self.agent, *(text for _, text in self.params if isinstance(text, str))]
        own = [digest for digest in map(file_digest, named) if digest]
        return _hash({**content, "version": version(), "core": core, **({"own": own} if own else {})})

    def build(self, seeds: tuple[int, ...] | None = None) -> tuple[Any, Any]:
        """The problem and the agent of this cell."""
        problem = make_problem(
            self.problem,
            self.seeds if seeds is None else seeds,
            instance=self.instance,
            drift=self.drift,
            continuing=self.continuing,
            episodes=self.episodes,
            horizon=self.horizon,
            params=dict(self.params),
        )
        return problem, lambda: self.agent_for(problem)

    def agent_for(self, problem: Any) -> Any:
        options = dict(self.options) | ({} if self.bonus is None else {"bonus": self.bonus})
        return make_agent(self.agent, problem, budget_bytes=self.budget_bytes, **options)

    def choices(self) -> Iterator[Choice]:
        """What tuning tries: the product of the listed values, the first option slowest."""
        names = [name for name, _ in self.tune]
        for values in itertools.product(*(values for _, values in self.tune)):
            yield tuple(zip(names, values, strict=True))

    def with_choice(self, choice: Choice) -> Cell:
        """The cell with the options of a choice in effect and nothing left to tune."""
        options = {**dict(self.options), **dict(choice)}
        bonus = options.pop("bonus", self.bonus)
        return replace(self, options=tuple(sorted(options.items())), bonus=bonus, tune=())


@dataclass(frozen=True)
class SweepSpec:
    """A sweep that has been understood, with the text it came from."""

    path: Path
    text: str
    values: Mapping[str, Any]
    cells: tuple[Cell, ...]
    quick: bool = False

    @property
    def tune_seeds(self) -> tuple[int, ...]:
        """The seeds that choose tuned options."""
        base = self.values.get("tune_seed_base", TUNE_SEED_BASE)
        return tuple(range(base, base + self.values.get("tune_seeds", TUNE_SEEDS)))

    @property
    def hash(self) -> str:
        """Of the meaning, not of comments, blanks or versions: the cells in order."""
        seeds = self.tune_seeds if any(cell.tune for cell in self.cells) else ()
        return _hash([seeds, *(vars(cell) for cell in self.cells)])

    @property
    def name(self) -> str:
        return str(self.values.get("name", self.path.stem))

    @property
    def seeds(self) -> list[int]:
        return sorted({seed for cell in self.cells for seed in cell.seeds})


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]
