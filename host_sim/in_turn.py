"""Runs in which learners take turns: a target holds one controller, so its seeds play one after the other.

Several targets play several seeds at once. A learner alone repeats what it does among others, so the joined
result is the one that all in step would give.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.errors import AdambError
from adamb.host_sim.agent import Progress
from adamb.host_sim.runner import RunPlan, RunResult, play

if TYPE_CHECKING:
    from adamb.host_sim.agent import Agent
    from adamb.host_sim.problem import Problem

Watch = Callable[[Progress], object] | None
WAIT_SECONDS = 0.2


def play_in_turn(problem: Problem, agent: Agent, plan: RunPlan, progress: Watch) -> RunResult:
    """All learners of the agent; an error carries the result of what was done before it."""
    turns = _Turns(problem, agent, plan, progress)
    try:
        turns.run()
    finally:
        agent.release()
    if turns.error is not None:
        turns.error.partial = turns.result() if turns.whole or turns.cut else None
        raise turns.error
    return turns.result()


class _Turns:
    """Who is next, who is done."""

    def __init__(self, problem: Problem, agent: Agent, plan: RunPlan, progress: Watch) -> None:
        self.problem, self.agent, self.plan, self.progress = problem, agent, plan, progress
        self.waiting = list(range(problem.n))
        self.whole: dict[int, RunResult] = {}
        self.cut: dict[int, RunResult] = {}
        self.error: AdambError | None = None
        self.crash: BaseException | None = None
        self.stopped = False
        self.lock = threading.Lock()

    def run(self) -> None:
        lanes = min(self.agent.lanes, self.problem.n)
        if lanes == 1:
            self._lane(0)
            return
        threads = [threading.Thread(target=self._guarded, args=(lane,), daemon=True) for lane in range(lanes)]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                threads[0].join(WAIT_SECONDS)
                threads[-1].join(WAIT_SECONDS)
        finally:
            self.stopped = True
        if self.crash is not None:
            raise self.crash

    def _guarded(self, lane: int) -> None:
        try:
            self._lane(lane)
        except BaseException as error:  # a thread must not die unheard
            self.crash, self.stopped = error, True

    def _lane(self, lane: int) -> None:
        while True:
            with self.lock:
                if self.stopped or not self.waiting:
                    return
                i = self.waiting.pop(0)
            try:
                result = play(self.problem.alone(i), self.agent.alone(i, lane), self.plan, self._watch)
            except AdambError as error:
                with self.lock:
                    self.error, self.stopped = self.error or error, True
                    if isinstance(error.partial, RunResult):
                        self.cut[i] = error.partial
                return
            with self.lock:
                self.stopped = self.stopped or result.interrupted
                (self.cut if result.interrupted else self.whole)[i] = result

    def _watch(self, progress: Progress) -> bool:
        with self.lock:
            progress.turn = (len(self.whole), self.problem.n)
            if self.progress is not None and self.progress(progress) is True:
                self.stopped = True
            return self.stopped

    def result(self) -> RunResult:
        """The learners that are done, together; where none is, the first that began. Others are listed."""
        kept = [self.whole[i] for i in sorted(self.whole)] or [self.cut[min(self.cut)]]
        listed = [self.cut[i] for i in sorted(self.cut) if self.cut[i] is not kept[0]]
        joined = join(kept)
        joined.interrupted = len(self.whole) < self.problem.n
        joined.target = self.agent.on_target()
        joined.unfinished = [
            {"seed": each.seeds[0], "episodes": each.episodes, "returns": each.returns[0].tolist()}
            for each in listed
        ]
        return joined


def join(results: list[RunResult]) -> RunResult:
    """Results of single learners as one of several."""
    first = results[0]

    def stacked(name: str) -> np.ndarray:
        return np.concatenate([getattr(each, name) for each in results])

    columns: dict[str, Any] = {name: stacked(name) for name in ("returns", "bytes", "bytes_peak", "clipped")}
    return replace(
        first,
        seeds=tuple(seed for each in results for seed in each.seeds),
        optimal=None if first.optimal is None else stacked("optimal"),
        stats={name: np.concatenate([each.stats[name] for each in results]) for name in first.stats},
        seconds={name: sum(each.seconds[name] for each in results) for name in first.seconds},
        **columns,
    )
