"""`adamb compare PROBLEM`: the controller under several caps beside all baselines and rivals, one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import parse_size
from adamb.tools import options
from adamb.tools.outputs import check_outputs, write_json
from adamb.tools.stopping import stopped
from adamb.tools.terminal.frames import table_console
from adamb.tools.terminal.notes import notes

if TYPE_CHECKING:
    from adamb.tools.measure.standings import Standing

BUDGETS = "1KiB,2KiB,4KiB,8KiB,24KiB,32KiB"
EXAMPLE = "Example: adamb compare dram-lite --seeds 20; adamb compare cache-lite --drift half --json -"


def register(app: typer.Typer) -> None:
    app.command(name="compare", epilog=EXAMPLE)(compare)


def compare(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="dram-lite, cache-2x1, oil-laplace, …")],
    budgets: Annotated[str, typer.Option("--budgets", help="caps of adamb, separated by commas")] = BUDGETS,
    cap: Annotated[
        str, typer.Option("--cap", help="cap of the rivals, and of the adamb row others are compared with")
    ] = "4KiB",
    when_full: Annotated[
        str | None, typer.Option("--when-full", help="another choice for adamb: reclaim or freeze")
    ] = None,
    core: Annotated[str | None, typer.Option("--core", help=options.CORE_HELP)] = None,
    only: Annotated[
        str | None, typer.Option("--only", help="these baselines and rivals instead of all, with commas")
    ] = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="one more rival at --cap: a name, or file.py:Class")
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K")] = 2000,
    horizon: Annotated[int | None, typer.Option("--horizon", help="steps H of an episode")] = None,
    seeds: options.Seeds = 10,
    seed_base: options.SeedBase = 0,
    instance: options.Instance = "random",
    drift: Annotated[
        str, typer.Option("--drift", help="none, half (also measures recovery) or walk")
    ] = "none",
    continuing: Annotated[
        bool, typer.Option("--continuing", help="an episode starts where the last ended")
    ] = False,
    parameter: options.Parameters = None,
    trace: options.Traces = None,
    json: options.Json = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare the controller with standard heuristics and rivals on the same random draws."""
    from adamb.tools.measure import standings
    from adamb.tools.terminal.notes import tell
    from adamb.tools.terminal.standings_table import change_table, table, watched

    sizes, most = parse_budgets(budgets), parse_size(cap, "cap")
    task = options.PlayedProblem(
        problem,
        options.seed_range(seeds, seed_base),
        options.bounded("episodes", episodes, 1, 1_000_000),
        instance,
        drift,
        continuing,
        None if horizon is None else options.bounded("horizon", horizon, 1, 1000),
        options.with_traces(problem, options.pairs("set", parameter), trace),
    )
    standings.check_episodes(task.episodes, drift)
    check_outputs(json, force=force)
    chosen = options.given(when_full=when_full, core=core)
    line_up = standings.contenders(task.make(), sizes, most, chosen, agent or ())
    if only is not None:
        line_up = standings.chosen(line_up, [*options.words("only", only), *(agent or ())])
    with notes(quiet):
        rows = watched(task, line_up, most, quiet=quiet)
    console = table_console(stderr=json == "-")
    console.print(table(task, rows, most))
    if drift == "half":
        console.print(change_table(task, rows))
    tell(rows[0].notes)
    write_json(json, _content(task, rows, most))
    if len(rows) < len(line_up):
        raise stopped(len(rows), len(line_up), "agents")


def parse_budgets(text: str) -> list[int]:
    """Caps in bytes from `1KiB,4KiB`; at least one."""
    sizes = [parse_size(part, "budgets") for part in text.split(",") if part.strip()]
    if not sizes:
        raise InputError("budgets", text, "write sizes separated by commas, such as 1KiB,4KiB")
    return sizes


def _content(task: options.PlayedProblem, rows: list[Standing], cap: int) -> dict[str, object]:
    return {
        "problem": task.problem,
        "instance": task.instance,
        "drift": task.drift,
        "episodes": task.episodes,
        "horizon": task.horizon,
        "seeds": list(task.seeds),
        "parameters": task.parameters,
        "cap_bytes": cap,
        "rows": [row.to_json() for row in rows],
    }
