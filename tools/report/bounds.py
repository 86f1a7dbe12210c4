"""The exact bounds of a run's job beside what the run used; a measurement above one is a violation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adamb.budgets.errors import AdambError
from adamb.budgets.growth import log_points
from adamb.budgets.planner import UNIT_BYTES, Job, Plan
from adamb.tools.report.sources import RunSource

BLOCK_CORES = ("c", "python")


@dataclass(frozen=True)
class RunBounds:
    """Bounds of one run: bytes over the episodes, leaves at the end, and whether they held."""

    episodes: list[int]
    bytes: list[int]
    leaves: int
    paper_leaves: float
    paper_condition_met: bool
    certificate_bytes: int
    first_binding_episode: int | None
    violations: list[str]

    def to_json(self) -> dict[str, Any]:
        first = self.first_binding_episode
        return {"episodes": self.episodes, "bytes": self.bytes, "first_binding_episode": first}


def job_of(run: RunSource) -> Job | None:
    """The job that the run did; None for an agent without bounds and for a folder that does not tell."""
    problem, settings = run.details.get("problem"), run.details.get("settings")
    if run.data.get("agent") != "adamb" or run.data.get("core") not in BLOCK_CORES:
        return None
    if not problem or not settings:
        return None
    chosen = {key: settings.get(key) for key in ("share", "split", "gamma", "phi")}
    mode = settings.get("mode", "tracking")
    try:
        return Job(
            problem["d_s"], problem["d_a"], run.data["horizon"], run.data["episodes"], mode=mode, **chosen
        )
    except (AdambError, KeyError):
        return None


def run_bounds(run: RunSource) -> RunBounds | None:
    job = job_of(run)
    if job is None:
        return None
    points = log_points(job.episodes)
    limits = [_bytes(job, episode) for episode in points]
    plan = Plan(job, run.budget_bytes)
    paper = plan.paper()
    return RunBounds(
        episodes=points,
        bytes=limits,
        leaves=plan.leaves,
        paper_leaves=float(paper["leaves"]),
        paper_condition_met=bool(paper["leaves_condition_met"]),
        certificate_bytes=plan.certificate_bytes,
        first_binding_episode=plan.first_binding_episode,
        violations=[*_bytes_above(run, job, points, limits), *_leaves_above(run, plan)],
    )


def _bytes(job: Job, episode: int) -> int:
    return (job.bound.header_units + job.bound.units(episode)) * UNIT_BYTES


def _bytes_above(run: RunSource, job: Job, points: list[int], limits: list[int]) -> list[str]:
    """The first point at which the worst seed used more bytes than any run can.

    Bounds only grow, so a point needs its own only when it is above the one of an earlier point.
    """
    column, last = 0, 0
    for episode, used in zip(run.curves.get("episode", []), run.curves.get("bytes_max", []), strict=True):
        if used is None or episode is None:
            continue
        while column < len(points) and points[column] <= episode:
            last, column = limits[column], column + 1
        if used > last and used > (limit := _bytes(job, int(episode))):
            return [f"{used:.0f} bytes after episode {episode:.0f}, the exact bound is {limit}"]
    return []


def _leaves_above(run: RunSource, plan: Plan) -> list[str]:
    worst = max(run.seed_counter("leaves"), default=0)
    return [f"{worst:.0f} leaves, the exact bound is {plan.leaves}"] if worst > plan.leaves else []
