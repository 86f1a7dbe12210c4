"""The tables that `adamb sweep paper` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adamb.host_sim.studies.claims import CLAIMS, Scores, Verdict, tally
from adamb.host_sim.studies.times import OURS
from adamb.host_sim.sweep.spec import Cell, SweepSpec
from adamb.tools.measure import paper_times

if TYPE_CHECKING:
    from rich.table import Table

VARIANTS = ("AdaMB γ=1", "AdaMB γ=4", "AdaMB γ, φ of theory", "AdaMB full", "AdaMB fresh")


def score_tables(scores: Scores) -> list[Table]:
    """The algorithms side by side, then AdaMB beside its variants."""
    variants = [name for name in scores.agents if name in VARIANTS]
    algorithms = [name for name in scores.agents if name not in VARIANTS]
    found = [_scores(scores, algorithms, "reward per episode (leaves); the best of each problem in bold")]
    if variants:
        found.append(_scores(scores, ["AdaMB", *variants], "the same for variants of AdaMB"))
    return found


def _scores(scores: Scores, agents: Sequence[str], title: str) -> Table:
    rows = plain_table(title)
    rows.add_column("problem")
    for agent in agents:
        rows.add_column(agent, justify="right")
    for problem in scores.problems:
        means = {
            agent: scores.mean(problem, agent, "reward_per_episode")
            for agent in agents
            if scores.has(problem, agent)
        }
        best = max(means, key=lambda agent: means[agent].mean)
        texts = []
        for agent in agents:
            if agent not in means:
                texts.append("–")
                continue
            half = f" ± {means[agent].ci95:.3f}" if means[agent].ci95 else ""
            text = f"{means[agent].mean:.3f}{half}\n({scores.mean(problem, agent, 'leaves').mean:.0f})"
            texts.append(f"[bold]{text}[/]" if agent == best else text)
        rows.add_row(f"{problem}\nV* = {scores.optimal(problem):.3f}", *texts)
    return rows


def time_table(times: paper_times.Times, length: paper_times.Length) -> Table:
    """All in the same language and in doubles, but for the rows that are marked as ours."""
    title = (
        f"agent time, µs a step ({length.episodes} episodes, {paper_times.LEARNERS} learners together, c = 1)"
    )
    rows = plain_table(f"{title}; compiled, in doubles; (ours): the integer core")
    for heading in ("problem", "algorithm", "mean", "fastest", "× AdaQL", "paper, s a run", "× AdaQL"):
        rows.add_column(heading, justify="left" if heading in ("problem", "algorithm") else "right")
    for row in paper_times.table_rows(times, length):
        problem, agent, mean, half, fastest, *others = row
        ratio, printed, paper = ("" if value is None else f"{value:.2f}" for value in others[:3])
        name = f"{agent} (ours)" if agent in OURS else agent
        rows.add_row(problem, name, f"{mean:.3f} ± {half:.3f}", f"{fastest:.3f}", ratio, printed, paper)
    return rows


def claim_tables(verdicts: Sequence[Verdict]) -> list[Table]:
    """A table for each claim."""
    found = []
    for claim in dict.fromkeys(each.claim for each in verdicts):
        rows = plain_table(f"claim: {CLAIMS[claim]}")
        noted = any(each.note for each in verdicts if each.claim == claim)
        headings = ["problem", "compared", "figures", "difference", "seeds", "verdict", *["note"] * noted]
        for heading in headings:
            rows.add_column(heading, justify="right" if heading == "seeds" else "left")
        for each in verdicts:
            if each.claim == claim:
                shown = (each.problem, each.compared, each.figures, each.difference, str(each.seeds))
                judged = f"[{'green' if each.holds else 'red'}]{each.verdict}[/]"
                rows.add_row(*shown, judged, *[each.note] * noted)
        found.append(rows)
    return found


def tally_lines(verdicts: Sequence[Verdict]) -> list[str]:
    lines = []
    for claim, compared, holds, undecided, count in tally(verdicts):
        open_ones = f", undecided on {undecided}" if undecided else ""
        lines.append(f"{claim}: {CLAIMS[claim]} ({compared}): holds on {holds} of {count}{open_ones}")
    return lines


def edge_line(spec: SweepSpec, results: Sequence[tuple[Cell, Any]]) -> str:
    """A constant at the end of the range may have its best value outside: say where."""
    grid = spec.values.get("bonus_grid", ())
    chosen = {(cell.problem_label, cell.agent_label): cell.bonus for cell, _ in results}
    tuned = {(cell.problem_label, cell.agent_label) for cell in spec.cells if cell.tune}
    ends = [place for place in chosen if place in tuned and grid and chosen[place] in (min(grid), max(grid))]
    listed = "; ".join(f"{agent} on {problem} ({chosen[problem, agent]})" for problem, agent in ends)
    found = f"tuned constants at an end of the grid: {len(ends)} of {len(tuned)}"
    return f"{found}: {listed}" if ends else found


def plain_table(title: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
