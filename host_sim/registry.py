"""Problems by name: built-in ones, `gym:<id>` for a Gymnasium environment, `file.py:Class` for your own."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adamb.budgets.errors import InputError
from adamb.host_sim.parameter import nearest

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

# Modules that register problems when imported, in the order they are asked for an unknown name.
MODULES = (
    "oil", "ambulance", "dram_lite", "dram_planning", "dram", "cache_lite", "cache", "allocation",
)  # fmt: skip

_registered: dict[str, tuple[type[Problem], dict[str, Any]]] = {}


def register(name: str, cls: type[Problem], **presets: Any) -> None:
    """Make `name` mean `cls` with these parameter values unless the user sets them."""
    _registered[name] = (cls, presets)


def problem_names() -> list[str]:
    """Every name `make_problem` knows by heart."""
    _load_built_in()
    return sorted(_registered)


def problem_class(name: str) -> tuple[type[Problem], dict[str, Any]]:
    """The class behind a name, and the parameter values the name stands for."""
    if name.startswith("gym:"):
        from adamb.host_sim.gym_problem import GymProblem

        return GymProblem, {"id": name.removeprefix("gym:")}
    _load_built_in(name)
    if name in _registered:
        return _registered[name]
    path, separator, class_name = name.rpartition(":")
    if separator and path.endswith(".py"):
        return _load_file(Path(path), class_name), {}
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
    """Build the named problem with one instance per seed; `params` are the values of `--set`."""
    cls, presets = problem_class(name)
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


def _load_built_in(wanted: str | None = None) -> None:
    """Import the modules that register problems, up to the one that knows `wanted`."""
    for module in MODULES:
        if wanted in _registered:
            return
        if importlib.util.find_spec(f"adamb.host_sim.{module}") is not None:
            importlib.import_module(f"adamb.host_sim.{module}")


def _load_file(path: Path, class_name: str) -> type[Problem]:
    from adamb.host_sim.problem import Problem

    if not path.is_file():
        raise InputError("problem", f"{path}:{class_name}", "there is no such file")
    spec = importlib.util.spec_from_file_location(f"adamb_user_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError("problem", str(path), "cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError("problem", str(path), f"does not load: {type(error).__name__}: {error}") from error
    found = getattr(module, class_name, None)
    if isinstance(found, type) and issubclass(found, Problem):
        return found
    types = {key: value for key, value in vars(module).items() if isinstance(value, type)}
    known = [key for key, value in types.items() if issubclass(value, Problem) and value is not Problem]
    raise InputError("class", class_name, f"is not a Problem in {path}; {nearest(class_name, known)}")
