"""Problems by name: built-in ones, each a file or folder here that registers its names when it is imported;
`gym:<id>` for a Gymnasium environment, `file.py:Class` for your own.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adamb.firmware_model.host.errors import InputError, nearest

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

PROBLEMS = Path(__file__).parent
REGISTERS = re.compile(r"\bregister(_problem)?\(")

_registered: dict[str, tuple[type[Problem], dict[str, Any]]] = {}


def register_problem(name: str, cls: type[Problem], **presets: Any) -> None:
    """Make `name` mean `cls` with these parameter values unless the user sets them.

    >>> from adamb.host_sim.problems.oil import Oil
    >>> register_problem("oil-steep", Oil, lam=50)
    >>> make_problem("oil-steep", seeds=[1]).params["lam"]
    50.0
    """
    _registered[name] = (cls, presets)


register = register_problem


def problem_names() -> list[str]:
    """Every name that is registered; `make_problem` also takes files and environments.

    >>> [name for name in problem_names() if name.startswith("ambulance")]
    ['ambulance-1', 'ambulance-2', 'ambulance-3']
    """
    _load_built_in()
    return sorted(_registered)


def problem_class(name: str) -> tuple[type[Problem], dict[str, Any]]:
    """The class behind a name, and the parameter values the name stands for."""
    if name.startswith("gym:"):
        from adamb.host_sim.problems.gym import GymProblem

        return GymProblem, {"id": name.removeprefix("gym:")}
    _load_built_in(name)
    if name in _registered:
        return _registered[name]
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.user_code import load_class, names_file

    if names_file(name):
        return load_class("problem", name, Problem), {}  # type: ignore[type-abstract]
    hint = f"{nearest(name, _registered)} (also gym:<id> and path/to/problem.py:Class)"
    raise InputError("problem", name, f"unknown, {hint}")


def make_problem(
    name: str,
    seeds: Sequence[int],
    *,
    instance: str = "random",
    drift: str = "none",
    continuing: bool = False,
    episodes: int = 2000,
    horizon: int | None = None,
    params: Mapping[str, object] | None = None,
) -> Problem:
    """Build the named problem with one instance per seed; `params` are the values of `--set`.

    >>> make_problem("oil-2d", seeds=range(3), params={"lam": 8}).shape
    Shape(d_s=2, d_a=2, horizon=5, seeds=(0, 1, 2), episodes=2000)
    """
    cls, presets = problem_class(name)
    try:
        return cls(
            seeds,
            name=name,
            episodes=episodes,
            horizon=horizon,
            instance=instance,
            drift=drift,
            continuing=continuing,
            **{**presets, **(params or {})},
        )
    except Exception as error:
        from adamb.host_sim.user_code import raise_located

        raise_located(error)


def _load_built_in(wanted: str | None = None) -> None:
    """Import the modules that register problems, up to the one that knows `wanted`."""
    for path in _registering(wanted):
        if wanted in _registered:
            return
        parts = path.relative_to(PROBLEMS).with_suffix("").parts
        importlib.import_module(".".join([__name__, *(p for p in parts if p != "__init__")]))


def _registering(wanted: str | None) -> Iterator[Path]:
    """Files of problems/ that register any, those first that share their name with the start of `wanted`.

    Only they are imported: a helper beside them, or the adapter of Gymnasium, is loaded when it is used.
    """
    family = str(wanted).partition("-")[0]

    def order(path: Path) -> tuple[bool, Path]:
        return path.relative_to(PROBLEMS).parts[0].removesuffix(".py") != family, path

    for path in sorted(PROBLEMS.rglob("*.py"), key=order):
        if path != Path(__file__) and REGISTERS.search(path.read_text(encoding="utf-8")):
            yield path
