"""What a sweep is, as data: problems × agents × bonus × budgets × seeds, read from a TOML file.

A cell is a piece of work that is done whole or not at all: one combination with some of its seeds. Its key is
a hash of everything that decides its result, so a cell that is finished is finished for every sweep that
contains it. Mistakes name the file, the line, the key and what was expected there.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamb.budgets.errors import AdambError, BudgetExceeded, InputError
from adamb.budgets.sizes import parse_size
from adamb.host_sim.agents import make_agent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import MAX_EPISODES, spec_hash, version

KEYS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "name": (str, "a name for tables"),
    "problems": (list, 'a list of problems: "oil-laplace" or { name = "oil-laplace", set = { lam = 25 } }'),
    "agents": (list, 'a list of agents: "adamb" or { name = "adamb", mode = "paper", label = "paper" }'),
    "bonus": (list, 'a list for adamb such as ["auto", 0.25]'),
    "budgets": (list, 'a list of sizes such as ["2KiB", "4KiB", "none"]'),
    "episodes": (int, f"a whole number from 1 to {MAX_EPISODES}"),
    "seeds": (int, "how many seeds, from 1 to 10000"),
    "seed_base": (int, "the first seed, from 0"),
    "seeds_per_cell": (int, "how many seeds run together, from 1"),
    "horizon": (int, "steps of an episode, from 1 to 1000"),
    "instance": (str, '"random" or "paper"'),
    "drift": (str, '"none", "half" or "walk"'),
    "continuing": (bool, "true or false"),
}
LIMITS = {
    "episodes": (1, MAX_EPISODES),
    "seeds": (1, 10_000),
    "seed_base": (0, 2**62),
    "seeds_per_cell": (1, 10_000),
    "horizon": (1, 1000),
}
SEARCHING_AGENTS = ("static", "optimal")
"""Building one of these costs a search or a dynamic program; checking a spec leaves them to their cell."""


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

    @property
    def combination(self) -> tuple[Any, ...]:
        """What the seeds of one average have in common."""
        return (self.problem_label, self.agent_label, self.bonus, self.budget_bytes)

    def key(self) -> str:
        """A name for the result: equal for equal work of equal versions, whatever sweep it is part of."""
        content = {k: v for k, v in vars(self).items() if not k.endswith("_label")}
        core = spec_hash() if self.agent == "adamb" else None
        return _hash({**content, "version": version(), "core": core})

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
        options = dict(self.options) | ({} if self.bonus is None else {"bonus": self.bonus})
        return problem, lambda: make_agent(self.agent, problem, budget_bytes=self.budget_bytes, **options)


@dataclass(frozen=True)
class SweepSpec:
    """A sweep that has been understood, with the text it came from."""

    path: Path
    text: str
    values: Mapping[str, Any]
    cells: tuple[Cell, ...]

    @property
    def hash(self) -> str:
        """Of the meaning, not of comments, blanks or versions: the cells in order."""
        return _hash([vars(cell) for cell in self.cells])

    @property
    def name(self) -> str:
        return str(self.values.get("name", self.path.stem))

    @property
    def seeds(self) -> list[int]:
        return sorted({seed for cell in self.cells for seed in cell.seeds})


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]


def read_spec(path: Path) -> SweepSpec:
    """Read and check a sweep file; every name in it is tried before anything runs."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError("sweep", str(path), error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise InputError("sweep", str(path), f"byte {error.start} is not UTF-8; expected TOML") from None
    return parse_spec(text, path)


def parse_spec(text: str, path: Path) -> SweepSpec:
    """The same for a text; `path` is for messages."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        last = f"at line {len(text.splitlines())}, the end of the file"
        reason = str(error).replace("at end of document", last)
        raise InputError("sweep", str(path), f"not TOML: {reason}") from None
    reader = _Reader(text, path, values)
    reader.check_keys()
    spec = SweepSpec(path, text, values, tuple(reader.cells()))
    reader.try_names(spec.cells)
    return spec


class _Reader:
    """Turns values into cells; knows where each key stands, for messages."""

    def __init__(self, text: str, path: Path, values: dict[str, Any]) -> None:
        self.text, self.path, self.values = text, path, values

    def wrong(self, key: str, value: object, expected: str) -> InputError:
        name = re.split(r"[\[.]", key)[0]
        for number, line in enumerate(self.text.splitlines(), start=1):
            if re.match(rf"\s*(\[+\s*)?[\"']?{re.escape(name)}\b", line):
                return InputError(f"{self.path}, line {number}, {key}", value, expected)
        return InputError(f"{self.path}, {key}", value, expected)

    def check_keys(self) -> None:
        for key, value in self.values.items():
            if key not in KEYS:
                near = difflib.get_close_matches(key, KEYS, n=1, cutoff=0.5)
                known = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(KEYS)}"
                raise self.wrong(key, value, f"unknown key, {known}")
            kind, expected = KEYS[key]
            if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
                raise self.wrong(key, value, f"expected {expected}")
            if kind is list and not value:
                raise self.wrong(key, value, f"is empty; expected {expected}")
            if isinstance(value, int) and key in LIMITS and not LIMITS[key][0] <= value <= LIMITS[key][1]:
                raise self.wrong(key, value, f"expected {expected}")
        for key in ("problems", "agents"):
            if key not in self.values:
                raise InputError(str(self.path), key, f"is missing; expected {KEYS[key][1]}")

    def cells(self) -> Iterator[Cell]:
        values = self.values
        budgets = [self._budget(i, each) for i, each in enumerate(values.get("budgets", ["none"]))]
        base, count = values.get("seed_base", 0), values.get("seeds", 10)
        step = values.get("seeds_per_cell", min(count, 10))
        for problem, problem_label, params in map(self._problem, range(len(values["problems"]))):
            for agent, agent_label, options, bonuses in map(self._agent, range(len(values["agents"]))):
                for bonus in bonuses:
                    for budget_bytes in budgets:
                        for first in range(base, base + count, step):
                            yield Cell(
                                problem=problem,
                                problem_label=problem_label,
                                params=params,
                                agent=agent,
                                agent_label=agent_label,
                                options=options,
                                bonus=bonus,
                                budget_bytes=budget_bytes,
                                seeds=tuple(range(first, min(first + step, base + count))),
                                episodes=values.get("episodes", 2000),
                                horizon=values.get("horizon"),
                                instance=values.get("instance", "random"),
                                drift=values.get("drift", "none"),
                                continuing=values.get("continuing", False),
                            )

    def _budget(self, index: int, value: object) -> int | None:
        if value == "none":
            return None
        try:
            if isinstance(value, bool) or not isinstance(value, (str, int)):
                raise InputError("budget", value, 'expected a size such as "4KiB", or "none"')
            return parse_size(value)
        except InputError as error:
            raise self.wrong(f"budgets[{index}]", value, error.limit) from None

    def _problem(self, index: int) -> tuple[str, str, tuple[tuple[str, Any], ...]]:
        table = self._table("problems", index, ("name", "label", "set"))
        parameters = table.get("set", {})
        if not isinstance(parameters, dict):
            raise self.wrong(f"problems[{index}].set", parameters, "expected a table such as { lam = 25 }")
        written = "".join(f" {key}={value}" for key, value in parameters.items())
        return table["name"], table.get("label", table["name"] + written), tuple(sorted(parameters.items()))

    def _agent(self, index: int) -> tuple[str, str, tuple[tuple[str, Any], ...], list[Any]]:
        table = self._table("agents", index, None)
        shared = self.values.get("bonus", [None]) if table["name"] == "adamb" else [None]
        bonuses = table.pop("bonus", shared)
        options = {k.replace("-", "_"): v for k, v in table.items() if k not in ("name", "label")}
        written = "".join(f" {key}={value}" for key, value in options.items())
        label = table.get("label", table["name"] + written)
        bonuses = bonuses if isinstance(bonuses, list) else [bonuses]
        for bonus in bonuses:
            if isinstance(bonus, bool) or not isinstance(bonus, (str, int, float, type(None))):
                raise self.wrong(f"agents[{index}].bonus", bonus, "expected a number or a word such as auto")
        return table["name"], label, tuple(sorted(options.items())), bonuses

    def _table(self, key: str, index: int, known: tuple[str, ...] | None) -> dict[str, Any]:
        value = self.values[key][index]
        table = {"name": value} if isinstance(value, str) else value
        place = f"{key}[{index}]"
        if not isinstance(table, dict) or not isinstance(table.get("name"), str):
            raise self.wrong(place, value, f"expected a name or a table with a name, in {KEYS[key][1]}")
        if not isinstance(table.get("label", ""), str):
            raise self.wrong(f"{place}.label", table["label"], "expected a word")
        for name in table:
            if known is not None and name not in known:
                raise self.wrong(f"{place}.{name}", table[name], f"unknown key, known are {', '.join(known)}")
        return dict(table)

    def try_names(self, cells: tuple[Cell, ...]) -> None:
        """Build every combination with one seed: a typing mistake must not surface after an hour."""
        places: dict[tuple[Any, ...], Cell] = {}
        for cell in cells:
            if cell.seeds[0] != self.values.get("seed_base", 0):
                continue
            if cell.combination in places:
                twice = f"{cell.problem_label} × {cell.agent_label}"
                raise self.wrong("agents", twice, "is there twice; give each entry a label of its own")
            places[cell.combination] = cell
            try:
                _, make = cell.build(cell.seeds[:1])
            except AdambError as error:
                raise self.wrong("problems", cell.problem_label, str(error)) from None
            try:
                if cell.agent not in SEARCHING_AGENTS:
                    make()
            except BudgetExceeded:
                continue
            except AdambError as error:
                raise self.wrong("agents", cell.agent_label, str(error)) from None
