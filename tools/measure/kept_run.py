"""What a run with a folder leaves there now and then, and takes up again after it was killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adamb.host_sim import going_on
from adamb.host_sim.runner import record_points
from adamb.tools.measure.run_folder import folder_files
from adamb.tools.so_far import Keeper

if TYPE_CHECKING:
    from adamb.host_sim.agent import Agent, Progress
    from adamb.host_sim.blocks.recording import Recorder
    from adamb.host_sim.problem import Problem

RECORDER = "recorder_"


class KeptRun:
    """Of a run that has not begun: problem and agent as they are before the first episode."""

    def __init__(
        self, out: Path, problem: Problem, agent: Agent, episodes: int, recorder: Recorder | None
    ) -> None:
        self.problem, self.agent, self.episodes, self.recorder = problem, agent, episodes, recorder
        key = going_on.run_key(problem, agent, episodes=episodes, recorded=recorder is not None)
        self.keeper = Keeper(out, key)

    def begin(self) -> going_on.Arrays | None:
        """For `simulate`: what an earlier process has kept; None to start at the first episode."""
        return self.keeper.take(going_on.hindrance(self.problem, self.agent), self._accept)

    def _accept(self, kept: going_on.Arrays) -> None:
        points, known = record_points(self.episodes, None), self.problem.optimal() is not None
        going_on.check(self.problem, self.agent, points, kept, optimum=known)
        if self.recorder is not None:
            mine = {name.removeprefix(RECORDER): array for name, array in kept.items()}
            self.recorder.go_on(mine)

    def follow(self, inner: Callable[[Progress], object]) -> Callable[[Progress], object]:
        """A progress function that saves when it is time to, and when `inner` ends the run."""

        def progress(state: Progress) -> object:
            stop = inner(state) is True
            due = self.keeper.due(state.done)
            if due or stop:
                kept = state.keep()
                if kept is not None and self.recorder is not None:
                    kept |= {f"{RECORDER}{name}": array for name, array in self.recorder.keep().items()}
                if (due or kept is not None) and (result := state.so_far()) is not None:
                    self.keeper.save(self._files(result), kept)
            return stop

        return progress

    def _files(self, result: Any) -> dict[str, bytes]:
        asked: Any = {"asked_episodes": self.episodes, "recording": None}
        return folder_files(result, self.problem, self.agent, ({}, 0), **asked)
