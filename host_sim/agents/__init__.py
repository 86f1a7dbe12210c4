"""The interface that every agent implements, and agents by name: fixed policies, the controller itself, the paper in
doubles, every baseline, and your own as `file.py:Class`.

An agent is n independent learners stepping together, one per seed, so that thirty seeds cost little more
than one and comparisons are paired. Learners register themselves; a module is imported only when its name is
asked for, so that a part that is not built does not affect the others.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adamb.firmware_model._spec import DIM_MAX, HORIZON_MAX
from adamb.firmware_model.host.errors import InputError, unknown_name
from adamb.firmware_model.host.sizes import parse_size
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.parameter import Parameter, check_declared

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

AGENT_STREAM = 0xA6E27
"""Mixed into every agent's seed: an agent must not draw the numbers its problem draws."""


REPLACED = {"act", "observe", "end_episode", "begin_episode", "step", "dynamics", "fresh_start"}
"""Methods that are not called while episodes are played in C."""


@dataclass(frozen=True)
class Shape:
    """All that an agent gets to know about its problem: dimensions, steps, and one learner for each seed.

    >>> shape = Shape(d_s=1, d_a=2, horizon=5, seeds=range(3), episodes=100)
    >>> shape.n, shape.seeds
    (3, (0, 1, 2))
    """

    d_s: int
    d_a: int
    horizon: int
    seeds: Sequence[int]
    episodes: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", tuple(int(seed) for seed in self.seeds))

    @property
    def n(self) -> int:
        """Number of learners."""
        return len(self.seeds)


class Agent(ABC):
    """n learners in lockstep; every array's first axis is the learner.

    A subclass declares its options in `options_known`; `self.options` then holds the values of a run, and an
    option that is not declared is refused.

    >>> class Halfway(Agent):
    ...     name = "halfway"
    ...     def act(self, h, states):
    ...         return np.full((self.n, self.d_a), 0.5)
    >>> Halfway(Shape(1, 2, 5, seeds=[7], episodes=10)).act(0, np.zeros((1, 1)))
    array([[0.5, 0.5]])
    """

    name = "agent"
    core: str | None = None
    """Which implementation runs; set for adamb only."""
    options_known: ClassVar[Mapping[str, Parameter]] = {}
    """Options that `--agent-set name=value` may change; the word `auto`, where it is allowed, means the default."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        check_declared("options_known", cls.options_known)

    def __init__(self, shape: Shape, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        self.options = self._parse(options)
        self.shape = shape
        self.d_s, self.d_a, self.horizon = shape.d_s, shape.d_a, shape.horizon
        self.seeds, self.n, self.episodes = tuple(shape.seeds), shape.n, shape.episodes
        self.budget_bytes = budget_of(budget_bytes)

    def _parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        known = self.options_known
        take_options(self.name, given, **dict.fromkeys(known))
        values = {name: given.get(name, parameter.default) for name, parameter in known.items()}
        values = {name: known[name].default if value == "auto" else value for name, value in values.items()}
        return {name: value if value is None else known[name].parse(name, value) for name, value in values.items()}

    @abstractmethod
    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        """Actions (n, d_a) in [0,1] for the states (n, d_s) at step h."""

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:  # noqa: B027
        """Learn from what followed the last act of step h."""

    def end_episode(self) -> None:  # noqa: B027
        """The episode is over."""

    def bytes_used(self) -> np.ndarray:
        """Bytes (n,) the learner occupies now; 0 for an agent that keeps nothing it has learned."""
        return np.zeros(self.n, dtype=np.int64)

    def bytes_peak(self) -> np.ndarray:
        """The most bytes (n,) the learner has occupied so far."""
        return self.bytes_used()

    def stats(self) -> dict[str, np.ndarray]:
        """Counters (n,) by name: leaves, refused_splits, reclaims, saturations, restarts and others."""
        return {}

    def describe(self) -> dict[str, Any]:
        """The settings in effect, JSON-able: `mode`, `share` and whatever the agent was built with."""
        return {}

    def compiled(self) -> CompiledAgent | None:
        """The same learners for whole episodes in C; None where every step is played in Python."""
        return None


class SequentialAgent(Agent):
    """Learners that do not step together: each runs on a device, which holds one at a time."""

    devices: int
    """Number of learners that can run at once."""

    @abstractmethod
    def for_seed(self, i: int, device: int) -> Agent:
        """Learner i by itself, on a device."""

    def close(self) -> None:
        """A run is over: give back what `for_seed` opened."""


@dataclass(frozen=True)
class CompiledAgent:
    """Compiled learners, a group with the same memory after another."""

    groups: tuple[tuple[Any, int, Any], ...]
    """Calls, how many learners they are for, and memory that C only points to."""

    @classmethod
    def of(cls, prefix: str, learners: Any, n: int, *kept: Any, **offsets: float) -> CompiledAgent:
        """`prefix` begins the names of the C functions, such as `baselines_grid` of `baselines_grid_act`."""
        pointer = ffi.new("play_agent *", {"learners": ffi.cast("void *", learners), **offsets})
        for call in ("act", "observe", "end_episode"):
            if hasattr(lib, f"{prefix}_{call}"):
                setattr(pointer, call, ffi.addressof(lib, f"{prefix}_{call}"))
        return cls(((pointer, n, (learners, *kept)),))


def compiled_backend(thing: object) -> Any:
    """Backend of a problem or an agent for episodes in C, from its method `compiled`; None without one.

    None, too, where the object or a class below that method has another of those that C stands in for.
    """
    kinds = type(thing).__mro__

    def place(name: str) -> int:
        return next((i for i, kind in enumerate(kinds) if name in kind.__dict__), len(kinds))

    if REPLACED & vars(thing).keys() or place("compiled") > min(map(place, REPLACED)):
        return None
    return thing.compiled()  # type: ignore[attr-defined]


def budget_of(size: int | str | None) -> int | None:
    """Whole bytes of a cap given as 4096 or "4KiB"; None is no cap."""
    return None if size is None else parse_size(size, "budget_bytes")


def take_options(agent: str, given: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """The defaults overlaid with what was given; an option the agent does not have is an InputError."""
    for name in given:
        if name not in defaults:
            raise unknown_name("option", name, defaults, f"agent {agent} has no such option")
    return {**defaults, **given}


def generators(seeds: Sequence[int], *stream: int) -> list[np.random.Generator]:
    """One generator per learner, so that a learner draws the same numbers alone and among others."""
    return [np.random.default_rng([seed, AGENT_STREAM, *stream]) for seed in seeds]


@dataclass
class Progress:
    """State of a run for its observers; one object, updated while it runs."""

    agent: Agent
    episodes: int
    returns: np.ndarray
    optimal: np.ndarray | None
    done: int = 0
    turn: tuple[int, int] = (0, 1)
    """Learners that are done before this one, and all of them, where they run one after another."""


# ---- by name ---------------------------------------------------------------------------------------------

AgentFactory = Callable[..., Agent]
_factories: dict[str, AgentFactory] = {}
OWN = "path/to/agent.py:Class"


def register_agent(name: str, factory: AgentFactory) -> None:
    """Make `factory` known as `name`.

    An Agent subclass is called with the problem's `Shape`; any other callable, and a subclass with
    `needs_problem`, with the problem itself: `factory(problem, budget_bytes=..., **options)`.

    >>> from adamb.host_sim.agents.fixed import RandomAgent
    >>> register_agent("uniform", RandomAgent)
    >>> "uniform" in agent_names()
    True
    """
    _factories[name] = factory


def make_agent(name: str, problem: Problem, *, budget_bytes: int | str | None = None, **options: Any) -> Agent:
    """The agent of that name, sized and seeded for the problem.

    `rule:NAME` is one of the problem, `file.py:Class` one of your own.

    >>> from adamb.host_sim import make_problem
    >>> make_agent("adamb", make_problem("oil-laplace", [1]), budget_bytes="4KiB", mode="paper").budget_bytes
    4096
    """
    if isinstance(problem, str):
        raise InputError("problem", problem, f'make it first: make_problem("{problem}", seeds=range(5))')
    try:
        return _make(name, problem, budget_of(budget_bytes), options)
    except Exception as error:
        from adamb.host_sim.user_code import raise_located

        raise_located(error)


def _make(name: str, problem: Problem, budget: int | None, options: dict[str, Any]) -> Agent:
    factory = _find(name)
    if factory is not None:
        agent = build(factory, problem, budget_bytes=budget, **options)
        if not hasattr(agent, "budget_bytes"):
            raise InputError("agent", name, "__init__ must call super().__init__(shape, budget_bytes=...)")
        agent.name = name
        return agent
    rules = problem.rules()
    rule = name.removeprefix("rule:")
    if rule in rules:
        from adamb.host_sim.agents.fixed import PolicyAgent

        take_options(name, options)
        return PolicyAgent(problem, rules[rule], name, budget_bytes=budget)
    raise unknown_name("agent", name, [*agent_names(), *rules, OWN])


def build(factory: AgentFactory, problem: Problem, *, budget_bytes: int | None, **options: Any) -> Agent:
    """Call a registered factory in the way its kind asks for."""
    if not (isinstance(factory, type) and issubclass(factory, Agent)) or getattr(factory, "needs_problem", False):
        return factory(problem, budget_bytes=budget_bytes, **options)
    return factory(problem.shape, budget_bytes=budget_bytes, **options)


def agent_names() -> list[str]:
    """Every registered name, after importing every baseline that can be imported.

    >>> {"adamb", "adaql", "random", "optimal"} <= set(agent_names())
    True
    """
    _import_baselines()
    return sorted(_factories)


def find_agent(name: str) -> AgentFactory:
    """Builder of the agent of a name; an InputError where there is none.

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
        _import_baselines()
    if name not in _factories:
        from adamb.host_sim.user_code import load_class, names_file

        return load_class("agent", name, Agent) if names_file(name) else None  # type: ignore[type-abstract]
    return _factories[name]


def _import_baselines() -> None:
    """Baselines register themselves when imported; one whose requirements are missing is left out."""
    from adamb.host_sim import baselines

    importlib.import_module("adamb.host_sim.agents.fixed")
    for module in pkgutil.iter_modules(baselines.__path__, baselines.__name__ + "."):
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue


@dataclass(frozen=True)
class CoreLocation:
    """Place of one implementation of AdaMB."""

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
    """Builder of the agent of a core; an InputError says why it cannot be had.

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
        limit = f"adamb plans at most {HORIZON_MAX} steps ahead; --set horizon={HORIZON_MAX} plays no "
        windows = "longer, and with --set continuing=yes the next episode starts where it ended"
        raise InputError("horizon", horizon, limit + windows)


def _adamb(problem: Problem, *, budget_bytes: int | None, core: str | None = None, **options: Any) -> Agent:
    check_horizon(problem.horizon)
    narrowed_by = getattr(problem, "narrowed_by", "")
    for name, size in (("d_s", problem.d_s), ("d_a", problem.d_a)):
        if size > DIM_MAX and narrowed_by:
            raise InputError(name, size, f"must be 1 to {DIM_MAX}; {narrowed_by}")
    chosen = core or DEFAULT_CORE
    agent = build(load_core(chosen), problem, budget_bytes=budget_bytes, **options)
    agent.core = chosen
    return agent


register_agent("adamb", _adamb)
