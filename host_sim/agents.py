"""Who decides: the contract every controller follows, the registry of names, the agents that do not learn.

An agent is n independent learners stepping together, one per seed, so that thirty seeds cost little more
than one and comparisons are paired. Learners register themselves; modules are imported only when their name
is asked for, so that a part that is not built does not take the others down.
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.errors import InputError

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

AGENT_STREAM = 0xA6E27
"""Mixed into every agent's seed: an agent must not draw the numbers its problem draws."""


class Agent(ABC):
    """n learners in lockstep; every array's first axis is the learner.

    A subclass takes its own options as keyword arguments and refuses those it does not know (take_options).
    """

    name = "agent"
    core: str | None = None
    """Which implementation runs; set for adamb only."""
    needs_problem = False
    """True for a class that is built from the problem itself, not from its dimensions."""

    def __init__(
        self,
        *,
        d_s: int,
        d_a: int,
        horizon: int,
        seeds: Sequence[int],
        episodes: int,
        budget_bytes: int | None = None,
        **options: Any,
    ) -> None:
        take_options(self.name, options)
        self.d_s, self.d_a, self.horizon = d_s, d_a, horizon
        self.seeds = tuple(int(seed) for seed in seeds)
        self.n = len(self.seeds)
        self.episodes, self.budget_bytes = episodes, budget_bytes

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

    def digest(self) -> str | None:
        """A hash of the first learner's final memory block, for agents whose memory is one block."""
        return None


AgentFactory = Callable[..., Agent]
_factories: dict[str, AgentFactory] = {}


def take_options(agent: str, given: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """The defaults overlaid with what was given; an option the agent does not have is an InputError."""
    for name, value in given.items():
        if name not in defaults:
            known = f"its options: {', '.join(sorted(defaults))}" if defaults else "it has none"
            near = difflib.get_close_matches(name, defaults, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else known
            raise InputError(name, value, f"agent {agent} has no such option; {hint}")
    return {**defaults, **given}


def unknown_name(field: str, value: str, names: Iterable[str]) -> InputError:
    """The error for a name that does not exist, with the nearest one that does."""
    known = sorted(set(names))
    near = difflib.get_close_matches(value, known, n=1, cutoff=0.5)
    if near:
        return InputError(field, value, f"there is none of that name; did you mean {near[0]}?")
    return InputError(field, value, f"there is none of that name; there is {', '.join(known) or 'none'}")


def generators(seeds: Sequence[int], *stream: int) -> list[np.random.Generator]:
    """One generator per learner, so that a learner draws the same numbers alone and among others."""
    return [np.random.default_rng([seed, AGENT_STREAM, *stream]) for seed in seeds]


def register_agent(name: str, factory: AgentFactory) -> None:
    """Make `factory` known as `name`.

    An Agent subclass is called with the dimensions of the problem; any other callable, and a subclass with
    `needs_problem`, with the problem itself: `factory(problem, budget_bytes=..., **options)`.
    """
    _factories[name] = factory


def make_agent(name: str, problem: Problem, *, budget_bytes: int | None = None, **options: Any) -> Agent:
    """The agent of that name, sized and seeded for the problem; `baseline:NAME` is one of the problem."""
    factory = _find(name)
    if factory is not None:
        agent = build(factory, problem, budget_bytes=budget_bytes, **options)
        agent.name = name
        return agent
    baselines = problem.baselines()
    baseline = name.removeprefix("baseline:")
    if baseline in baselines:
        take_options(name, options)
        return PolicyAgent(problem, baselines[baseline], name, budget_bytes=budget_bytes)
    raise unknown_name("agent", name, [*agent_names(), *baselines])


def build(factory: AgentFactory, problem: Problem, *, budget_bytes: int | None, **options: Any) -> Agent:
    """Call a registered factory in the way its kind asks for."""
    if not (isinstance(factory, type) and issubclass(factory, Agent)) or factory.needs_problem:
        return factory(problem, budget_bytes=budget_bytes, **options)
    return factory(**shape_of(problem), budget_bytes=budget_bytes, **options)


def shape_of(problem: Problem) -> dict[str, Any]:
    """What an agent has to know of its problem."""
    return {name: getattr(problem, name) for name in ("d_s", "d_a", "horizon", "seeds", "episodes")}


def agent_names() -> list[str]:
    """Every registered name, after importing every rival that can be imported."""
    _import_rivals()
    return sorted(_factories)


def _find(name: str) -> AgentFactory | None:
    if name not in _factories:
        _import_rivals()
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
class Core:
    """Where one implementation of AdaMB lives."""

    module: str
    attribute: str

    def load(self) -> AgentFactory:
        return getattr(importlib.import_module(self.module), self.attribute)


CORES = {
    "c": Core("adamb.host_sim.core_agent", "CoreAgent"),
    "python": Core("adamb.host_sim.core_agent", "PythonCoreAgent"),
    "reference": Core("adamb.host_sim.reference", "ReferenceAgent"),
}
"""The implementations of `adamb`, the preferred one first."""


def load_core(name: str) -> AgentFactory:
    """The agent class of a core; an InputError says why it cannot be had."""
    if name not in CORES:
        raise unknown_name("core", name, CORES)
    try:
        return CORES[name].load()
    except (ImportError, AttributeError) as error:
        raise InputError("core", name, f"not available here ({error})") from error


def default_core() -> str:
    """The C core where it is built; else the reference, which needs nothing but numpy."""
    try:
        load_core("c")
    except InputError:
        return "reference"
    return "c"


MAX_HORIZON = 31
"""The fixed-point values of the core have no fraction bits to spare beyond; every core keeps to it."""


def _adamb(problem: Problem, *, budget_bytes: int | None, core: str | None = None, **options: Any) -> Agent:
    if problem.horizon > MAX_HORIZON:
        raise InputError("horizon", problem.horizon, f"adamb plans at most {MAX_HORIZON} steps ahead")
    chosen = core or default_core()
    agent = build(load_core(chosen), problem, budget_bytes=budget_bytes, **options)
    agent.core = chosen
    return agent


class RandomAgent(Agent):
    """Uniform actions; the floor every learner must leave."""

    name = "random"
    BLOCK = 64

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._generators = generators(self.seeds)
        self._episode = 0
        self._draws = np.empty(0)

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        row = self._episode % self.BLOCK
        if h == 0 and row == 0:
            shape = (self.BLOCK, self.horizon, self.d_a)
            self._draws = np.stack([generator.random(shape) for generator in self._generators], axis=2)
        return self._draws[row, h]

    def end_episode(self) -> None:
        self._episode += 1


class PolicyAgent(Agent):
    """A fixed policy of the problem dressed as an agent."""

    needs_problem = True

    def __init__(
        self,
        problem: Problem,
        policy: Callable[[int, np.ndarray], np.ndarray],
        name: str,
        *,
        budget_bytes: int | None = None,
    ) -> None:
        self.name = name
        super().__init__(**shape_of(problem), budget_bytes=budget_bytes)
        self.policy = policy

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        return self.policy(h, states)


class OptimalAgent(PolicyAgent):
    """The policy of the problem's dynamic program: what knowing the model is worth."""

    def __init__(self, problem: Problem, *, budget_bytes: int | None = None, **options: Any) -> None:
        take_options("optimal", options)
        optimum = problem.optimal()
        if optimum is None:
            raise InputError("agent", "optimal", f"no exact optimum is known for {problem.name}")
        super().__init__(problem, optimum.policy, "optimal", budget_bytes=budget_bytes)
        self._problem = problem
        self._drifts = problem.drift != "none"

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        if h == 0 and self._drifts:
            optimum = self._problem.optimal()
            assert optimum is not None, "the model was known when the run started"
            self.policy = optimum.policy
        return self.policy(h, states)


class StaticAgent(PolicyAgent):
    """The best action to play always, found per instance by trial on copies of the problem before the run.

    The trials replay the first episodes of the run's own noise, so this is the best fixed action in
    hindsight: a rival no controller that keeps one setting can beat by much.
    """

    def __init__(
        self, problem: Problem, *, budget_bytes: int | None = None, trials: int = 64, **options: Any
    ) -> None:
        take_options("static", options, trials=64)
        if not 1 <= int(trials) <= 100_000:
            raise InputError("trials", trials, "between 1 and 100000 episodes for each candidate action")
        self.action = best_fixed_action(problem, int(trials))
        super().__init__(problem, lambda h, states: self.action, "static", budget_bytes=budget_bytes)

    def describe(self) -> dict[str, Any]:
        return {"action": self.action.tolist()}


def best_fixed_action(problem: Problem, trials: int) -> np.ndarray:
    """Actions (n, d_a), one per instance: a coarse grid with few trials, its best with all of them, then
    halving steps around the winner. Candidates meet the same noise, so few trials tell them apart."""
    n, d_a = problem.n, problem.d_a
    points = {1: 33, 2: 9}.get(d_a, 5)
    grid = np.array(list(itertools.product(np.linspace(0, 1, points), repeat=d_a)))
    coarse = np.stack([_fixed_return(problem, np.tile(row, (n, 1)), -(-trials // 4)) for row in grid])
    best, best_return = np.empty((n, d_a)), np.full(n, -np.inf)

    def challenge(candidates: np.ndarray) -> None:
        returns = _fixed_return(problem, candidates, trials)
        better = returns > best_return
        best[better], best_return[better] = candidates[better], returns[better]

    for order in np.argsort(-coarse, axis=0, kind="stable")[:8]:
        challenge(grid[order])
    step = 1 / (points - 1)
    for _ in range(4):
        step /= 2
        centre = best.copy()
        for offset in itertools.product((-step, 0.0, step), repeat=d_a):
            if any(offset):
                challenge(np.clip(centre + offset, 0, 1))
    return best


def _fixed_return(problem: Problem, actions: np.ndarray, episodes: int) -> np.ndarray:
    trial = type(problem)(
        problem.seeds,
        name=problem.name,
        episodes=problem.episodes,
        horizon=problem.horizon,
        instance=problem.instance,
        drift=problem.drift,
        continuing=problem.continuing,
        **problem.params,
    )
    total = np.zeros(trial.n)
    for _ in range(episodes):
        trial.begin_episode()
        for h in range(trial.horizon):
            rewards, _ = trial.step(h, actions)
            total += rewards
    return total / episodes


register_agent("adamb", _adamb)
register_agent("random", RandomAgent)
register_agent("static", StaticAgent)
register_agent("optimal", OptimalAgent)
