"""The league for people and programs: tables for a terminal or a document, rows for files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.sizes import format_cap
from adamb.host_sim.files import csv_bytes, json_bytes
from adamb.host_sim.league.protocol import (
    CONTENDERS,
    OWN,
    PUBLISHED,
    STRENGTHENED,
    UNTUNED,
    grid_for,
    kind_of,
)
from adamb.host_sim.league.scores import GROUP_OF, Comparison, League, Score
from adamb.host_sim.league.verdicts import TargetVerdict, percent, recoveries
from adamb.host_sim.ratios import Ratio, average, in_percent

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.host_sim.league.play import Bench

SCORES = ("problem", "group", "episodes", "budget_bytes", "agent", "class", "status", "reward_mean", "unit",
          "score", "score_ci95", "above_chance", "bytes_peak", "restarts", "options")  # fmt: skip
CELLS = ("problem", "group", "budget_bytes", "against", "score", "rival", "rival_score", "rival_bytes",
         "gain", "gain_ci95", "outcome")  # fmt: skip
COLOURS = {"win": "green", "loss": "red"}
TITLES = {
    "all": "the best tuned rival",
    PUBLISHED: "the best published rival",
    STRENGTHENED: "the best strengthened rival",
    OWN: "the best agent of your own",
}
Rows = list[list[str]]


# ---- tables ---------------------------------------------------------------------------------------------


def gain_rows(league: League, against: str) -> tuple[list[str], Rows]:
    """Problems × budgets: the controller's gain in percent over the best rival."""
    cells = {(each.problem, each.budget_bytes): each for each in league.comparisons(against)}
    budgets = [each for each in league.budgets if each is not None]
    header = ["problem", *(format_cap(each) for each in budgets)]
    rows = [
        [problem, *(_gain_text(cells.get((problem, budget))) for budget in budgets)]
        for problem in league.problems
        if any(place[0] == problem for place in cells)
    ]
    return header, rows


def _gain_text(cell: Comparison | None) -> str:
    if cell is None:
        return ""
    return f"does not fit {cell.outcome}" if cell.gain is None else f"{percent(cell.gain)} {cell.outcome}"


def league_rows(league: League) -> tuple[list[str], Rows]:
    """Contenders by their mean share: each budget without drift, drift, and how often each is first."""
    budgets = [each for each in league.budgets if each is not None]
    header = ["agent", "class", *(format_cap(each) for each in budgets), "drift", "first in cells"]
    found = []
    for agent in league.agents:
        shares = [_mean_share(league, agent, "stationary", [budget]) for budget in budgets]
        drift = _mean_share(league, agent, "drift", budgets)
        key = np.mean([share.value for share in shares if share is not None] or [0.0])
        texts = ["–" if share is None else in_percent(share) for share in (*shares, drift)]
        found.append((-key, [agent, kind_of(agent), *texts, str(league.firsts(agent))]))
    return header, [row for _, row in sorted(found, key=lambda pair: pair[0])]


def _mean_share(league: League, agent: str, group: str, budgets: Sequence[int]) -> Ratio | None:
    """Over the cells of a group; None when the contender is missing from one of them."""
    places = [place for place in league.cells if GROUP_OF[place[0]] == group and place[1] in budgets]
    scores = [league.cells[place].get(agent) for place in places]
    shares = [each.share for each in scores if each is not None and each.share is not None]
    return average(shares) if shares and len(shares) == len(places) else None


def rival_rows(league: League) -> tuple[list[str], Rows]:
    """Every cell with its best rivals of both classes and the controller, in shares of the unit."""
    header = ["problem", "cap", "best published", "best strengthened", "adamb, untuned", "gain %"]
    against = {(each.problem, each.budget_bytes): each for each in league.comparisons("all")}
    rows = []
    for problem in league.problems:
        for budget in league.budgets:
            cell = against.get((problem, budget))
            best = [league.best(problem, budget, (kind,)) for kind in (PUBLISHED, STRENGTHENED)]
            if any(best):
                ours = league.score(problem, budget, UNTUNED)
                shown = [_rival_text(each) for each in best]
                rows.append([problem, format_cap(budget), *shown, _share_text(ours), _gain_text(cell)])
    return header, rows


def _share_text(score: Score | None) -> str:
    if score is None:
        return ""
    if score.share is None:
        return "does not fit"
    return in_percent(score.share)


def _rival_text(score: Score | None) -> str:
    if score is None:
        return "–"
    options = ", ".join(f"{name} {value}" for name, value in score.choice.items())
    return f"{_share_text(score)} {score.agent} ({options}; {score.bytes_peak} B)"


def recovery_rows(league: League) -> tuple[list[str], Rows]:
    header = ["problem", "cap", "% of V* before the jump", "K/4 after it", "back after episodes", "restarts"]
    rows = []
    for each in recoveries(league):
        score, after = each.score, each.after.value + 0.9 * each.before
        waited = "never" if each.episodes is None else str(each.episodes)
        restarts = "" if score.restarts is None else f"{score.restarts:.2f}"
        shares = [f"{100 * each.before:.1f}", f"{100 * after:.1f}"]
        rows.append([score.problem, format_cap(score.budget_bytes), *shares, waited, restarts])
    return header, rows


def tables(league: League) -> list[tuple[str, list[str], Rows]]:
    """Title, header and rows of what a terminal shows."""
    found = [(f"gain in % over {TITLES[against]}", *gain_rows(league, against)) for against in TITLES]
    found.append(("mean share of V* in %", *league_rows(league)))
    found.append(("after a jump", *recovery_rows(league)))
    return [each for each in found if each[2]]


def rich_table(title: str, header: Sequence[str], rows: Rows) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for name in header:
        table.add_column(name, justify="left" if name in ("problem", "agent", "class") else "right")
    for row in rows:
        table.add_row(*map(_coloured, row))
    return table


def _coloured(text: str) -> str:
    colour = COLOURS.get(text.rpartition(" ")[2], "")
    return f"[{colour}]{text}[/]" if colour else text


def verdict_lines(verdicts: Sequence[TargetVerdict]) -> list[str]:
    return [
        f"{each.target} {each.verdict}: {each.statement}"
        + (f" (against {each.against})" if each.against else "")
        + (f": {each.figures}" if each.figures else "")
        for each in verdicts
    ]


def markdown_table(header: Sequence[str], rows: Rows) -> str:
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def markdown(bench: Bench, league: League, verdicts: Sequence[TargetVerdict], *, full: bool = False) -> str:
    """For a document: the gains, the league, the verdicts; `full` adds the best rivals of every cell."""
    parts = [seeds_line(bench) + "\n"]
    for title, header, rows in tables(league):
        parts.append(f"**{title[0].upper()}{title[1:]}**\n\n{markdown_table(header, rows)}")
    if full:
        table = markdown_table(*rival_rows(league))
        parts.append(f"**Best tuned rivals of every cell, % of the unit**\n\n{table}")
    parts.append("\n".join(f"- {line}" for line in verdict_lines(verdicts)) + "\n")
    parts.append(edge_line(bench, league) + "\n")
    return "\n".join(parts)


def seeds_line(bench: Bench) -> str:
    scored, tuning = bench.seeds.scored, bench.seeds.tuning
    line = f"Scored on seeds {scored[0]} to {scored[-1]}, tuned on seeds {tuning[0]} to {tuning[-1]}"
    return f"{line}; a win or a loss is more than 1 % with an interval beyond 0."


def edge_line(bench: Bench, league: League) -> str:
    """A choice at the end of its grid may have been better still outside: say how often that was."""
    contenders, tasks = {each.label: each for each in CONTENDERS}, {each.label: each for each in bench.tasks}
    best = [league.best(*place, (PUBLISHED, STRENGTHENED)) for place in league.cells]
    found = [each for each in best if each is not None]
    ends: dict[str, int] = {}
    for score in found:
        grid = grid_for(contenders[score.agent], tasks[score.problem], quick=bench.quick)
        for name, value in score.choice.items():
            numbers = grid.get(name, ())
            ends[name] = ends.get(name, 0) + (len(numbers) > 1 and value in (numbers[0], numbers[-1]))
    counts = ", ".join(f"{name} {count}" for name, count in ends.items() if count) or "none"
    return f"Choices of the {len(found)} best rivals at an end of their grid: {counts}."


# ---- files ----------------------------------------------------------------------------------------------


def files(bench: Bench, league: League, verdicts: Sequence[TargetVerdict]) -> dict[str, bytes]:
    cells = [_cell_row(each) for against in TITLES for each in league.comparisons(against)]
    scores = [_score_row(league, each) for cell in league.cells.values() for each in cell.values()]
    return {
        "scores.csv": csv_bytes(SCORES, scores),
        "cells.csv": csv_bytes(CELLS, cells),
        "league.json": json_bytes(content(bench, league, verdicts)),
        "league.md": markdown(bench, league, verdicts, full=True).encode(),
    }


def content(bench: Bench, league: League, verdicts: Sequence[TargetVerdict]) -> dict[str, Any]:
    """The league as data; the fields of scores and cells are the columns of their CSV files."""
    from adamb.host_sim.league.entries import core_digest
    from adamb.host_sim.provenance import spec_hash, version

    return {
        "quick": bench.quick,
        "seeds": list(bench.seeds.scored),
        "tune_seeds": list(bench.seeds.tuning),
        "version": version(),
        "spec_hash": spec_hash(),
        "core": core_digest(),
        "verdicts": [each.to_json() for each in verdicts],
        "cells": [
            dict(zip(CELLS, _cell_row(each), strict=True))
            for against in TITLES
            for each in league.comparisons(against)
        ],
        "scores": [
            dict(zip(SCORES, _score_row(league, each), strict=True))
            for cell in league.cells.values()
            for each in cell.values()
        ],
    }


def _cell_row(cell: Comparison) -> list[Any]:
    share = None if cell.ours.share is None else cell.ours.share.value
    rival = None if cell.rival.share is None else cell.rival.share.value
    gain = [None, None] if cell.gain is None else [cell.gain.value, cell.gain.ci95]
    return [cell.problem, cell.group, cell.budget_bytes, cell.against, share, cell.rival.agent, rival,
            cell.rival.bytes_peak, *gain, cell.outcome]  # fmt: skip


def _score_row(league: League, score: Score) -> list[Any]:
    share = [None, None] if score.share is None else [score.share.value, score.share.ci95]
    reward = None if score.share is None else float(score.reward.mean())
    return [
        score.problem, GROUP_OF[score.problem], score.episodes, score.budget_bytes, score.agent, score.kind,
        score.refused or "ok", reward, league.references[score.problem]["unit"], *share, score.above_chance,
        score.bytes_peak, score.restarts, json.dumps(dict(score.choice)),
    ]  # fmt: skip
