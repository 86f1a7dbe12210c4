"""A sweep as tables for people: a line per combination, or agents against budgets with the best in bold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from adamb.budgets.sizes import format_bytes, format_cap

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.host_sim.sweep.spec import SweepSpec
    from adamb.host_sim.sweep.tables import Combination

KNOWING = ("optimal", "static")
"""Agents that know the model or searched it beforehand: shown, but not compared as learners."""


def long_table(spec: SweepSpec, found: list[Combination]) -> Table:
    """One line per combination; intervals are 95 % over the seeds."""
    rows = _table(spec.name)
    with_bonus = any(each.bonus is not None for each in found)
    words = ("problem", "agent", "bonus") if with_bonus else ("problem", "agent")
    for heading in (*words, "cap", "reward", "of V*", "bytes"):
        rows.add_column(heading, justify="left" if heading in words else "right")
    for each in found:
        bonus = ["" if each.bonus is None else str(each.bonus)] if with_bonus else []
        rows.add_row(
            each.problem,
            each.agent,
            *bonus,
            format_cap(each.budget_bytes),
            _reward(each),
            "" if each.share is None else f"{100 * each.share.value:.1f} %",
            "" if each.bytes_peak is None else format_bytes(each.bytes_peak),
        )
    return rows


def _reward(each: Combination) -> str:
    return "does not fit" if each.refused else str(each.reward)


class Grid:
    """Agents × budgets of one problem; a learner is best in a column by its mean."""

    def __init__(self, spec: SweepSpec, problem: str, found: list[Combination]) -> None:
        mine = [each for each in found if each.problem == problem]
        self.problem, self.seeds = problem, max(each.seeds for each in mine)
        self.shares = bool(spec.values.get("shares"))
        self.budgets = list(dict.fromkeys(each.budget_bytes for each in mine))
        self.rows: dict[str, dict[int | None, Combination]] = {}
        for each in mine:
            bonus = "" if each.bonus is None or _tuned(spec, each.agent) else f", c = {each.bonus}"
            self.rows.setdefault(each.agent + bonus, {})[each.budget_bytes] = each
        knowing = {cell.agent_label for cell in spec.cells if cell.agent in KNOWING}
        self.best = {budget: self._best(budget, knowing) for budget in self.budgets}
        known = (each.estimates["optimal"] for each in mine)
        self.optimum = next((value.mean for value in known if value is not None), None)
        self.title = problem if self.optimum is None else f"{problem}, V* = {self.optimum:.3f}"

    def _best(self, budget: int | None, knowing: set[str]) -> Combination | None:
        rivals = [row[budget] for row in self.rows.values() if budget in row]
        rivals = [each for each in rivals if each.reward is not None and each.agent not in knowing]
        return max(rivals, key=lambda each: each.reward.mean if each.reward else 0.0, default=None)

    def cells(self, row: dict[int | None, Combination]) -> Iterable[tuple[str, bool]]:
        """Text of each budget, and whether it is the column's best."""
        for budget in self.budgets:
            each = row.get(budget)
            yield ("", False) if each is None else (_short(each, self.shares), each is self.best[budget])


def _short(each: Combination, shares: bool) -> str:
    if each.reward is None:
        return "–"
    half = "" if each.reward.ci95 is None else f" ± {each.reward.ci95:.3f}"
    share = f", {100 * each.share.value:.1f} %" if shares and each.share is not None else ""
    return f"{each.reward.mean:.3f}{half}{share}"


def _tuned(spec: SweepSpec, label: str) -> bool:
    return any(cell.tune for cell in spec.cells if cell.agent_label == label)


def grids(spec: SweepSpec, found: list[Combination]) -> list[Grid]:
    return [Grid(spec, problem, found) for problem in dict.fromkeys(each.problem for each in found)]


def grid_table(grid: Grid) -> Table:
    rows = _table(grid.title)
    rows.add_column("agent")
    for budget in grid.budgets:
        rows.add_column(format_cap(budget), justify="right")
    for label, row in grid.rows.items():
        rows.add_row(label, *(f"[bold]{text}[/]" if best else text for text, best in grid.cells(row)))
    return rows


def markdown(spec: SweepSpec, found: list[Combination]) -> str:
    """For a document: problems side by side at one budget, or a table of budgets for each problem."""
    every = grids(spec, found)
    budgets = {each.budget_bytes for each in found}
    lines = [_note(spec), ""]
    if len(budgets) == 1:
        lines += _side_by_side(every, budgets.pop())
    for grid in every if len(budgets) > 1 else ():
        lines += [f"**{grid.title}**", "", f"| agent | {' | '.join(map(format_cap, grid.budgets))} |"]
        lines.append("|---|" + "---|" * len(grid.budgets))
        lines += [_markdown_row(label, list(grid.cells(row))) for label, row in grid.rows.items()]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _side_by_side(every: list[Grid], budget: int | None) -> list[str]:
    """Agents × problems, with the mean share of the optimum at the end of each line where V* is known."""
    from adamb.host_sim.ratios import average, in_percent

    known = all(grid.optimum for grid in every)
    problems = " | ".join([grid.problem for grid in every] + ["mean share of V*"] * known)
    lines = [f"| {format_cap(budget)} | {problems} |", "|---|" + "---|" * (len(every) + known)]
    for label in dict.fromkeys(label for grid in every for label in grid.rows):
        cells = [next(iter(grid.cells(grid.rows.get(label, {})))) for grid in every]
        shares = [each.share for grid in every for each in grid.rows.get(label, {}).values()]
        given = [share for share in shares if share is not None]
        mean = f"{in_percent(average(given))} %" if len(given) == len(every) else "–"
        lines.append(_markdown_row(label, cells + [(mean, False)] * known))
    if known:
        best = [(f"{grid.optimum:.3f}", False) for grid in every]
        lines.append(_markdown_row("optimum V*", [*best, ("100 %", False)]))
    return lines


def _markdown_row(label: str, cells: list[tuple[str, bool]]) -> str:
    return f"| {label} | {' | '.join(f'**{text}**' if best else text for text, best in cells)} |"


def _note(spec: SweepSpec) -> str:
    cell = spec.cells[0]
    note = f"Reward per episode, {cell.episodes} episodes, seeds {spec.seeds[0]} to {spec.seeds[-1]}"
    note += ", 95 % intervals over the seeds; – does not fit."
    if spec.values.get("shares"):
        note += "\nPer cent are of V*."
    if any(each.tune for each in spec.cells):
        tuned = spec.tune_seeds
        note += f" Tuned options are chosen per problem and budget on seeds {tuned[0]} to {tuned[-1]}."
    return note


def _table(title: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
