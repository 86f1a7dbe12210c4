"""Catalogue of problems and agents with settings, limits, dimensions, sources."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.host.options import OPTIONS
from adamb.host_sim import agents
from adamb.host_sim.agents.fixed import PolicyAgent
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import Problem
from adamb.host_sim.problems import make_problem, problem_class


@dataclass(frozen=True)
class Setting:
    """One parameter of a problem or option of an agent."""

    name: str
    default: Any
    limits: str
    doc: str


@dataclass(frozen=True)
class Item:
    """A problem or an agent; `facts` are its dimensions and what is known about it."""

    name: str
    about: str
    text: str
    source: str
    facts: Mapping[str, Any]
    settings: tuple[Setting, ...]

    def to_json(self) -> dict[str, Any]:
        settings = [vars(setting) for setting in self.settings]
        return {
            "name": self.name, "about": self.about, "text": self.text, "source": self.source, **self.facts,
            "settings": settings,
        }  # fmt: skip


def describe_problem(name: str) -> Item:
    """A problem by any name that `make_problem` takes.

    >>> describe_problem("oil-2d").facts["d_a"]
    2
    """
    cls, presets = problem_class(name)
    problem = make_problem(name, [0])
    about, text = _paragraphs(sys.modules[cls.__module__].__doc__)[:1], _paragraphs(vars(cls).get("__doc__"))
    about = about if cls.__module__.startswith("adamb.") else text[:1]
    given = ", ".join(f"{key}={value}" for key, value in presets.items() if key != "id")
    facts = {
        "given": given or None,
        "d_s": problem.d_s,
        "d_a": problem.d_a,
        "horizon": problem.horizon,
        "ranges": [str(each) for each in problem.coordinates] or None,
        "optimum": cls.solve is not Problem.solve,
        "drifts": problem.drift_width > 0,
        "rules": sorted(problem.rules()),
    }
    settings = _settings({key: value for key, value in cls.parameters.items() if key != "id"}, presets)
    return Item(name, "".join(about), _rest(text, about), _file(cls), facts, settings)


def describe_agent(name: str) -> Item:
    """An agent by its name, or one of your own as `file.py:Class`.

    >>> [setting.name for setting in describe_agent("epsql").settings]
    ['bonus', 'size', 'actions', 'share', 'net']
    """
    if name == "adamb":
        return _controller()
    factory = agents.find_agent(name)
    text = _paragraphs(vars(factory).get("__doc__"))
    fixed = isinstance(factory, type) and (issubclass(factory, PolicyAgent) or name == "random")
    module = factory.__module__
    kind = "fixed" if fixed else "baseline" if module.startswith("adamb.") else "your own"
    dimensions = getattr(sys.modules.get("adamb.host_sim.baselines"), "MOST_DIMENSIONS", None)
    facts = {"kind": kind, "dimensions": dimensions if kind == "baseline" else None, "horizon": None}
    settings = _settings(getattr(factory, "options_known", {}), {})
    return Item(name, "".join(text[:1]), _rest(text, text[:1]), _file(factory), facts, settings)


def _controller() -> Item:
    rows = [
        Setting(row.name, _default(row), row.expected.removeprefix("must be "), row.help) for row in OPTIONS.values()
    ]
    core = Setting("core", agents.DEFAULT_CORE, f"one of {', '.join(agents.CORES)}", "what runs")
    text = "AdaMB (Sinclair, Wang, Jain, Banerjee, Yu 2020) in fixed point inside one block of memory."
    facts = {"kind": "controller", "dimensions": _spec.DIM_MAX, "horizon": _spec.HORIZON_MAX}
    return Item("adamb", text, "", "firmware_model/SPEC.md", facts, (*rows, core))


def _default(row: Any) -> Any:
    return "by the problem" if callable(row.tracking) else row.tracking


def _settings(known: Mapping[str, Parameter], presets: Mapping[str, Any]) -> tuple[Setting, ...]:
    return tuple(
        Setting(name, presets.get(name, each.default), each.limits(), each.doc) for name, each in known.items()
    )


def _paragraphs(text: str | None) -> list[str]:
    """Of a docstring, each on one line."""
    return [" ".join(part.split()) for part in (text or "").strip().split("\n\n") if part.strip()]


def _rest(text: list[str], about: list[str]) -> str:
    return "\n\n".join(part for part in text if part not in about)


def _file(thing: Any) -> str:
    """Source: a path inside the package, or the user's file."""
    module = thing.__module__
    if module.startswith("adamb."):
        path = str(inspect.getsourcefile(thing)).replace("\\", "/")
        return path[path.rindex("/host_sim/") + 1 :]
    return str(inspect.getsourcefile(thing))
