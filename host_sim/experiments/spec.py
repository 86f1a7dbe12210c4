"""A sweep read from a TOML file: problems, agents, bonuses, budgets and seeds become cells.

Mistakes name the file, the line, the key and what was expected there.

An agent entry may leave options open: `tune = { bonus = [0.1, 0.3, 1] }` (or `tune = "bonus"` and one
`bonus_grid` for all) has them chosen for each problem and budget on `tune_seeds` seeds from `tune_seed_base`,
before the choice is scored on the seeds of the sweep. `by_problem = { oil-laplace = { L_r = 12 } }` gives it
options on one problem alone, by the problem's label. A table `quick` overrides keys when a short version is
asked for. A table `growth` has the keys of a sweep, but a list of `episodes`: the same runs with more and more
episodes, told how many there are.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamb.firmware_model.host.errors import AdambError, BudgetExceeded, InputError, nearest
from adamb.firmware_model.host.sizes import parse_size
from adamb.host_sim.experiments.cell import Cell, digest_of
from adamb.host_sim.problem import MAX_EPISODES

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
    "tune_seeds": (int, "how many seeds choose tuned options, from 1 to 10000"),
    "tune_seed_base": (int, "the first of them, from 0; none may be a seed of the sweep"),
    "bonus_grid": (list, 'what `tune = "bonus"` tries, such as [0.01, 0.1, 1]'),
    "curves": (int, "at how many episodes reward and leaves are kept, from 0 to 2000"),
    "shares": (bool, "true or false: in a document, the share of V* beside every reward"),
    "refusals": (str, '"violation" or "shown": what a budget that is too small counts as'),
    "analysis": (str, '"table" or "paper": what is made of the results'),
    "quick": (dict, "a table of keys that --quick replaces"),
    "growth": (dict, "a table like a sweep with a list of episodes, for how regret grows"),
    "horizon": (int, "steps of an episode, from 1 to 1000"),
    "instance": (str, '"random" or "paper"'),
    "drift": (str, '"none", "half" or "walk"'),
    "continuing": (bool, "true or false"),
}
WORDS = {"refusals": ("violation", "shown"), "analysis": ("table", "paper")}
LIMITS = {
    "episodes": (1, MAX_EPISODES),
    "seeds": (1, 10_000),
    "seed_base": (0, 2**62),
    "seeds_per_cell": (1, 10_000),
    "tune_seeds": (1, 10_000),
    "tune_seed_base": (0, 2**62),
    "curves": (0, 2000),
    "horizon": (1, 1000),
}
SEARCHING_AGENTS = ("static", "optimal")
"""Building one of these costs a search or a dynamic program; checking a spec leaves them to their cell."""


TUNE_SEEDS, TUNE_SEED_BASE = 10, 10_000


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
        """Hash of the meaning, not of comments, blanks or versions: the cells in order."""
        seeds = self.tune_seeds if any(cell.tune for cell in self.cells) else ()
        return digest_of([seeds, *(vars(cell) for cell in self.cells)])

    @property
    def name(self) -> str:
        return str(self.values.get("name", self.path.stem))

    @property
    def seeds(self) -> list[int]:
        return sorted({seed for cell in self.cells for seed in cell.seeds})


def read_spec(path: Path, *, quick: bool = False) -> SweepSpec:
    """Read and check a sweep file; every name in it is tried before anything runs."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError("sweep", str(path), error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise InputError("sweep", str(path), f"byte {error.start} is not UTF-8; expected TOML") from None
    return parse_spec(text, path, quick=quick)


def parse_spec(text: str, path: Path, *, quick: bool = False) -> SweepSpec:
    """Read a text in place of a file; `path` is for messages."""
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        last = f"at line {len(text.splitlines())}, the end of the file"
        reason = str(error).replace("at end of document", last)
        raise InputError("sweep", str(path), f"not TOML: {reason}") from None
    return spec_of(values, text, path, quick=quick)


def spec_of(values: dict[str, Any], text: str, path: Path, *, quick: bool = False) -> SweepSpec:
    """Read the values of a text, in which a message finds their lines."""
    reader = _Reader(text, path, values)
    reader.check_keys(reader.values)
    if quick:
        reader.use_quick()
    reader.values.pop("quick", None)
    spec = SweepSpec(path, text, values, tuple(reader.cells()), quick)
    reader.check_tuning(spec)
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

    def check_keys(self, values: Mapping[str, Any]) -> None:
        for key, value in values.items():
            if key not in KEYS:
                raise self.wrong(key, value, f"unknown key, {nearest(key, KEYS)}")
            kind, expected = KEYS[key]
            if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
                raise self.wrong(key, value, f"expected {expected}")
            if kind is list and not value:
                raise self.wrong(key, value, f"is empty; expected {expected}")
            if key in WORDS and value not in WORDS[key]:
                raise self.wrong(key, value, f"expected {expected}")
            if isinstance(value, int) and key in LIMITS and not LIMITS[key][0] <= value <= LIMITS[key][1]:
                raise self.wrong(key, value, f"expected {expected}")
        for key in ("problems", "agents"):
            if key not in self.values:
                raise InputError(str(self.path), key, f"is missing; expected {KEYS[key][1]}")

    def use_quick(self) -> None:
        """The short version: the keys of the table `quick` in place of those of the same name."""
        shorter = self.values.get("quick")
        if not shorter:
            raise InputError("quick", str(self.path), "the file has no table named quick to shorten it")
        self.check_keys(shorter)
        self.values.pop("growth", None)
        self.values.update(shorter)

    def check_tuning(self, spec: SweepSpec) -> None:
        """A choice that is scored on the seeds it was made on would look too good."""
        shared = set(spec.tune_seeds) & set(spec.seeds)
        if shared and any(cell.tune for cell in spec.cells):
            raise self.wrong("tune_seed_base", min(spec.tune_seeds), f"seed {min(shared)} is scored too")

    def cells(self) -> Iterator[Cell]:
        values = self.values
        budgets = [self._budget(i, each) for i, each in enumerate(values.get("budgets", ["none"]))]
        base, count = values.get("seed_base", 0), values.get("seeds", 10)
        step = values.get("seeds_per_cell", min(count, 10))
        seeds = [tuple(range(i, min(i + step, base + count))) for i in range(base, base + count, step)]
        problems = [self._problem(i) for i in range(len(values["problems"]))]
        agents = [agent for i in range(len(values["agents"])) for agent in self._agent(i)]
        for problem, agent, budget_bytes, part in itertools.product(problems, agents, budgets, seeds):
            yield Cell(
                **problem,
                **self._on(problem["problem_label"], agent),
                budget_bytes=budget_bytes,
                seeds=part,
                episodes=values.get("episodes", 2000),
                horizon=values.get("horizon"),
                continuing=values.get("continuing", False),
                curves=values.get("curves", 0),
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

    def _problem(self, index: int) -> dict[str, Any]:
        """The fields of a cell that a problem entry decides."""
        table = self._table("problems", index, ("name", "label", "set", "instance", "drift"))
        parameters = table.get("set", {})
        if not isinstance(parameters, dict):
            raise self.wrong(f"problems[{index}].set", parameters, "expected a table such as { lam = 25 }")
        own = {key: table[key] for key in ("instance", "drift") if key in table}
        written = "".join(f" {key}={value}" for key, value in (*own.items(), *parameters.items()))
        return {
            "problem": table["name"],
            "problem_label": table.get("label", table["name"] + written),
            "params": tuple(sorted(parameters.items())),
            "instance": own.get("instance", self.values.get("instance", "random")),
            "drift": own.get("drift", self.values.get("drift", "none")),
        }

    def _agent(self, index: int) -> list[dict[str, Any]]:
        """The fields of a cell that an agent entry decides, once for each of its bonuses."""
        table = self._table("agents", index, None)
        tune = self._tune(index, table.pop("tune", {}))
        by_problem = self._by_problem(index, table.pop("by_problem", {}))
        shared = self.values.get("bonus", [None]) if table["name"] == "adamb" else [None]
        bonuses = [None] if "bonus" in dict(tune) else table.pop("bonus", shared)
        options = {k.replace("-", "_"): v for k, v in table.items() if k not in ("name", "label")}
        written = "".join(f" {key}={value}" for key, value in options.items())
        bonuses = bonuses if isinstance(bonuses, list) else [bonuses]
        for bonus in bonuses:
            if isinstance(bonus, bool) or not isinstance(bonus, (str, int, float, type(None))):
                raise self.wrong(f"agents[{index}].bonus", bonus, "expected a number or a word such as auto")
        fields = {
            "agent": table["name"],
            "agent_label": table.get("label", table["name"] + written),
            "options": options,
            "tune": tune,
            "by_problem": by_problem,
        }
        return [{**fields, "bonus": bonus} for bonus in bonuses]

    def _by_problem(self, index: int, table: object) -> dict[str, dict[str, Any]]:
        """Options of an agent on single problems, by their labels."""
        place = f"agents[{index}].by_problem"
        expected = "expected a table such as { oil-laplace = { L_r = 12 } }"
        if not isinstance(table, dict):
            raise self.wrong(place, table, expected)
        labels = [self._problem(i)["problem_label"] for i in range(len(self.values["problems"]))]
        for label, options in table.items():
            if label not in labels:
                raise self.wrong(f"{place}.{label}", options, f"no such problem, {nearest(label, labels)}")
            if not isinstance(options, dict):
                raise self.wrong(f"{place}.{label}", options, expected)
        return table

    @staticmethod
    def _on(problem_label: str, agent: dict[str, Any]) -> dict[str, Any]:
        """The fields of an agent, with its options on this problem."""
        fields = {key: value for key, value in agent.items() if key != "by_problem"}
        options = {**agent["options"], **agent["by_problem"].get(problem_label, {})}
        return {**fields, "options": tuple(sorted(options.items()))}

    def _tune(self, index: int, table: object) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        place = f"agents[{index}].tune"
        expected = 'expected a table of lists such as { bonus = [0.1, 1] }, or "bonus" to try bonus_grid'
        if table == "bonus" and "bonus_grid" in self.values:
            table = {"bonus": self.values["bonus_grid"]}
        if not isinstance(table, dict):
            raise self.wrong(place, table, expected)
        for name, values in table.items():
            if not isinstance(values, list) or not values:
                raise self.wrong(f"{place}.{name}", values, expected)
        return tuple((name.replace("-", "_"), tuple(values)) for name, values in table.items())

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
                problem, _ = cell.build(cell.seeds[:1])
            except AdambError as error:
                raise self.wrong("problems", cell.problem_label, str(error)) from None
            for choice in cell.choices() if cell.agent not in SEARCHING_AGENTS else ():
                try:
                    cell.with_choice(choice).agent_for(problem)
                except BudgetExceeded:
                    continue
                except AdambError as error:
                    raise self.wrong("agents", cell.agent_label, str(error)) from None


LEAST_LENGTHS = 2
INHERITED = ("horizon", "drift", "continuing")
"""Keys of the whole sweep that hold here too, unless the table has its own."""


def growth_spec(spec: SweepSpec) -> SweepSpec | None:
    """The second part of a sweep, None where the file has none.

    Every number of episodes is a sweep of its own inside one folder, so that options are tuned for each and
    learners whose size follows from the number of episodes have the size for each.
    """
    table = spec.values.get("growth")
    if table is None:
        return None
    lengths = table.get("episodes")
    whole = isinstance(lengths, list) and all(isinstance(k, int) and k > 0 for k in lengths)
    if not whole or len(set(lengths)) < LEAST_LENGTHS or sorted(lengths) != lengths:
        raise InputError(f"{spec.path}, growth.episodes", lengths, "expected two or more growing numbers")
    shared = {key: spec.values[key] for key in INHERITED if key in spec.values}
    cells: list[Cell] = []
    for episodes in lengths:
        problems = [_labelled(entry, episodes) for entry in table.get("problems", [])]
        values = {**shared, **table, "episodes": episodes, "problems": problems}
        cells += spec_of(values, spec.text, spec.path).cells
    values = {**shared, **table, "name": f"{spec.name}, growth"}
    return SweepSpec(spec.path, spec.text, values, tuple(cells), spec.quick)


def _labelled(entry: Any, episodes: int) -> Any:
    """Options are tuned for a label, so each length needs its own."""
    table = {"name": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict):
        return entry
    return {**table, "label": with_length(str(table.get("label", table.get("name"))), episodes)}


def with_length(label: str, episodes: int) -> str:
    return f"{label}, K = {episodes}"
