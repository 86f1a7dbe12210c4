"""Options that several commands take: their declaration, and what their texts mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.firmware_model.host.errors import InputError, unknown_name
from adamb.firmware_model.host.options import OPTIONS
from adamb.firmware_model.host.sizes import parse_size

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

MAX_SEEDS = 10_000
MAX_JOBS = 1024
LAST_SEED = 2**63
CORE_HELP = "where adamb runs: c, python, reference, double, cortex-m0, cortex-m3, micropython or board:PORT"
SETTINGS = ("horizon", "instance", "drift", "continuing")
"""Names for --set that every problem has, beside its own."""
SET_HELP = (
    "k=v,..: parameters of the problem (adamb list problems NAME), and horizon=H, instance=paper, drift=half "
    "or walk, continuing=yes"
)

Budget = Annotated[str, typer.Option("--budget", help="cap in bytes: 4KiB, 512B, 4096")]
Json = Annotated[str | None, typer.Option("--json", help="write JSON to a file, - is stdout")]
Folder = Annotated[Path | None, typer.Option("--out", help="folder for JSON, CSV and pictures")]
Battery = Annotated[
    str | None, typer.Option("--battery", help="how long this lasts: charge@period, such as 1000mAh@1s; with --board")
]
Dims = Annotated[str | None, typer.Option("--dims", help="state + action dimensions [1+1]")]
Seeds = Annotated[str, typer.Option("--seeds", help="how many seeds run together, or which: 20, 100..119")]
Settings = Annotated[list[str] | None, typer.Option("--set", help=SET_HELP)]
AgentSettings = Annotated[
    list[str] | None, typer.Option("--agent-set", help="k=v,..: options of the agent (adamb list agents NAME)")
]
Jobs = Annotated[int | None, typer.Option("--jobs", help="processes on this computer; all cores unless given")]


def bounded(name: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise InputError(name, value, f"must be from {low} to {high}")
    return value


def one_of(name: str, value: str, choices: Collection[str]) -> str:
    if value not in choices:
        raise InputError(name, value, "one of " + ", ".join(choices))
    return value


def seed_range(text: str, most: int = MAX_SEEDS) -> tuple[int, ...]:
    """The seeds from 0 that `20` stands for, or those of `100..119`."""
    found = re.fullmatch(r"(?:(\d+)\.\.)?(-?\d+)", text.strip())
    if found is None:
        raise InputError("seeds", text, "write how many, such as 20, or the first and the last, such as 100..119")
    if found[1] is None:
        return tuple(range(bounded("seeds", int(found[2]), 1, most)))
    first, last = int(found[1]), int(found[2])
    if not first <= last < min(first + most, LAST_SEED):
        raise InputError("seeds", text, f"must be 1 to {most} seeds below 2^63, the smallest first")
    return tuple(range(first, last + 1))


def seeds_text(seeds: Sequence[int]) -> str:
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}..{seeds[-1]}"


def check_jobs(jobs: int | None) -> None:
    if jobs is not None:
        bounded("jobs", jobs, 1, MAX_JOBS)


def pairs(name: str, given: list[str] | None) -> dict[str, str]:
    """`k=v` options as a dictionary; one option may hold several, with commas between them."""
    found: dict[str, str] = {}
    for text in (part for each in given or () for part in re.split(r",(?=[\w-]+=)", each)):
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise InputError(name, text, "write name=value")
        if key.strip() in found:
            raise InputError(name, text, f"{key.strip()} is set twice")
        found[key.strip()] = value.strip()
    return found


def agent_settings(given: list[str] | None, known: Collection[str] | None = None) -> dict[str, Any]:
    """The values of --agent-set: a number where it is one, else a word for the agent to judge.

    Only these names, where `known` are all that the command can use.
    """
    found = {name.replace("-", "_"): number_or_word(value) for name, value in pairs("agent-set", given).items()}
    for name in found:
        if known is not None and name not in known:
            raise unknown_name("agent-set", name, known)
    return found


def controller_settings(given: list[str] | None) -> dict[str, Any]:
    """The same for commands that know the controller alone."""
    return agent_settings(given, OPTIONS)


def words(name: str, text: str) -> list[str]:
    """`a, b` as a list; at least one word."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise InputError(name, text, "is empty; give names with commas between them")
    return found


def number_or_word(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def whole_number(name: str, text: str, low: int, high: int) -> int:
    try:
        return bounded(name, int(text), low, high)
    except ValueError:
        raise InputError(name, text, "must be a whole number") from None


def yes_or_no(name: str, text: str) -> bool:
    return one_of(name, text, ("yes", "no")) == "yes"


def budget_from(budget: str | None, board: str | None = None) -> int | None:
    """The cap in bytes from one of the two options."""
    if board is None:
        return None if budget is None else parse_size(budget)
    if budget is not None:
        raise InputError("board", board, f"the cap is given by --budget {budget} already")
    from adamb.budgets.boards import load_board

    return load_board(board).available_bytes()


def default_folder(*parts: str) -> Path:
    """Where a command writes that was asked for files but not told where: runs/PROBLEM-AGENT."""
    return Path("runs") / "-".join(Path(part).name.replace(":", "-") for part in parts)


@dataclass(frozen=True)
class PlayedProblem:
    """The problem that a command line asks for; `make` gives a fresh one with the same seeds each time."""

    problem: str
    seeds: tuple[int, ...]
    episodes: int
    instance: str = "random"
    drift: str = "none"
    continuing: bool = False
    horizon: int | None = None
    parameters: dict[str, Any] | None = None

    @classmethod
    def of(cls, problem: str, seeds: tuple[int, ...], episodes: int, given: list[str] | None) -> PlayedProblem:
        """With what --set says: what every problem has, and parameters of this one."""
        parameters: dict[str, Any] = pairs("set", given)
        common = {name: parameters.pop(name) for name in SETTINGS if name in parameters}
        if "horizon" in common:
            common["horizon"] = whole_number("horizon", common["horizon"], 1, 1000)
        if "continuing" in common:
            common["continuing"] = yes_or_no("continuing", common["continuing"])
        return cls(problem, seeds, episodes, parameters=parameters, **common)

    @property
    def world(self) -> dict[str, Any]:
        """What make_problem takes beside the name, the seeds and the episodes."""
        return {
            "instance": self.instance, "drift": self.drift, "continuing": self.continuing,
            "horizon": self.horizon, "params": self.parameters,
        }  # fmt: skip

    def make(self) -> Problem:
        from adamb.host_sim.problems import make_problem

        return make_problem(self.problem, self.seeds, episodes=self.episodes, **self.world)
