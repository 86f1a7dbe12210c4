"""Problems, agents and the loop between them.

    >>> from adamb.host_sim import make_problem, simulate
    >>> problem = make_problem("oil-laplace", seeds=range(5), episodes=50)
    >>> result = simulate(problem, "adamb", budget_bytes="4KiB")
    >>> result.within_budget()
    True

Names are imported when first used, so that asking for one part does not load the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adamb.firmware_model.host import exports

if TYPE_CHECKING:
    from adamb.host_sim.agents import Agent, Shape, agent_names, make_agent, register_agent
    from adamb.host_sim.parameter import Parameter
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.problems import make_problem, problem_names, register_problem
    from adamb.host_sim.runner import Estimate, RunResult, simulate

__all__ = [
    "Agent",
    "Estimate",
    "Parameter",
    "Problem",
    "RunResult",
    "Shape",
    "agent_names",
    "make_agent",
    "make_problem",
    "problem_names",
    "register_agent",
    "register_problem",
    "simulate",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "agents": ("Agent", "Shape", "agent_names", "make_agent", "register_agent"),
        "parameter": ("Parameter",),
        "problem": ("Problem",),
        "problems": ("make_problem", "problem_names", "register", "register_problem"),
        "runner": ("Estimate", "RunResult", "simulate"),
    },
)
