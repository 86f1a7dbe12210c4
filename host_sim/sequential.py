"""Sequential runs: a device holds one controller, so its seeds play one after the other.

Several devices play several seeds at once. A learner alone repeats what it does among others, so the joined
result is the one that all in step would give.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.firmware_model.host.errors import AdambError
from adamb.host_sim.agents import Progress, SequentialAgent
from adamb.host_sim.problem import with_seeds
from adamb.host_sim.runner import Observer, RunPlan, RunResult, _told, play

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

WAIT_SECONDS = 0.2


def play_sequentially(
    problem: Problem, agent: SequentialAgent, plan: RunPlan, observers: Sequence[Observer]
) -> RunResult:
    """All learners of the agent; an error carries the result of what was done before it."""
    queue = _Queue(problem, agent, plan, observers)
    try:
        queue.run()
    finally:
        agent.close()
    if queue.error is not None:
        queue.error.partial = queue.result() if queue.whole or queue.cut else None
        raise queue.error
    return queue.result()


class _Queue:
    """Queue of the learners: those that wait, those that are done."""

    def __init__(self, problem: Problem, agent: SequentialAgent, plan: RunPlan, observers: Sequence[Observer]) -> None:
        self.problem, self.agent, self.plan, self.observers = problem, agent, plan, observers
        self.waiting = list(range(problem.n))
        self.whole: dict[int, RunResult] = {}
        self.cut: dict[int, RunResult] = {}
        self.error: AdambError | None = None
        self.crash: BaseException | None = None
        self.stopped = False
        self.lock = threading.Lock()

    def run(self) -> None:
        devices = min(self.agent.devices, self.problem.n)
        if devices == 1:
            self._use(0)
            return
        threads = [threading.Thread(target=self._guarded, args=(device,), daemon=True) for device in range(devices)]
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

    def _guarded(self, device: int) -> None:
        try:
            self._use(device)
        except BaseException as error:  # a thread must not die unheard
            self.crash, self.stopped = error, True

    def _use(self, device: int) -> None:
        while True:
            with self.lock:
                if self.stopped or not self.waiting:
                    return
                i = self.waiting.pop(0)
            try:
                result = self._play(i, device)
            except AdambError as error:
                with self.lock:
                    self.error, self.stopped = self.error or error, True
                    if isinstance(error.partial, RunResult):
                        self.cut[i] = error.partial
                return
            with self.lock:
                self.stopped = self.stopped or result.interrupted
                (self.cut if result.interrupted else self.whole)[i] = result

    def _play(self, i: int, device: int) -> RunResult:
        alone = with_seeds(self.problem, self.problem.seeds[i : i + 1])
        return play(alone, self.agent.for_seed(i, device), self.plan, [self._watch])

    def _watch(self, progress: Progress) -> bool:
        with self.lock:
            progress.turn = (len(self.whole), self.problem.n)
            for observer in self.observers:
                self.stopped |= observer(progress) is True
            return self.stopped

    def result(self) -> RunResult:
        """The learners that are done, together; where none is, the first that began. Others are listed."""
        kept = [self.whole[i] for i in sorted(self.whole)] or [self.cut[min(self.cut)]]
        listed = [self.cut[i] for i in sorted(self.cut) if self.cut[i] is not kept[0]]
        joined = join(kept)
        joined.interrupted = len(self.whole) < self.problem.n
        joined.target = _told(self.agent, "measured")
        joined.unfinished = [
            {"seed": each.seeds[0], "episodes": each.episodes, "returns": each.returns[0].tolist()} for each in listed
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
