"""How long one act and one observe take, in every implementation, on the same recorded run.

A run of the C core is recorded first; then each implementation is given the same states, rewards and next
states, so that all of them grow alike and only their speed differs. Clock and loop cost the same everywhere
and are measured with a subject that does nothing, and taken off. Whole episodes in C cannot be given states:
there the run is played again, which is the recorded one, and its steps are timed in C.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.firmware_model.host import binding
from adamb.host_sim.agent import Shape, offered
from adamb.host_sim.agents import build
from adamb.host_sim.agents.core import CoreAgent, _fractions
from adamb.host_sim.problem import Problem
from adamb.host_sim.runner import CompiledPlay


@dataclass(frozen=True)
class RecordedCalls:
    """What n controllers met: arrays over (episode, step, controller)."""

    states: np.ndarray
    rewards: np.ndarray
    next_states: np.ndarray
    options: dict[str, Any]
    problem: Callable[[int], Problem]
    """The problem once more, with so many of its instances."""

    def shape(self, seeds: int) -> Shape:
        episodes, horizon, _, d_s = self.states.shape
        return Shape(d_s, self.options["d_a"], horizon, range(seeds), episodes)

    def core(self, seeds: int, of: Sequence[int] = ()) -> CoreAgent:
        """So many controllers, with the seeds from 0 or with those given."""
        words = {name: value for name, value in self.options.items() if name not in ("d_a", "budget_bytes")}
        shape = replace(self.shape(seeds), seeds=of) if of else self.shape(seeds)
        return CoreAgent(shape, budget_bytes=self.options["budget_bytes"], **words)

    def points(self, values: np.ndarray) -> list[list[array]]:
        """Coordinates of the first controller as the core takes them, by episode and step."""
        return [[array("H", row.tolist()) for row in episode] for episode in _fractions(values[:, :, 0])]

    def first_rewards(self) -> list[list[int]]:
        return _fractions(self.rewards[:, :, 0] + 0.5 / 65536).tolist()


def record(problem: Problem, budget_bytes: int | None, options: dict[str, Any]) -> RecordedCalls:
    """Play the whole problem with the C core."""
    agent = build(CoreAgent, problem, budget_bytes=budget_bytes, **options)
    shape = (problem.episodes, problem.horizon, problem.n)
    states, next_states = np.empty((*shape, problem.d_s)), np.empty((*shape, problem.d_s))
    rewards = np.empty(shape)
    for k in range(problem.episodes):
        state = problem.begin_episode()
        for h in range(problem.horizon):
            states[k, h] = state
            rewards[k, h], state = problem.step(h, agent.act(h, state))
            agent.observe(h, rewards[k, h], state)
            next_states[k, h] = state
        agent.end_episode()
    kept = {**options, "d_a": problem.d_a, "budget_bytes": budget_bytes}
    return RecordedCalls(
        states, rewards, next_states, kept, lambda seeds: problem.again(problem.seeds[:seeds])
    )


@dataclass(frozen=True)
class Subject:
    """One implementation, ready to replay; `learners` step together in one call."""

    name: str
    learners: int
    act: Callable[[int, int], object]
    observe: Callable[[int, int], object]
    end_episode: Callable[[], object]


@dataclass(frozen=True)
class CallTime:
    """Nanoseconds of one call for one learner."""

    name: str
    act_ns: float
    observe_ns: float

    @property
    def step_ns(self) -> float:
        return self.act_ns + self.observe_ns

    def to_json(self, fastest_ns: float) -> dict[str, object]:
        return {
            "implementation": self.name,
            "act_ns": round(self.act_ns, 1),
            "observe_ns": round(self.observe_ns, 1),
            "step_ns": round(self.step_ns, 1),
            "ratio": round(self.step_ns / fastest_ns, 2),
        }


def idle(recording: RecordedCalls) -> Subject:
    return Subject("nothing", 1, lambda k, h: None, lambda k, h: None, lambda: None)


def c_batch(recording: RecordedCalls) -> Subject:
    """All recorded controllers in one call, as the simulator drives them."""
    agent = recording.core(recording.states.shape[2])
    lib, cast = binding.lib, binding.ffi.from_buffer
    blocks, words, n = agent._blocks, agent.words, agent.n
    pointers: list[Any] = [
        [[cast("double[]", np.ascontiguousarray(values[k, h])) for h in range(values.shape[1])]
         for k in range(len(values))]
        for values in (recording.states, recording.rewards, recording.next_states)
    ]  # fmt: skip
    states, rewards, following = pointers
    actions = agent._actions_pointer
    return Subject(
        f"C, {n} controllers a call",
        n,
        lambda k, h: lib.adamb_batch_act(blocks, words, n, h, states[k][h], actions),
        lambda k, h: lib.adamb_batch_observe(blocks, words, n, h, rewards[k][h], following[k][h]),
        lambda: lib.adamb_batch_end_episode(blocks, words, n),
    )


def c_single(recording: RecordedCalls) -> Subject:
    """One controller, one crossing from Python into C a call."""
    agent = recording.core(1)
    lib, cast = binding.lib, binding.ffi.from_buffer
    block, action = agent._blocks, binding.ffi.new("uint16_t[3]")
    states, following = (
        [[cast("uint16_t[]", row) for row in episode] for episode in recording.points(values)]
        for values in (recording.states, recording.next_states)
    )
    rewards = recording.first_rewards()
    return Subject(
        "C, one controller a call",
        1,
        lambda k, h: lib.adamb_act(block, h, states[k][h], action),
        lambda k, h: lib.adamb_observe(block, h, rewards[k][h], following[k][h]),
        lambda: lib.adamb_end_episode(block),
    )


def python_twin(recording: RecordedCalls) -> Subject:
    """The twin for MicroPython, here on CPython."""
    from adamb.firmware_model import core

    block = array("H", recording.core(1).blocks[0].tobytes())
    controller: Any = core.attach(block)
    states, following = recording.points(recording.states), recording.points(recording.next_states)
    rewards, action = recording.first_rewards(), array("H", [0] * recording.options["d_a"])
    return Subject(
        "Python twin (CPython)",
        1,
        lambda k, h: controller.act(h, states[k][h], action),
        lambda k, h: controller.observe(h, rewards[k][h], following[k][h]),
        controller.end_episode,
    )


def float_reference(recording: RecordedCalls) -> Subject:
    """The float64 reference; it has no cap, and `auto` sharing is its `on`."""
    from adamb.host_sim.agents.reference import ReferenceAgent
    from adamb.host_sim.agents.reference.settings import TRACKING_OPTIONS

    words = recording.core(1).config.words
    options = {name: words[name] for name in ("mode", *TRACKING_OPTIONS) if name != "share"}
    share = "off" if words["share"] == "off" else "on"
    agent = ReferenceAgent(recording.shape(1), share=share, **options)
    learner: Any = agent.learners[0]
    states, following = recording.states[:, :, 0].tolist(), recording.next_states[:, :, 0].tolist()
    rewards = recording.rewards[:, :, 0].tolist()
    return Subject(
        "float64 reference",
        1,
        lambda k, h: learner.act(h, states[k][h]),
        lambda k, h: learner.observe(h, rewards[k][h], following[k][h]),
        learner.end_episode,
    )


SUBJECTS: dict[str, Callable[[RecordedCalls], Subject]] = {
    "c-batch": c_batch,
    "c": c_single,
    "python": python_twin,
    "reference": float_reference,
}


def replay(subject: Subject, episodes: int, horizon: int) -> tuple[float, float]:
    """Nanoseconds of all acts and of all observes, clock included."""
    clock = time.perf_counter_ns
    act, observe, end_episode = subject.act, subject.observe, subject.end_episode
    acting = learning = 0
    for k in range(episodes):
        for h in range(horizon):
            before = clock()
            act(k, h)
            between = clock()
            observe(k, h)
            learning += clock() - between
            acting += between - before
        end_episode()
    return acting, learning


def whole_episodes(recording: RecordedCalls, seeds: int) -> tuple[float, float]:
    """Nanoseconds of all acts and of all observes, played without Python between two steps.

    Of processor time: episodes of many learners take long, so other programs would come between.
    """
    problem = recording.problem(seeds)
    compiled = CompiledPlay.of(problem, recording.core(seeds, problem.seeds))
    assert compiled is not None, "asked for compiled problems only"
    acting = learning = 0.0
    while (left := problem.episodes - problem.episode - 1) > 0:
        starts, noise = problem.begin_episodes(left)
        returns = np.empty((seeds, len(starts)))
        before = time.process_time_ns()
        act, observe = compiled.play(starts, noise, returns)
        spent = time.process_time_ns() - before
        acting, learning = acting + act * spent, learning + observe * spent
    return acting, learning


EPISODES: dict[str, Callable[[int], int]] = {"episodes": lambda seeds: seeds, "episodes-alone": lambda _: 1}
"""Whole episodes: how many learners play, of so many that were recorded."""
NAMES = (*EPISODES, *SUBJECTS)


def names_for(problem: Problem) -> list[str]:
    """What can be measured on a problem."""
    return [name for name in NAMES if name not in EPISODES or offered(problem) is not None]


def measure(name: str, recording: RecordedCalls, rounds: int) -> CallTime:
    """The fastest of some rounds: what disturbs a measurement only ever adds to it."""
    if name in EPISODES:
        return _measure_episodes(EPISODES[name](recording.states.shape[2]), recording, rounds)
    if name not in SUBJECTS:
        raise InputError("only", name, f"must be among {', '.join(NAMES)}")
    episodes, horizon = recording.states.shape[:2]
    calls = episodes * horizon
    empty = [replay(idle(recording), episodes, horizon) for _ in range(rounds)]
    overhead = [min(column) / calls for column in zip(*empty, strict=True)]
    found, subject = [], None
    for _ in range(rounds):
        subject = SUBJECTS[name](recording)
        found.append(replay(subject, episodes, horizon))
    assert subject is not None
    act_ns, observe_ns = (
        max(0.0, min(column) / calls - clock) / subject.learners
        for column, clock in zip(zip(*found, strict=True), overhead, strict=True)
    )
    return CallTime(subject.name, act_ns, observe_ns)


def _measure_episodes(learners: int, recording: RecordedCalls, rounds: int) -> CallTime:
    calls = recording.rewards[:, :, 0].size * learners
    found = [whole_episodes(recording, learners) for _ in range(rounds)]
    act_ns, observe_ns = (min(column) / calls for column in zip(*found, strict=True))
    return CallTime(f"C, whole episodes of {learners}", act_ns, observe_ns)
