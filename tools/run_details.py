"""details.json: what a report needs beyond the result of a run. Where the numbers come from, and curves with
bands that only the returns of every seed can give."""

from __future__ import annotations

import platform
import shlex
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim.runner import LAST, Estimate, estimate, half_widths, spec_hash, version

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.runner import RunResult

FORMAT = 1
CURVE_POINTS = 400
SMOOTHING = 50
"""A running mean covers this part of the episodes."""
INSTANCES = 20
PACKAGES = ("numpy", "scipy", "cffi")


def details(result: RunResult, problem: Problem, asked_episodes: int) -> dict[str, Any]:
    """Everything by name, JSON-able."""
    described = problem.describe()
    described["instances"] = described["instances"][:INSTANCES]
    described.pop("seeds", None)
    share, last, first = result.share(), result.share(LAST), _first_share(result)
    return {
        "format": FORMAT,
        "command": command(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "problem": described,
        "settings": result.settings,
        "interrupted": result.interrupted,
        "asked_episodes": asked_episodes,
        "microseconds_per_step": result.microseconds_per_step(),
        "share": None if share is None else share.to_json(),
        "share_first100": None if first is None else first.to_json(),
        "share_last100": None if last is None else last.to_json(),
        "reward_first100": estimate(result.returns[:, :LAST].mean(axis=1)).to_json(),
        "seed_rewards": result.returns.mean(axis=1).tolist(),
        "seed_bytes_peak": [int(value) for value in result.bytes_peak],
        "seed_counters": {name: [float(v) for v in values] for name, values in result.stats.items()},
        "curve": curve(result),
    }


def command() -> str:
    """The command line as it was typed, as far as a program can know."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def versions() -> dict[str, Any]:
    found: dict[str, Any] = {
        "adamb": version(),
        "core_spec_hash": spec_hash(),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    return found | {name: metadata.version(name) for name in PACKAGES}


def _first_share(result: RunResult) -> Estimate | None:
    if result.optimal is None:
        return None
    best = result.optimal[:, :LAST].mean(axis=1)
    return estimate(result.returns[:, :LAST].mean(axis=1) / best) if (best > 0).all() else None


def curve(result: RunResult) -> dict[str, Any]:
    """Running means over the episodes, with the 95 % half width over the seeds of each mean."""
    window = max(1, result.episodes // SMOOTHING)
    ends = curve_ends(result.episodes)
    reward = running_mean(result.returns, ends, window)
    found: dict[str, Any] = {
        "window": window,
        "episode": ends.tolist(),
        "reward": _short(reward.mean(axis=0)),
        "reward_ci95": None if len(reward) < 2 else _short(half_widths(reward)),
        "optimal": None,
    }
    if result.optimal is not None:
        found["optimal"] = _short(running_mean(result.optimal, ends, window).mean(axis=0))
    return found


def curve_ends(episodes: int) -> np.ndarray:
    """After which episodes a point is drawn: half of them close together at the start."""
    even = np.linspace(1, episodes, min(episodes, CURVE_POINTS // 2))
    log = np.geomspace(1, episodes, min(episodes, CURVE_POINTS // 2))
    return np.unique(np.concatenate([even, log]).round().astype(int))


def running_mean(values: np.ndarray, ends: np.ndarray, window: int) -> np.ndarray:
    """Mean of the last `window` columns before each end, or of as many as there are."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    starts = np.maximum(ends - window, 0)
    return (sums[:, ends] - sums[:, starts]) / (ends - starts)


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]
