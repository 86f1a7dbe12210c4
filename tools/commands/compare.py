"""`adamb compare PROBLEM`: the controller under several caps beside all rules and baselines, one table.

With --lookahead, how much looking ahead gains on each problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import parse_size
from adamb.tools import options
from adamb.tools.outputs import check_outputs, write_json
from adamb.tools.stopping import stopped
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.tools.measure.ranking import Standing

BUDGETS = "1KiB,2KiB,4KiB,8KiB,24KiB,32KiB"
EPISODES, SEEDS = 2000, "10"
LOOKAHEAD_EPISODES, LOOKAHEAD_SEEDS = 20, "20"
EXAMPLE = (
    "Example: adamb compare dram-lite --seeds 20; adamb compare cache-lite --set drift=half --json -; "
    "adamb compare --lookahead dram-lite dram-drain"
)


def register(app: typer.Typer) -> None:
    app.command(name="compare", epilog=EXAMPLE, rich_help_panel="Experiments")(compare)


def compare(
    problems: Annotated[
        list[str] | None, typer.Argument(metavar="PROBLEM...", help="dram-lite, …; several only for --lookahead")
    ] = None,
    budgets: Annotated[str, typer.Option("--budgets", help="caps of adamb, separated by commas")] = BUDGETS,
    cap: Annotated[
        str, typer.Option("--cap", help="cap of the baselines, and of the adamb row others are compared with")
    ] = "4KiB",
    agents: Annotated[
        str | None,
        typer.Option("--agents", help="these rules and baselines, with commas; all,file.py:Class adds one to all"),
    ] = None,
    agent_set: options.AgentSettings = None,
    episodes: Annotated[int | None, typer.Option("--episodes", help="episodes K [2000; 20 with --lookahead]")] = None,
    seeds: Annotated[
        str | None, typer.Option("--seeds", help="how many, or which: 20, 100..119 [10; 20 with --lookahead]")
    ] = None,
    parameter: options.Settings = None,
    lookahead: Annotated[
        bool, typer.Option("--lookahead", help="only V*, the best, myopic, static and random play: what planning gains")
    ] = False,
    json: options.Json = None,
) -> None:
    """Compare the controller with standard heuristics and baselines on the same random draws.

    With --lookahead the value of looking ahead on problems, on all of them where none is named.
    """
    if lookahead:
        chosen = options.seed_range(LOOKAHEAD_SEEDS if seeds is None else seeds)
        return _lookahead(problems, chosen, LOOKAHEAD_EPISODES if episodes is None else episodes, parameter, json)
    if len(problems or ()) != 1:
        raise InputError("problem", " ".join(problems or ()), "name one problem; --lookahead takes several")
    played = options.PlayedProblem.of(
        (problems or [""])[0],
        options.seed_range(SEEDS if seeds is None else seeds),
        options.bounded("episodes", EPISODES if episodes is None else episodes, 1, 1_000_000),
        parameter,
    )
    return _compare(played, budgets, parse_size(cap, "cap"), agents, options.agent_settings(agent_set), json)


def _compare(
    task: options.PlayedProblem, budgets: str, cap: int, agents: str | None, given: dict[str, Any], json: str | None
) -> None:
    from adamb.tools.measure import ranking
    from adamb.tools.terminal import notes, tell
    from adamb.tools.terminal.ranking_table import change_table, table, watched

    ranking.check_episodes(task.episodes, task.drift)
    check_outputs(json)
    line_up = ranking.contenders(task.make(), parse_budgets(budgets), cap, given)
    if agents is not None:
        line_up = ranking.chosen(line_up, options.words("agents", agents), cap)
    with notes():
        rows = watched(task, line_up, cap)
    console = table_console(stderr=json == "-")
    console.print(table(task, rows, cap))
    if task.drift == "half":
        console.print(change_table(task, rows))
    tell(rows[0].notes)
    write_json(json, _content(task, rows, cap))
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


def _lookahead(
    problems: list[str] | None, seeds: tuple[int, ...], episodes: int, parameter: list[str] | None, json: str | None
) -> None:
    """V* beside the best myopic, the best static and random play."""
    from adamb.host_sim.problems import problem_class, problem_names
    from adamb.host_sim.studies.lookahead import PlanningValue, value_of_planning
    from adamb.tools.terminal import progress
    from adamb.tools.terminal.ranking_table import planning_table

    options.bounded("episodes", episodes, 1, 100_000)
    names = problems or problem_names()
    for name in names:
        problem_class(name)
    check_outputs(json)
    rows: list[PlanningValue] = []
    with progress("preparing") as say:
        try:
            for name in names:
                say(f"{len(rows) + 1} of {len(names)}: {name}")
                world = options.PlayedProblem.of(name, seeds, episodes, parameter).world
                rows.append(value_of_planning(name, seeds=seeds, episodes=episodes, **world))
        except KeyboardInterrupt:
            if not rows:
                raise
    table_console(stderr=json == "-").print(planning_table(rows, seeds, episodes))
    write_json(json, {"seeds": list(seeds), "episodes": episodes, "rows": [row.as_dict() for row in rows]})
    if len(rows) < len(names):
        raise stopped(len(rows), len(names), "problems")
