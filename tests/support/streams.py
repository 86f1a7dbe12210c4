"""Recorded streams for the tests: one for every corner of the configuration where targets could differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from adamb.host_sim.problems import make_problem
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import Stream, record


class Noise:
    """States and rewards that follow from nothing: reaches corners that a sensible task does not."""

    n = 1

    def __init__(self, d_s: int, d_a: int, horizon: int, seed: int) -> None:
        self.d_s, self.d_a, self.horizon = d_s, d_a, horizon
        self._rng = np.random.default_rng(seed)

    def _states(self) -> np.ndarray:
        # A few repeated values let balls and counts grow deep; the borders 0 and 1 belong to the corners.
        values = self._rng.choice([0.0, 1.0, 0.5, self._rng.random()], size=(1, self.d_s))
        return np.asarray(values, float)

    def begin_episode(self) -> np.ndarray:
        return self._states()

    def step(self, h: int, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        reward = self._rng.choice([0.0, 1.0, float(actions.mean()), self._rng.random()], size=1)
        return np.asarray(reward, float), self._states()


@dataclass(frozen=True)
class Case:
    name: str
    problem: str
    budget_bytes: int
    episodes: int
    options: tuple[tuple[str, object], ...] = ()
    dims: tuple[int, int, int] = (1, 1, 5)


CASES = [
    Case("default", "oil-laplace", 4096, 150),
    Case("tiny", "oil-laplace", 1024, 300),
    Case("shared", "oil-2d", 6144, 120, (("share", "on"),)),
    Case("noise-3+3", "noise", 8192, 80, (), (3, 3, 2)),
]


@cache
def recording(name: str) -> tuple[DeviceSettings, Stream]:
    """A case's settings and its stream, recorded by the C core on this computer."""
    case = next(case for case in CASES if case.name == name)
    problem: object
    if case.problem == "noise":
        problem = Noise(*case.dims, seed=len(name))
    else:
        problem = make_problem(
            case.problem, [7], instance="random", drift="none", continuing=False,
            episodes=case.episodes, horizon=None, params={},
        )  # fmt: skip
    settings = DeviceSettings(problem.d_s, problem.d_a, problem.horizon, **dict(case.options))  # type: ignore
    config, words = settings.config(), case.budget_bytes // 2
    core = HostCore(config, words)
    return settings, record(name, problem, core, config, words, case.episodes)  # type: ignore[arg-type]


def stream_of(name: str) -> Stream:
    return recording(name)[1]
