"""The section about the paper's claims: on how many problems each holds, every test, and the curves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from adamb.host_sim.results.paper import AgentCurves, ClaimRow, PaperFolder
from adamb.tools.report import markup
from adamb.tools.report.markup import Section, panel, small_title
from adamb.tools.report.sources import SweepSource


def claims(sweeps: Sequence[SweepSource]) -> Section | None:
    """Of the sweeps that tested them."""
    shown = [(i, source, source.paper) for i, source in enumerate(sweeps) if source.paper is not None]
    if not shown:
        return None
    body = ""
    for i, source, paper in shown:
        body += markup.title(source.label) if len(shown) > 1 else ""
        body += panel(small_title("On how many problems each claim holds"), _tally(paper.claims.claims))
        body += _curves(i, paper)
        body += panel(small_title("Every test"), _tests(paper.claims.claims)) + markup.hint(paper.claims.note)
    lead = "What the paper says of its algorithms, each claim decided by paired seeds and a 95 % interval."
    return markup.section("claims", "The paper's claims", lead, body)


def _tally(rows: Sequence[ClaimRow]) -> str:
    groups: dict[tuple[str, str], list[ClaimRow]] = {}
    for row in rows:
        groups.setdefault((row.statement, row.compared), []).append(row)
    listed = []
    for (statement, compared), group in groups.items():
        counts = (sum(row.holds for row in group), sum(row.undecided for row in group), len(group))
        listed.append([escape(statement), escape(compared), *map(str, counts)])
    return markup.table(["claim", "compared", ">holds on", ">undecided on", ">of problems"], listed)


def _tests(rows: Sequence[ClaimRow]) -> str:
    listed = [
        [*map(escape, (row.claim, row.problem, row.compared, row.figures, row.difference)), str(row.seeds),
         escape(row.verdict), escape(row.note)]
        for row in rows
    ]  # fmt: skip
    classes = ["good" if row.holds else "" if row.undecided else "poor" for row in rows]
    headings = ["claim", "problem", "compared", "figures", "difference", ">seeds", "verdict", "note"]
    return markup.long_table(headings, listed, classes)


def _curves(i: int, paper: PaperFolder) -> str:
    if not paper.curves.problems:
        return markup.hint(
            "This folder has no curves.json; the sweep's command adds it without playing again."
        )
    charts = (
        panel(small_title("Reward per episode"), markup.chart(f"paper-{i}-reward", "reward per episode")),
        panel(small_title("Leaves of all steps"), markup.chart(f"paper-{i}-leaves", "leaves of all steps")),
    )
    return markup.picker(f"paper-{i}-problem", "Problem", list(paper.curves.problems)) + markup.side_by_side(
        *charts
    )


def paper_payload(source: SweepSource) -> list[dict[str, Any]] | None:
    """For each problem the curves of its algorithms."""
    if source.paper is None:
        return None
    return [
        {
            "problem": problem,
            "optimal": found.optimal,
            "agents": [_agent(name, curves) for name, curves in found.agents.items()],
        }
        for problem, found in source.paper.curves.problems.items()
    ]


def _agent(name: str, curves: AgentCurves) -> dict[str, Any]:
    lines = {"reward": curves.reward, "leaves": curves.leaves}
    drawn = {
        kind: {
            "mean": line.mean,
            "low": _shifted(line.mean, line.ci95, -1),
            "high": _shifted(line.mean, line.ci95, 1),
        }
        for kind, line in lines.items()
        if line is not None
    }
    return {"name": name, "episode": curves.episode, **drawn}


def _shifted(mean: list[float], half: list[float], sign: int) -> list[float]:
    return [round(value + sign * width, 5) for value, width in zip(mean, half, strict=True)]
