"""The protocol of the league in words and tables, from the data that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.league.protocol import (
    FIRST_BUDGETS,
    PUBLISHED,
    STRENGTHENED,
    LeagueContender,
    cut_reason,
    grid_for,
)
from adamb.tools.terminal.league_table import markdown_table

if TYPE_CHECKING:
    from adamb.host_sim.league.play import Bench

DRIFTS = {"none": "none", "half": "jumps at K/2", "walk": "walks"}


def protocol_text(bench: Bench) -> str:
    """Seeds and budgets, problems, contenders."""
    budgets = ", ".join(format_bytes(each) for each in bench.budgets)
    scored, tuning = bench.seeds.scored, bench.seeds.tuning
    lines = [
        f"Budgets: {budgets}; long runs: {', '.join(format_bytes(each) for each in sorted(FIRST_BUDGETS))}.",
        f"Scored on {len(scored)} seeds, {scored[0]} to {scored[-1]}; "
        f"tuned on {len(tuning)} others, {tuning[0]} to {tuning[-1]}.",
    ]
    return "\n".join([*lines, "", _problems(bench), _contenders(bench)])


def _problems(bench: Bench) -> str:
    rows = []
    for task in bench.tasks:
        d_s, d_a = task.dimensions()
        unit = "V*" if not task.baselines else f"the best of {', '.join(task.baselines)}"
        rows.append([task.label, f"{d_s}+{d_a}", str(task.episodes), DRIFTS[task.drift], unit])
    return markdown_table(["problem", "dimensions", "episodes K", "drift", "unit of the score"], rows)


def _contenders(bench: Bench) -> str:
    task = next((each for each in bench.tasks if not each.slow), bench.tasks[0])
    rows = [
        [each.label, each.kind, each.about, _fixed(each), _tuned(bench, each)] for each in bench.contenders
    ]
    header = ["row", "class", "what it is", "fixed", f"tuned (the grid of {task.label})"]
    rivals = sum(each.kind in (PUBLISHED, STRENGTHENED) for each in bench.contenders)
    notes = [f"Smaller grids: {'; '.join(cuts(bench))}."] if cuts(bench) else []
    return "\n".join([f"{rivals} rivals.", "", markdown_table(header, rows), *notes]).rstrip() + "\n"


def cuts(bench: Bench) -> list[str]:
    """Where rivals have smaller grids, who, and why."""
    found: dict[tuple[str, str], list[str]] = {}
    for task in bench.tasks:
        for each in bench.contenders:
            reason = cut_reason(each, task)
            if reason:
                found.setdefault((task.label, reason), []).append(each.label)
    return [
        f"{problem} ({', '.join(labels) if len(labels) < 4 else 'all rows'}): {reason}"
        for (problem, reason), labels in found.items()
    ]


def _fixed(contender: LeagueContender) -> str:
    return ", ".join(f"{name} {value}" for name, value in contender.options.items()) or "defaults"


def _tuned(bench: Bench, contender: LeagueContender) -> str:
    task = next((each for each in bench.tasks if not each.slow), bench.tasks[0])
    grid = grid_for(contender, task, quick=bench.quick)
    return "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in grid.items()) or "nothing"
