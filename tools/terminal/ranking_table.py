"""The agents of `adamb compare`: progress while they run, and tables afterwards; what planning gains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from adamb.firmware_model.host.sizes import format_bytes
from adamb.tools.measure.ranking import LAST, RECOVERED, WINDOW, Contender, Standing, compare
from adamb.tools.options import PlayedProblem, seeds_text
from adamb.tools.terminal import progress
from adamb.tools.terminal.frames import framed

if TYPE_CHECKING:
    from adamb.host_sim.studies.lookahead import PlanningValue, Played


def watched(task: PlayedProblem, line_up: Sequence[Contender], cap: int | None) -> list[Standing]:
    """Run every agent, with a line that shows the progress."""
    done: list[str] = []
    with progress("preparing") as say:

        def announce(label: str) -> None:
            done.append(label)
            say(f"{len(done)} of {len(line_up)}: {label}")

        return compare(task.make, line_up, cap, announce)


def table(task: PlayedProblem, rows: list[Standing], cap: int | None) -> Table:
    """The controller by cap, its baselines, the rules from best to worst, the optimum."""
    drift = "" if task.drift == "none" else f", drift {task.drift}"
    known = any(row.share is not None for row in rows)
    controller = rows[0].contender.label if cap is None else f"adamb {format_bytes(cap)}"
    raw = any(row.raw is not None for row in rows)
    headings = ["agent", "return", "own units", "of V*", f"− {controller}", "bytes"]
    if not known:
        headings.remove("of V*")
    if not raw:
        headings.remove("own units")
    title = f"{task.problem}: {task.episodes} episodes{drift}, last {min(LAST, task.episodes)}"

    def cells(row: Standing) -> list[str]:
        return _cells(row, known=known, raw=raw)

    return _by_kind(title, headings, rows, cells, footer(task, rows, cap))


def change_table(task: PlayedProblem, rows: list[Standing]) -> Table:
    """The effect of the change at half time on every agent; a table of its own, to fit a terminal."""
    change = task.episodes // 2
    headings = ["agent", f"{min(LAST, change)} before", f"{WINDOW} after", "back", "lead back", "seeds"]
    caption = (
        f"back: episodes after the change until the mean of {WINDOW} is {RECOVERED:.0%} of that before; lead "
        "back: the same for the lead over random play; in brackets the 95 % range over seeds, ∞ is never; "
        f"seeds: those whose end is at {RECOVERED:.0%} of their own level before"
    )
    title = f"{task.problem}: the change at episode {change}"
    return _by_kind(title, headings, rows, _change_cells, caption)


def _by_kind(
    title: str, headings: list[str], rows: list[Standing], cells: Callable[[Standing], list[str]], caption: str
) -> Table:
    view = framed(title, headings, caption)
    for kind in ("controller", "baseline", "rule", "optimum"):
        part = [row for row in rows if row.contender.kind == kind]
        if kind == "rule":
            part.sort(key=lambda row: 0.0 if row.level is None else -row.level.mean)
        for row in part:
            view.add_row(*cells(row), end_section=row is part[-1])
    return view


def _cells(row: Standing, *, known: bool, raw: bool) -> list[str]:
    if row.why_not is not None:
        return [_label(row), row.why_not]
    cells = [_label(row), str(row.level)]
    if raw:
        cells.append(str(row.raw))
    if known:
        cells.append("" if row.share is None else row.share.percent())
    return [*cells, "" if row.difference is None else str(row.difference), str(row.bytes_peak or "—")]


def _change_cells(row: Standing) -> list[str]:
    figures = (row.before, row.after, row.recovery, row.lead_recovery, row.seeds_back)
    return [_label(row), *("—" if value is None else str(value) for value in figures)]


def _label(row: Standing) -> str:
    return row.contender.label.removeprefix("rule:")


def footer(task: PlayedProblem, rows: list[Standing], cap: int | None) -> str:
    """What one must know to read and to repeat the table."""
    given = ", ".join(f"{name}={value}" for name, value in rows[0].contender.options)
    under = "without a cap" if cap is None else f"under {format_bytes(cap)}"
    lines = [
        f"seeds {seeds_text(task.seeds)}; mean return of an episode ± 95 % over {len(task.seeds)} seeds; "
        f"− adamb: paired difference to adamb {under}",
        f"adamb{' (' + given + ')' if given else ''} and baselines run with their default options, tuned to no "
        "problem; bytes: worst seed, for baselines of the 16-bit numbers a device would keep; — keeps nothing "
        "it has learned",
    ]
    if any(_label(row) == "static" for row in rows):
        lines.append("static: the best fixed action of each seed, found beforehand on the same first episodes")
    if any(row.raw is not None for row in rows):
        lines.append("own units: the same return as the environment counts it")
    if any(row.share is not None for row in rows):
        lines.append("of V*: return / exact optimum of the same start states")
    return "\n".join(lines)


def show_rules(played: PlayedProblem, cap: int | None, options: dict[str, Any], *, stderr: bool) -> None:
    """On a trace nothing says what could be earned, so the rules of the problem play it too."""
    from adamb.tools.measure.ranking import rules_beside
    from adamb.tools.stopping import stopped
    from adamb.tools.terminal.frames import table_console

    line_up = rules_beside(played.make(), cap, options)
    rows = watched(played, line_up, cap)
    table_console(stderr=stderr).print(table(played, rows, cap))
    if len(rows) < len(line_up):
        raise stopped(len(rows), len(line_up), "agents")


def planning_table(rows: list[PlanningValue], seeds: tuple[int, ...], episodes: int) -> Table:
    """The problems where looking ahead gains most come first."""
    caption = (
        f"seeds {seeds_text(seeds)}, {episodes} episodes each, the same random draws for all; "
        "means over seeds, 95 % intervals in the JSON\nV*: exact, ? no model is known; "
        "best: the play of the optimum or of the best rule known, static among them; "
        "static: the best constant action, found on other seeds\n"
        "planning: (best − myopic) / (best − random) ± 95 %; ? no myopic rule is known"
    )
    headings = ["problem", "V*", "best", "myopic", "static", "random", "planning"]
    view = framed("Value of planning", headings, caption)
    for row in sorted(rows, key=lambda row: -1.0 if row.share is None else row.share, reverse=True):
        exact = "?" if row.exact is None else f"{row.exact:.3f}"
        played = [_played(value) for value in (row.best, row.myopic, row.static, row.random)]
        view.add_row(row.problem, exact, *played, _share(row))
    return view


def _played(played: Played | None) -> str:
    return "?" if played is None else f"{played.mean:.3f}"


def _share(row: PlanningValue) -> str:
    if row.share is None:
        return "?"
    interval = row.share_half_width or 0.0
    return f"{100 * row.share:.1f} ± {100 * interval:.1f} %"
