"""Table 1 of the paper beside measured exponents, and regret over K beside the theorem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adamb.budgets.bounds import paper
from adamb.host_sim.files import csv_bytes
from adamb.host_sim.runner import Estimate, estimate
from adamb.host_sim.studies.claims import Verdict
from adamb.host_sim.studies.growth import DECADE, Exponents, Growth, collect, judge_growth, measured_table
from adamb.host_sim.sweep.run import results_of
from adamb.host_sim.sweep.spec import SweepSpec
from adamb.tools import outputs
from adamb.tools.figures.regret import Regret, regret_figure
from adamb.tools.figures.style import picture_files
from adamb.tools.sweeps.paper.tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = (
    "problem",
    "algorithm",
    "episodes",
    "regret_mean",
    "regret_ci95",
    "bytes_mean",
    "bytes_ci95",
    "seconds",
)
MEASURED_BY = (
    "In Table 1 AdaMB is --core double, so that K can be large; rivals are compiled as well. Times contain "
    "the call from Python, which costs the same at any K."
)


def analyse_growth(spec: SweepSpec, folder: Path) -> tuple[Table, list[Verdict]]:
    """The table and the verdicts on the exponents of regret; saves regret.png, .svg and growth.csv."""
    results = results_of(spec, folder / "growth")
    problem, _ = spec.cells[0].build(spec.cells[0].seeds[:1])
    growths = collect(results)
    table = measured_table(growths, problem.d_s + problem.d_a, problem.d_s)
    bound = paper.regret(1, horizon=problem.horizon, d=problem.d_s + problem.d_a, d_s=problem.d_s)
    outputs.save(folder, {**_pictures(growths, bound), "growth.csv": csv_bytes(COLUMNS, _rows(growths))})
    episodes = spec.values["episodes"]
    return growth_table(table, episodes), judge_growth(table, episodes, len(spec.seeds))


def growth_table(table: Sequence[Exponents], episodes: Sequence[int]) -> Table:
    late = [k for k in episodes if k * DECADE >= max(episodes)]
    rows = plain_table(
        f"Table 1: exponents of K, of the theory and measured for K from {late[0]} to {late[-1]}"
    )
    for heading in ("problem", "algorithm", "regret", "measured", "time", "measured", "space", "measured"):
        rows.add_column(heading, justify="left" if heading in ("problem", "algorithm") else "right")
    rows.add_column(f"R({episodes[-1]})", justify="right")
    for row in table:
        pairs: list[str] = []
        for theory, found in (
            (row.theory.regret_k, row.regret), (row.theory.time_k, row.time), (row.theory.space_k, row.space),
        ):  # fmt: skip
            pairs += ["–" if theory is None else f"{theory:.3f}", _shown(found)]
        rows.add_row(row.problem, row.algorithm, *pairs, str(row.last))
    return rows


def _shown(found: Estimate) -> str:
    return f"{found.mean:.3f}{'' if found.ci95 is None else f' ± {found.ci95:.3f}'}"


def _rows(growths: Mapping[tuple[str, str], Growth]) -> list[list[object]]:
    found: list[list[object]] = []
    for (problem, agent), each in growths.items():
        for i, episodes in enumerate(each.episodes.tolist()):
            regret, size = estimate(each.regret[:, i]), estimate(each.size[:, i])
            numbers = (regret.mean, regret.ci95, size.mean, size.ci95, float(each.seconds[0, i]))
            found.append([problem, agent, episodes, *numbers])
    return found


def _pictures(growths: Mapping[tuple[str, str], Growth], bound: paper.Bound) -> dict[str, bytes]:
    figures = {}
    for problem in dict.fromkeys(problem for problem, _ in growths):
        measured = {
            agent: Regret(each.episodes, each.regret)
            for (where, agent), each in growths.items()
            if where == problem
        }
        points = next(iter(measured.values())).episodes
        power = bound.exponent or 1.0
        lines = {
            f"AdaMB's theorem, constant 1: K^{power:.3f}": (points, bound.value * np.power(points, power))
        }
        seeds = len(next(iter(measured.values())).values)
        figures["regret"] = regret_figure(
            f"{problem}: true regret",
            f"{seeds} seeds, 95 % bands; each algorithm told each K",
            measured,
            lines,
        )
    return picture_files(figures)
