"""The section about a league: its targets, who won where, bytes against reward, and every score."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from adamb.budgets.sizes import format_cap
from adamb.host_sim.league.protocol import OURS, OWN, UNTUNED, kind_of
from adamb.host_sim.results.league import CellRow, LeagueResult, ScoreRow
from adamb.tools.report.markup import (
    Section,
    chart,
    hint,
    long_table,
    panel,
    picker,
    section,
    small_title,
    table,
    title,
)
from adamb.tools.report.sources import LeagueSource
from adamb.tools.report.verdicts import number

MARKS = {"holds": "good", "does not hold": "poor"}


def leagues_section(found: Sequence[LeagueSource]) -> Section | None:
    if not found:
        return None
    body = ""
    for i, source in enumerate(found):
        league = source.league
        body += title(source.label) if len(found) > 1 else ""
        body += panel(small_title("Gain in % over the best tuned rival"), _gains(league, "all"))
        if any(row.against == OWN for row in league.cells):
            body += panel(small_title("Gain in % over the best agent of your own"), _gains(league, OWN))
        names = list(dict.fromkeys(row.problem for row in league.scores))
        drawn = picker(f"league-{i}-problem", "Problem", names) + chart(f"league-{i}", "bytes against reward")
        body += panel(small_title("Bytes against reward"), drawn)
        body += panel(small_title("Targets"), _targets(league))
        body += panel(small_title("Every score"), _scores(league))
    lead = (
        "One controller that is not tuned against rivals that are, for every problem and cap, at equal bytes."
    )
    return section("league", "League", lead, body)


def _gains(league: LeagueResult, against: str) -> str:
    cells = {(row.problem, row.budget_bytes): row for row in league.cells if row.against == against}
    caps = sorted({cap for _, cap in cells if cap is not None})
    caps_and_none: list[int | None] = [*caps, *([None] if any(cap is None for _, cap in cells) else [])]
    rows = [
        [escape(problem), *(_gain(cells.get((problem, cap))) for cap in caps_and_none)]
        for problem in dict.fromkeys(problem for problem, _ in cells)
    ]
    if not rows:
        return hint("No cell has both the controller and a tuned rival.")
    return table(["problem", *(f">{format_cap(cap)}" for cap in caps_and_none)], rows)


def _gain(cell: CellRow | None) -> str:
    if cell is None:
        return ""
    text = "does not fit" if cell.gain is None else f"{100 * cell.gain:+.1f}"
    if cell.gain is not None and cell.gain_ci95 is not None:
        text += f" ± {100 * cell.gain_ci95:.1f}"
    kind = cell.outcome if cell.outcome in ("win", "loss") else ""
    return f'<span class="{kind}" title="{escape(cell.rival)}">{escape(text)} {escape(cell.outcome)}</span>'


def _targets(league: LeagueResult) -> str:
    rows = [
        [escape(word) for word in (row.target, row.statement, row.against, row.figures, row.verdict)]
        for row in league.verdicts
    ]
    classes = [MARKS.get(row.verdict, "") for row in league.verdicts]
    return table(["target", "what it asks", "against", "figures", "verdict"], rows, classes)


def _scores(league: LeagueResult) -> str:
    rows = [_score(row) for row in league.scores]
    classes = ["bad" if row.over_budget else "" for row in league.scores]
    headings = ["problem", "agent", "class", ">cap", ">% of the unit", "unit", ">reward", ">peak bytes"]
    return long_table(headings, rows, classes)


def _score(row: ScoreRow) -> list[str]:
    half = "" if row.score_ci95 is None else f" ± {100 * row.score_ci95:.1f}"
    share = escape(row.status) if row.score is None else f"{100 * row.score:.1f}{half}"
    return [
        *(escape(word) for word in (row.problem, row.agent, kind_of(row.agent))),
        "none" if row.budget_bytes is None else number(row.budget_bytes),
        share,
        escape(row.unit),
        "" if row.reward_mean is None else f"{row.reward_mean:.3f}",
        "" if row.bytes_peak is None else number(row.bytes_peak),
    ]


def league_payload(source: LeagueSource) -> dict[str, Any]:
    """For each problem a line of points for each contender, by rising bytes."""
    panels: dict[str, Any] = {}
    rows = [row for row in source.league.scores if row.score is not None and row.bytes_peak]
    for row in sorted(rows, key=lambda each: each.bytes_peak or 0):
        shown = panels.setdefault(row.problem, {"problem": row.problem, "unit": row.unit, "agents": {}})
        agent = shown["agents"].setdefault(
            row.agent, {"name": row.agent, "bytes": [], "share": [], "cap": []}
        )
        agent["bytes"].append(row.bytes_peak)
        agent["share"].append(row.score)
        agent["cap"].append(format_cap(row.budget_bytes))
        agent["ours"] = 2 if row.agent == UNTUNED else int(kind_of(row.agent) == OURS)
    order = list(dict.fromkeys(row.problem for row in source.league.scores))
    found = [
        {**panels[problem], "agents": list(panels[problem]["agents"].values())} if problem in panels else None
        for problem in order
    ]
    return {"label": source.label, "panels": found}
