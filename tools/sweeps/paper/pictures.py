"""The paper's figures from the results of a sweep."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adamb.host_sim.blocks.partition import Box, play_and_view
from adamb.host_sim.studies.claims import Scores
from adamb.host_sim.sweep.spec import Cell
from adamb.tools.figures import paper as paper_figures
from adamb.tools.figures.style import picture_files

DRAWN = ("AdaMB", "AdaMB tracking", "AdaQL", "epsilonQL", "epsilonMB")
"""Whose partitions are drawn."""


def pictures(results: Sequence[tuple[Cell, Any]], scores: Scores, jobs: int | None) -> dict[str, bytes]:
    figures: dict[str, Any] = {}
    for problem in scores.problems:
        curves = {
            agent: found
            for agent, found in paper_figures.collect_curves(results, problem).items()
            if agent in paper_figures.COLOURS
        }
        if curves:
            name = f"curves-{file_name(problem)}"
            figures[name] = paper_figures.curves_figure(problem, curves, scores.optimal(problem))
    groups = flat_cells(results, DRAWN)
    boxes = _boxes([cell for group in groups.values() for cell in group.values()], jobs)
    optima = {}
    for problem, group in groups.items():
        optimum = _optimum(next(iter(group.values())))
        found = {agent: boxes[problem, agent] for agent in group}
        figures[f"partitions-{file_name(problem)}"] = paper_figures.partition_figure(problem, found, optimum)
        if optimum is not None:
            optima[problem] = optimum
    if optima:
        figures["q-star"] = paper_figures.heat_figure(optima)
    return picture_files(figures)


def file_name(label: str) -> str:
    """A label as part of a file's name."""
    return re.sub(r"[^a-z0-9.]+", "-", label.lower().replace("α", "alpha")).strip("-.")


def flat_cells(results: Sequence[tuple[Cell, Any]], agents: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Problem -> algorithm -> cell with one seed, where state and action have one dimension each."""
    found: dict[str, dict[str, Cell]] = {}
    flat: dict[str, bool] = {}
    for cell, _ in results:
        label = cell.problem_label
        if label not in flat:
            problem, _ = cell.build(cell.seeds[:1])
            flat[label] = problem.d_s == problem.d_a == 1
        if flat[label] and cell.agent_label in agents:
            first = replace(cell, seeds=cell.seeds[:1], curves=0)
            found.setdefault(label, {}).setdefault(cell.agent_label, first)
    return found


def _boxes(cells: Sequence[Cell], jobs: int | None) -> dict[tuple[str, str], list[Box]]:
    from joblib import Parallel, cpu_count, delayed

    run: Callable[..., Any] = delayed(_one_partition)
    found = Parallel(n_jobs=jobs or cpu_count())(run(cell) for cell in cells)
    places = [(cell.problem_label, cell.agent_label) for cell in cells]
    return dict(zip(places, found, strict=True))


def _one_partition(cell: Cell) -> list[Box]:
    problem, make = cell.build()
    return play_and_view(problem, make)(paper_figures.STEP)


def _optimum(cell: Cell) -> np.ndarray | None:
    problem, _ = cell.build()
    optimum = problem.optimal()
    return None if optimum is None else np.nan_to_num(np.asarray(optimum.q(0, paper_figures.STEP)))
