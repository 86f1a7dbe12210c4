"""`adamb lookahead`: how much looking ahead gains on each problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from adamb.tools import options
from adamb.tools.outputs import check_outputs, write_json
from adamb.tools.stopping import stopped
from adamb.tools.terminal.frames import framed, table_console
from adamb.tools.terminal.waiting import waiting

if TYPE_CHECKING:
    from adamb.host_sim.studies.lookahead import PlanningValue, Played

EXAMPLE = "Example: adamb lookahead dram-lite dram-drain --seeds 40; adamb lookahead --json -"


def register(app: typer.Typer) -> None:
    app.command(name="lookahead", epilog=EXAMPLE)(lookahead)


def lookahead(
    problems: Annotated[
        list[str] | None, typer.Argument(metavar="[PROBLEM]...", help="problems; without any, all of them")
    ] = None,
    seeds: options.Seeds = 20,
    seed_base: options.SeedBase = 0,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes of each way to play")] = 20,
    instance: options.Instance = "random",
    parameter: options.Parameters = None,
    trace: options.Traces = None,
    quiet: options.Quiet = False,
    json: options.Json = None,
    force: options.Force = False,
) -> None:
    """Value of looking ahead: V* beside the best myopic, the best static and random play."""
    from adamb.host_sim.registry import problem_class, problem_names
    from adamb.host_sim.studies.lookahead import value_of_planning

    chosen = options.seed_range(seeds, seed_base)
    options.bounded("episodes", episodes, 1, 100_000)
    names = problems or problem_names()
    for name in names:
        problem_class(name)
    check_outputs(json, force=force)
    given = options.pairs("set", parameter)
    rows: list[PlanningValue] = []
    with waiting("preparing", quiet=quiet) as say:
        try:
            for name in names:
                say(f"{len(rows) + 1} of {len(names)}: {name}")
                params = options.with_traces(name, given, trace)
                played: Any = {"seeds": chosen, "episodes": episodes, "instance": instance}
                rows.append(value_of_planning(name, params=params, **played))
        except KeyboardInterrupt:
            if not rows:
                raise
    table_console(stderr=json == "-").print(table(rows, chosen, episodes))
    write_json(json, {"seeds": list(chosen), "episodes": episodes, "rows": [row.as_dict() for row in rows]})
    if len(rows) < len(names):
        raise stopped(len(rows), len(names), "problems")


def table(rows: list[PlanningValue], seeds: tuple[int, ...], episodes: int) -> Table:
    """The problems where looking ahead gains most come first."""
    caption = (
        f"seeds {options.seeds_text(seeds)}, {episodes} episodes each, the same random draws for all; "
        "means over seeds, 95 % intervals in the JSON\nV*: exact, ? no model is known; "
        "best: the play of the optimum or of the best rule known, static among them; "
        "static: the best constant action, found on other seeds\n"
        "planning: (best − myopic) / (best − random) ± 95 %; ? no myopic rule is known"
    )
    headings = ["problem", "V*", "best", "myopic", "static", "random", "planning"]
    view = framed("Value of planning", headings, caption)
    for row in sorted(rows, key=lambda row: -1.0 if row.share is None else row.share, reverse=True):
        exact = "?" if row.exact is None else f"{row.exact:.3f}"
        played = [_mean(value) for value in (row.best, row.myopic, row.static, row.random)]
        view.add_row(row.problem, exact, *played, _share(row))
    return view


def _mean(played: Played | None) -> str:
    return "?" if played is None else f"{played.mean:.3f}"


def _share(row: PlanningValue) -> str:
    if row.share is None:
        return "?"
    interval = row.share_half_width or 0.0
    return f"{100 * row.share:.1f} ± {100 * interval:.1f} %"
