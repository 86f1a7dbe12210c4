"""Problems, agents and the loop between them: `simulate(make_problem(...), make_agent(...))`.

Names are imported when first used, so that asking for one part does not load the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adamb.host_sim.agents import Agent, agent_names, make_agent, register_agent
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.registry import make_problem, problem_names, register
    from adamb.host_sim.runner import Estimate, RunResult, simulate

__all__ = [
    "Agent",
    "Estimate",
    "Problem",
    "RunResult",
    "agent_names",
    "make_agent",
    "make_problem",
    "problem_names",
    "register",
    "register_agent",
    "simulate",
]

_MODULES = {
    "agents": ("Agent", "agent_names", "make_agent", "register_agent"),
    "problem": ("Problem",),
    "registry": ("make_problem", "problem_names", "register"),
    "runner": ("Estimate", "RunResult", "simulate"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
