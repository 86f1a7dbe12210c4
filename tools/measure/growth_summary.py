"""What profile.json says of a measurement of memory growth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adamb.budgets.errors import InputError
from adamb.budgets.ledger import host_memory
from adamb.host_sim.files import json_bytes
from adamb.host_sim.results.profile import (
    POINTS,
    PROFILE,
    CapFelt,
    GrowthExponents,
    ProfilePoint,
    ProfileSummary,
    read_profile,
)
from adamb.host_sim.results.record import rows_as_csv
from adamb.tools.measure.memory_growth import QUANTITIES, GrowthTask, Profile


def summarise(found: list[Profile]) -> ProfileSummary:
    """Every point of every run, exponents, violations."""
    task = found[0].task
    exponents = {each.task.mode: GrowthExponents(**each.exponents()) for each in found}
    return ProfileSummary(
        problem=task.problem,
        episodes=max(each.episodes for each in found),
        interrupted=any(each.episodes < each.task.episodes for each in found),
        horizon=found[0].job.horizon,
        seeds=len(task.seeds),
        seed_base=task.seeds[0],
        budget_bytes=task.budget_bytes,
        points=[point for each in found for point in _points(each)],
        exponent=exponents[task.mode],
        exponents=exponents,
        cap_bound_at={each.task.mode: cap_felt(each) for each in found},
        violations=[str(broken) for each in found for broken in each.violations()],
        ledger={each.task.mode: _ledgers(each) for each in found},
        host_memory=host_memory(),
        seconds={each.task.mode: round(each.seconds, 3) for each in found},
    )


def summary_files(summary: ProfileSummary) -> dict[str, bytes]:
    """profile.json comes last: where it is, the folder is complete."""
    return {POINTS: rows_as_csv(ProfilePoint, summary.points), PROFILE: json_bytes(summary.to_json())}


def stopped_before(folder: Path, tasks: list[GrowthTask]) -> bool:
    """Whether the folder holds what these tasks left when they were stopped; they may then replace that."""
    try:
        there = read_profile(folder)
    except (OSError, InputError):
        return False
    first = tasks[0]
    same = (there.problem, there.seeds, there.seed_base, there.budget_bytes)
    asked = (first.problem, len(first.seeds), first.seeds[0], first.budget_bytes)
    return there.interrupted and same == asked and there.modes == [task.mode for task in tasks]


def _ledgers(each: Profile) -> dict[str, Any]:
    """Bytes by owner of the first seed's controllers at the end; they sum to the block."""
    return {
        name: {**track.ledger.bytes, "block": track.ledger.total, "peak": track.ledger.peak_bytes}
        for name, track in each.tracks.items()
    }


def cap_felt(each: Profile) -> CapFelt | None:
    """When the capped controllers first had no room; the bound says when that was possible."""
    track = each.tracks.get("capped")
    if track is None or track.budget_bytes is None:
        return None
    felt = sorted(int(episode) for episode in track.cap_bound_at if episode)
    return CapFelt(
        earliest=felt[0] if felt else None,
        latest=felt[-1] if felt else None,
        seeds=len(felt),
        possible_from=each.job.bound.first_binding_episode(track.budget_bytes),
    )


def _points(each: Profile) -> list[ProfilePoint]:
    rows = []
    for name, track in each.tracks.items():
        for i, episode in enumerate(each.points):
            column = {quantity: track[quantity][:, i] for quantity in QUANTITIES}
            measured: dict[str, Any] = {
                **{quantity: float(values.mean()) for quantity, values in column.items()},
                **{f"{quantity}_max": int(values.max()) for quantity, values in column.items()},
                **{f"bound_exact_{key}": each.bounds[key][i] for key in ("leaves", "units", "entries")},
                **{f"bound_paper_{key}": each.paper[key][i] for key in ("leaves", "entries")},
            }
            rows.append(
                ProfilePoint(
                    mode=each.task.mode,
                    run=name,
                    episode=episode,
                    bytes_min=int(column["bytes"].min()),
                    bound_exact=each.bounds["bytes"][i],
                    bound_paper=each.paper["bytes"][i],
                    **measured,
                )
            )
    return rows
