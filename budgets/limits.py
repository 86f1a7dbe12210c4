"""Budget files: what a controller may cost on a problem, as a TOML file that a build is checked against.

    problem = "oil-laplace"
    episodes = 2000
    seeds = 5
    budget = "4KiB"

    [options]
    mode = "tracking"

    [limits]
    bytes = "4KiB"
    act_instructions = 150
    observe_instructions = 8000
    stack_bytes = 512
    min_reward = 2.5

Every limit is optional, but one must be there. `budget` is the cap the controller runs with; left out, it is
the limit on bytes. A mistake names the file, the key and what was expected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import parse_size
from adamb.firmware_model.host.toml_file import check_known, checked_text, read_toml, refuse

#: Whole numbers of the file with their limits and defaults.
NUMBERS = {
    "episodes": (1, 1_000_000, 2000),
    "horizon": (1, _spec.HORIZON_MAX, None),
    "seeds": (1, 1000, 5),
    "seed_base": (0, 2**31, 0),
}
TEXTS = {"agent": "adamb", "instance": "random", "drift": "none"}
TABLES = ("options", "set", "limits")

#: Limits, and whether the measurement must not be above them (or, for a reward, not below).
LIMITS = {
    "bytes": "at most",
    "act_instructions": "at most",
    "observe_instructions": "at most",
    "stack_bytes": "at most",
    "min_reward": "at least",
}
SIZES = ("bytes", "stack_bytes")


@dataclass(frozen=True)
class BudgetFile:
    """A checked budget file."""

    path: Path
    problem: str
    numbers: dict[str, int | None]
    texts: dict[str, str]
    options: dict[str, Any]
    parameters: dict[str, Any]
    limits: dict[str, float]
    budget_bytes: int | None

    @property
    def needs_target(self) -> bool:
        """Whether something is limited that only the compiled core on a target can show."""
        return any(name in self.limits for name in ("act_instructions", "observe_instructions", "stack_bytes"))


@dataclass(frozen=True)
class LimitCheck:
    """One limit against its measurement; `margin` is what is left of it, negative when broken."""

    name: str
    limit: float
    measured: float
    note: str = field(default="")

    @property
    def margin(self) -> float:
        return self.measured - self.limit if LIMITS[self.name] == "at least" else self.limit - self.measured

    @property
    def ok(self) -> bool:
        return self.margin >= 0

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "sense": LIMITS[self.name],
            "limit": self.limit,
            "measured": self.measured,
            "margin": self.margin,
            "ok": self.ok,
            "note": self.note,
        }


def judge(file: BudgetFile, measured: dict[str, float], notes: dict[str, str] | None = None) -> list[LimitCheck]:
    """One row per limit of the file; a limit without a measurement is a mistake of the caller."""
    missing = [name for name in file.limits if name not in measured]
    if missing:
        raise InputError("limits", ", ".join(missing), "was not measured")
    return [LimitCheck(name, limit, measured[name], (notes or {}).get(name, "")) for name, limit in file.limits.items()]


def read_budget_file(path: Path) -> BudgetFile:
    """Read and check a budget file."""
    content = read_toml(path, "file")
    check_known(path, "", content, ("problem", "budget", *NUMBERS, *TEXTS, *TABLES))
    problem = content.get("problem")
    if not isinstance(problem, str) or not problem.strip():
        refuse(path, "problem", problem, "the name of a problem, such as oil-laplace")
    numbers = {key: _number(path, key, content.get(key), *limits) for key, limits in NUMBERS.items()}
    texts = {key: checked_text(path, key, content.get(key, default)) for key, default in TEXTS.items()}
    tables = {key: _table(path, key, content.get(key, {})) for key in TABLES}
    limits = _limits(path, tables["limits"])
    budget = int(limits["bytes"]) if "bytes" in limits else None
    if "budget" in content:
        if not isinstance(content["budget"], str | int) or isinstance(content["budget"], bool):
            refuse(path, "budget", content["budget"], "a size such as 4KiB")
        budget = parse_size(content["budget"], f"{path}: budget")
    return BudgetFile(path, str(problem), numbers, texts, tables["options"], tables["set"], limits, budget)


def _number(path: Path, key: str, value: object, low: int, high: int, default: int | None) -> int | None:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        refuse(path, key, value, f"a whole number from {low} to {high}")
    return value


def _table(path: Path, key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(path, key, value, f"a table: [{key}]")
    return value


def _limits(path: Path, table: dict[str, Any]) -> dict[str, float]:
    check_known(path, "limits.", table, tuple(LIMITS))
    if not table:
        refuse(path, "limits", table, f"at least one of {', '.join(LIMITS)}")
    found: dict[str, float] = {}
    for key, value in table.items():
        if key in SIZES and isinstance(value, str):
            found[key] = parse_size(value, f"{path}: limits.{key}")
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            sizes = ", or a size such as 4KiB" if key in SIZES else ""
            refuse(path, f"limits.{key}", value, f"a number of 0 or more{sizes}")
        found[key] = value
    return found
