"""How long one act and one observe take, in every implementation, on the same recorded run.

A run of the C core is recorded first; then each implementation is given the same states, rewards and next
states, so that all of them grow alike and only their speed differs. Clock and loop cost the same everywhere
and are measured with a subject that does nothing, and taken off. Whole episodes in C cannot be given states:
there the run is played again, which is the recorded one, and its steps are timed in C. The paper's algorithm
in Python is another than the controller's, so it plays a run of its own on the same instance.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.firmware_model.host import binding
from adamb.host_sim.agent import offered
from adamb.host_sim.compiled import ProblemInC
from adamb.host_sim.problem import Problem
from adamb.host_sim.runner import CompiledPlay
from adamb.tools.measure.recorded_calls import RecordedCalls


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


SUBJECTS: dict[str, Callable[[RecordedCalls], Subject]] = {
    "c-batch": c_batch,
    "c": c_single,
    "python": python_twin,
}


class ProcessorShare:
    """The part of the clock that this process was given, so that a busy computer does not blur a time."""

    def __init__(self) -> None:
        self._processor, self._clock = time.process_time_ns(), time.perf_counter_ns()

    def of(self, *times: float) -> tuple[float, ...]:
        clock = time.perf_counter_ns() - self._clock
        processor = time.process_time_ns() - self._processor
        return tuple(each * min(1.0, processor / max(1, clock)) for each in times)


def replay(subject: Subject, episodes: int, horizon: int) -> tuple[float, ...]:
    """Nanoseconds of all acts and of all observes, clock included."""
    share, clock = ProcessorShare(), time.perf_counter_ns
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
    return share.of(acting, learning)


def whole_episodes(recording: RecordedCalls, seeds: int) -> tuple[float, float]:
    """Nanoseconds of all acts and of all observes, played without Python between two steps.

    Of processor time: episodes of many learners take long, so other programs would come between.
    """
    problem = recording.problem(seeds)
    compiled = CompiledPlay.of(problem, recording.core(seeds, problem.seeds))
    assert compiled is not None and isinstance(problem, ProblemInC), "asked for compiled problems only"
    acting = learning = 0.0
    while (left := problem.episodes - problem.episode - 1) > 0:
        starts, noise = problem.begin_episodes(left)
        returns = np.empty((seeds, len(starts)))
        before = time.process_time_ns()
        act, observe = compiled.play(starts, noise, returns)
        spent = time.process_time_ns() - before
        acting, learning = acting + act * spent, learning + observe * spent
    return acting, learning


REFERENCE = "reference"
PAPER: dict[str, Any] = {
    "mode": "paper", "bonus": 0.5, "gamma": 2, "phi": 1, "split": "inherited", "q_rule": "decreasing",
}  # fmt: skip
"""The constants of the paper's experiments, with one c of c/√n."""


def paper_run(recording: RecordedCalls) -> tuple[float, ...]:
    """Nanoseconds of all acts and of all observes of the paper's algorithm in Python, clock included."""
    from adamb.host_sim.agents.reference import ReferenceAgent

    problem, share, clock = recording.problem(1), ProcessorShare(), time.perf_counter_ns
    learner = ReferenceAgent(problem.shape, **PAPER).learners[0]
    acting = learning = 0
    for _ in range(problem.episodes):
        state = problem.begin_episode()[0].tolist()
        for h in range(problem.horizon):
            before = clock()
            action = learner.act(h, state)
            acting += clock() - before
            rewards, states = problem.step(h, np.array([action]))
            reward, state = float(rewards[0]), states[0].tolist()
            before = clock()
            learner.observe(h, reward, state)
            learning += clock() - before
        learner.end_episode()
    return share.of(acting, learning)


EPISODES: dict[str, Callable[[int], int]] = {"episodes": lambda seeds: seeds, "episodes-alone": lambda _: 1}
"""Whole episodes: how many learners play, of so many that were recorded."""
NAMES = (*EPISODES, *SUBJECTS, REFERENCE)


def names_for(problem: Problem) -> list[str]:
    """What can be measured on a problem."""
    return [name for name in NAMES if name not in EPISODES or offered(problem) is not None]


def measure(name: str, recording: RecordedCalls, rounds: int) -> CallTime:
    """The fastest of some rounds: what disturbs a measurement only ever adds to it."""
    if name in EPISODES:
        return _measure_episodes(EPISODES[name](recording.states.shape[2]), recording, rounds)
    if name == REFERENCE:
        return _measure_paper(recording, rounds)
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


def factors(times: dict[str, CallTime]) -> dict[str, dict[str, float]]:
    """How many times faster whole episodes in C are than the paper's algorithm in Python."""
    slow = {REFERENCE: times[REFERENCE].step_ns} if REFERENCE in times else {}
    return {
        fast: {name: round(step_ns / times[fast].step_ns, 1) for name, step_ns in slow.items()}
        for fast in EPISODES
        if fast in times
    }


def _measure_paper(recording: RecordedCalls, rounds: int) -> CallTime:
    calls = recording.rewards[:, :, 0].size
    found = [paper_run(recording) for _ in range(rounds)]
    act_ns, observe_ns = (min(column) / calls for column in zip(*found, strict=True))
    return CallTime("paper's algorithm in Python", act_ns, observe_ns)


def _measure_episodes(learners: int, recording: RecordedCalls, rounds: int) -> CallTime:
    calls = recording.rewards[:, :, 0].size * learners
    found = [whole_episodes(recording, learners) for _ in range(rounds)]
    act_ns, observe_ns = (min(column) / calls for column in zip(*found, strict=True))
    return CallTime(f"C, whole episodes of {learners}", act_ns, observe_ns)
