"""Agents by name: fixed policies, the controller itself, the paper in doubles, every rival, and your own as
`file.py:Class`.

Learners register themselves; a module is imported only when its name is asked for, so that a part that is not
built does not affect the others.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from adamb.budgets.errors import InputError, unknown_name
from adamb.firmware_model._spec import DIM_MAX, HORIZON_MAX
from adamb.host_sim import user_code
from adamb.host_sim.agent import Agent, budget_of, take_options
from adamb.host_sim.agents.fixed import OptimalAgent, PolicyAgent, RandomAgent, StaticAgent

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

AgentFactory = Callable[..., Agent]
_factories: dict[str, AgentFactory] = {}
OWN = "path/to/agent.py:Class"


def register_agent(name: str, factory: AgentFactory) -> None:
    """Make `factory` known as `name`.

    An Agent subclass is called with the problem's `Shape`; any other callable, and a subclass with
    `needs_problem`, with the problem itself: `factory(problem, budget_bytes=..., **options)`.

    >>> register_agent("uniform", RandomAgent)
    >>> "uniform" in agent_names()
    True
    """
    _factories[name] = factory


def make_agent(
    name: str, problem: Problem, *, budget_bytes: int | str | None = None, **options: Any
) -> Agent:
    """The agent of that name, sized and seeded for the problem.

    `baseline:NAME` is one of the problem, `file.py:Class` one of your own.

    >>> from adamb.host_sim import make_problem
    >>> make_agent("adamb", make_problem("oil-laplace", [1]), budget_bytes="4KiB", mode="paper").budget_bytes
    4096
    """
    if isinstance(problem, str):
        raise InputError("problem", problem, f'make it first: make_problem("{problem}", seeds=range(5))')
    try:
        return _make(name, problem, budget_of(budget_bytes), options)
    except Exception as error:
        user_code.raise_blamed(error)


def _make(name: str, problem: Problem, budget: int | None, options: dict[str, Any]) -> Agent:
    factory = _find(name)
    if factory is not None:
        agent = build(factory, problem, budget_bytes=budget, **options)
        if not hasattr(agent, "budget_bytes"):
            raise InputError("agent", name, "__init__ must call super().__init__(shape, budget_bytes=...)")
        agent.name = name
        return agent
    baselines = problem.baselines()
    baseline = name.removeprefix("baseline:")
    if baseline in baselines:
        take_options(name, options)
        return PolicyAgent(problem, baselines[baseline], name, budget_bytes=budget)
    raise unknown_name("agent", name, [*agent_names(), *baselines, OWN])


def build(factory: AgentFactory, problem: Problem, *, budget_bytes: int | None, **options: Any) -> Agent:
    """Call a registered factory in the way its kind asks for."""
    if not (isinstance(factory, type) and issubclass(factory, Agent)) or factory.needs_problem:
        return factory(problem, budget_bytes=budget_bytes, **options)
    return factory(problem.shape, budget_bytes=budget_bytes, **options)


def agent_names() -> list[str]:
    """Every registered name, after importing every rival that can be imported.

    >>> {"adamb", "adaql", "random", "optimal"} <= set(agent_names())
    True
    """
    _import_rivals()
    return sorted(_factories)


def find_agent(name: str) -> AgentFactory:
    """What builds the agent of a name; an InputError where there is none.

    >>> find_agent("epsql").__name__
    'NetQLearning'
    """
    factory = _find(name)
    if factory is None:
        raise unknown_name("agent", name, [*agent_names(), OWN])
    return factory


def _find(name: str) -> AgentFactory | None:
    """The registered factory, or the class of a file; None where no such name is registered."""
    if name not in _factories:
        _import_rivals()
    if name not in _factories and user_code.names_file(name):
        return user_code.load_class("agent", name, Agent)  # type: ignore[type-abstract]
    return _factories.get(name)


def _import_rivals() -> None:
    """Rivals register themselves when imported; one whose requirements are missing is left out."""
    from adamb.host_sim import rivals

    for module in pkgutil.iter_modules(rivals.__path__, rivals.__name__ + "."):
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue


@dataclass(frozen=True)
class CoreLocation:
    """Where one implementation of AdaMB lives."""

    module: str
    attribute: str

    def load(self) -> AgentFactory:
        return getattr(importlib.import_module(self.module), self.attribute)


CORES = {
    "c": CoreLocation("adamb.host_sim.agents.core", "CoreAgent"),
    "python": CoreLocation("adamb.host_sim.agents.core", "PythonCoreAgent"),
    "reference": CoreLocation("adamb.host_sim.agents.reference", "ReferenceAgent"),
    "double": CoreLocation("adamb.host_sim.agents.double", "DoubleAgent"),
}
"""The implementations of `adamb`."""
DEFAULT_CORE = "c"


CORE_PLUGINS = "adamb.cores"
"""Entry points of installed packages: `word = module:factory` makes `word` and `word:anything` cores."""


def load_core(name: str) -> AgentFactory:
    """What builds the agent of a core; an InputError says why it cannot be had.

    A core that a package adds is `factory(problem, core=name, budget_bytes=..., **options)`.
    """
    try:
        if name in CORES:
            return CORES[name].load()
        added = {entry.name: entry for entry in entry_points(group=CORE_PLUGINS)}
        word = name.partition(",")[0].partition(":")[0]
        if word in added:
            return partial(added[word].load(), core=name)
    except (ImportError, AttributeError) as error:
        raise InputError("core", name, f"not available here ({error})") from error
    raise unknown_name("core", name, [*CORES, *added])


def check_horizon(horizon: int) -> None:
    """Refuse what no core plans; beyond, the fixed-point values would have no fraction bits to spare."""
    if horizon > HORIZON_MAX:
        limit = f"adamb plans at most {HORIZON_MAX} steps ahead; --horizon {HORIZON_MAX} plays no longer, "
        windows = "and with --continuing the next episode starts where it ended"
        raise InputError("horizon", horizon, limit + windows)


def _adamb(problem: Problem, *, budget_bytes: int | None, core: str | None = None, **options: Any) -> Agent:
    check_horizon(problem.horizon)
    for name, size in (("d_s", problem.d_s), ("d_a", problem.d_a)):
        if size > DIM_MAX and problem.narrowed_by:
            raise InputError(name, size, f"must be 1 to {DIM_MAX}; {problem.narrowed_by}")
    chosen = core or DEFAULT_CORE
    agent = build(load_core(chosen), problem, budget_bytes=budget_bytes, **options)
    agent.core = chosen
    return agent


register_agent("adamb", _adamb)
register_agent("random", RandomAgent)
register_agent("static", StaticAgent)
register_agent("optimal", OptimalAgent)
