"""The upper bounds of a run's job beside what the run used; a measurement above one is a violation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adamb.budgets.controller import MEMORY_OPTIONS
from adamb.budgets.errors import AdambError
from adamb.budgets.growth import log_points
from adamb.budgets.planner import UNIT_BYTES, Plan, PlannedJob
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


def job_of(run: RunSource) -> PlannedJob | None:
    """The job that the run did; None for an agent without bounds."""
    summary, details = run.summary, run.run.details
    if summary.agent != "adamb" or summary.core not in BLOCK_CORES:
        return None
    chosen = {key: details.settings.get(key) for key in MEMORY_OPTIONS}
    mode = details.settings.get("mode", "tracking")
    d_s, d_a = details.dimensions
    try:
        return PlannedJob(d_s, d_a, summary.horizon, summary.episodes, mode=mode, **chosen)
    except AdambError:
        return None


def run_bounds(run: RunSource) -> RunBounds | None:
    job = job_of(run)
    if job is None:
        return None
    points = log_points(job.episodes)
    limits = [_bytes(job, episode) for episode in points]
    plan = Plan(job, run.summary.budget_bytes)
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


def _bytes(job: PlannedJob, episode: int) -> int:
    return (job.bound.header_units + job.bound.units(episode)) * UNIT_BYTES


def _bytes_above(run: RunSource, job: PlannedJob, points: list[int], limits: list[int]) -> list[str]:
    """The first point at which the worst seed used more bytes than any run can.

    Bounds only grow, so a point needs its own only when it is above the one of an earlier point.
    """
    column, last = 0, 0
    curves = run.run.curves
    for episode, used in zip(curves.episode, curves.bytes_max, strict=True):
        if used is None or episode is None:
            continue
        while column < len(points) and points[column] <= episode:
            last, column = limits[column], column + 1
        if used > last and used > (limit := _bytes(job, int(episode))):
            return [f"{used:.0f} bytes after episode {episode:.0f}, the upper bound is {limit}"]
    return []


def _leaves_above(run: RunSource, plan: Plan) -> list[str]:
    worst = max(run.run.seed_counter("leaves"), default=0)
    return [f"{worst:.0f} leaves, the upper bound is {plan.leaves}"] if worst > plan.leaves else []
