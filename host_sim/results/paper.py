"""What `adamb sweep paper` adds to the folder of a sweep: claims.json, and curves.json for drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adamb.host_sim.results.record import Record, read_record
from adamb.host_sim.runner import half_widths

CLAIMS_FILE, CURVES_FILE = "claims.json", "curves.json"


@dataclass
class ClaimRow:
    """One claim of the paper on one problem for one pair of algorithms."""

    claim: str
    statement: str
    problem: str
    compared: str
    figures: str
    difference: str
    holds: bool
    undecided: bool
    verdict: str
    seeds: int
    note: str = ""


@dataclass(kw_only=True)
class PaperClaims(Record):
    """claims.json."""

    seeds: list[int]
    note: str
    claims: list[ClaimRow]


@dataclass
class Line:
    """Means over the seeds with 95 % half widths."""

    mean: list[float]
    ci95: list[float]


@dataclass
class AgentCurves:
    """How one algorithm did on one problem; not every algorithm has leaves."""

    episode: list[int]
    reward: Line
    leaves: Line | None = None


@dataclass
class ProblemCurves:
    """The algorithms of a problem by name."""

    optimal: float | None
    agents: dict[str, AgentCurves]


@dataclass(kw_only=True)
class PaperCurves(Record):
    """curves.json."""

    problems: dict[str, ProblemCurves] = field(default_factory=dict)
    format: int = 1


@dataclass
class PaperFolder:
    """Both files; folders of earlier versions have no curves."""

    claims: PaperClaims
    curves: PaperCurves


def read_paper(folder: Path) -> PaperFolder | None:
    """None for a sweep that tested no claims."""
    claims, curves = folder / CLAIMS_FILE, folder / CURVES_FILE
    if not claims.is_file():
        return None
    drawn = read_record(PaperCurves, curves) if curves.is_file() else PaperCurves()
    return PaperFolder(read_record(PaperClaims, claims), drawn)


def problem_curves(found: Mapping[str, Any], optimal: float | None) -> ProblemCurves:
    """From algorithm -> episodes (points,), reward (seeds, points), leaves (seeds, points) or None."""
    agents = {
        agent: AgentCurves(at.tolist(), _line(reward), None if leaves is None else _line(leaves))
        for agent, (at, reward, leaves) in found.items()
    }
    return ProblemCurves(optimal, agents)


def _line(values: np.ndarray) -> Line:
    """Five digits: no screen shows more."""
    pair = (values.mean(axis=0), half_widths(values))
    mean, half = ([float(f"{number:.5g}") for number in column] for column in pair)
    return Line(mean, half)
