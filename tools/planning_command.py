"""`adamb planning`: where looking ahead pays, so that learners that plan are judged where it does."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.tools import trace_option

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.host_sim.planning_value import PlanningValue, Played

EXAMPLE = "Example: adamb planning dram-lite dram-drain --seeds 40; adamb planning --json -"


def register(app: typer.Typer) -> None:
    app.command(name="planning", epilog=EXAMPLE)(planning)


def planning(
    problems: Annotated[
        list[str] | None, typer.Argument(metavar="[PROBLEM]...", help="problems; without any, all of them")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="how many seeds run together")] = 20,
    seed_base: Annotated[int, typer.Option("--seed-base", help="the first seed")] = 0,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes of each way to play")] = 20,
    instance: Annotated[str, typer.Option("--instance", help="random or paper")] = "random",
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="a parameter of the problems, k=v")
    ] = None,
    trace: Annotated[list[str] | None, typer.Option("--trace", help=trace_option.HELP)] = None,
    json: Annotated[str | None, typer.Option("--json", help="write JSON to a file, - is stdout")] = None,
    force: Annotated[bool, typer.Option("--force", help="replace a file that is there already")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress display")] = False,
) -> None:
    """Value of planning: V* beside the best myopic, the best static and random play."""
    from rich.console import Console

    from adamb.host_sim.planning_value import planning_table
    from adamb.host_sim.registry import problem_class, problem_names
    from adamb.tools import outputs
    from adamb.tools.run_command import bounded, pairs, seed_range

    chosen = seed_range(seeds, seed_base)
    bounded("episodes", episodes, 1, 100_000)
    names = problems or problem_names()
    for name in names:
        problem_class(name)
    outputs.refuse_to_overwrite([] if json in (None, "-") else [Path(str(json))], force=force)
    given = pairs("set", parameter)
    rows: list[PlanningValue] = []
    with nullcontext() if quiet else Console(stderr=True).status("preparing") as status:
        for name in names:
            if status is not None:
                status.update(f"{len(rows) + 1} of {len(names)}: {name}")
            rows += planning_table(
                [name],
                seeds=chosen,
                episodes=episodes,
                params=trace_option.with_traces(name, given, trace),
                instance=instance,
            )
    Console(stderr=json == "-").print(table(rows, chosen, episodes))
    content = outputs.json_bytes(
        {"seeds": list(chosen), "episodes": episodes, "rows": [row.as_dict() for row in rows]}
    )
    if json == "-":
        sys.stdout.write(content.decode())
    elif json is not None:
        outputs.write_atomic(Path(json), content)


def table(rows: list[PlanningValue], seeds: tuple[int, ...], episodes: int) -> Table:
    """The problems where planning is worth most come first."""
    from rich import box
    from rich.table import Table

    from adamb.tools.summary import seeds_text

    caption = (
        f"seeds {seeds_text(seeds)}, {episodes} episodes each, the same luck for all; means over seeds, 95 % "
        "intervals in the JSON\nV*: exact, ? no model is known; best: the optimum's play, or the best "
        "baseline known; static: the best constant action, found on other seeds\n"
        "planning: (best − myopic) / (best − random) ± 95 %; ? no myopic rule is known"
    )
    view = Table(
        title="Value of planning", title_justify="left", title_style="bold", caption=caption,
        caption_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), collapse_padding=True,
    )  # fmt: skip
    for heading in ("problem", "V*", "best", "myopic", "static", "random", "planning"):
        view.add_column(heading, justify="left" if heading == "problem" else "right", no_wrap=True)
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
