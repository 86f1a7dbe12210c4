"""`adamb profile PROBLEM`: memory over a long run beside the bounds that must hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import parse_size
from adamb.tools.exit_codes import OK, VIOLATED
from adamb.tools.options import bounded, default_folder, given, of_controller, pairs, seed_range
from adamb.tools.options import in_panel as _option
from adamb.tools.outputs import check_outputs, save, write_json
from adamb.tools.stopping import stopped
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.host_sim.results.profile import ProfileSummary
    from adamb.tools.measure.memory_growth import Profile

EXAMPLE = "Example: adamb profile oil-laplace --episodes 100000 --seeds 20 --plot --out runs/profile"
PLOTS = ("profile.png", "profile.svg")
MODES = {"both": ("tracking", "paper"), "tracking": ("tracking",), "paper": ("paper",)}
LEARNER, TASK, OUTPUT = "The controller", "The problem", "Output"


def register(app: typer.Typer) -> None:
    app.command(name="profile", epilog=EXAMPLE)(profile)


def profile(
    problem: Annotated[str, typer.Argument(help="oil-laplace, ambulance-2, …")],
    episodes: Annotated[int, _option("--episodes", help="episodes K", panel=TASK)] = 100_000,
    horizon: Annotated[int | None, _option("--horizon", help="steps of an episode", panel=TASK)] = None,
    continuing: Annotated[
        bool, _option("--continuing", help="an episode starts where the last ended", panel=TASK)
    ] = False,
    parameter: Annotated[
        list[str] | None, _option("--set", help="name=value of the problem", panel=TASK)
    ] = None,
    seeds: Annotated[int, _option("--seeds", help="how many seeds", panel=TASK)] = 20,
    seed_base: Annotated[int, _option("--seed-base", help="first seed", panel=TASK)] = 0,
    mode: Annotated[str, _option("--mode", help="both, tracking or paper", panel=LEARNER)] = "both",
    budget: Annotated[
        str, _option("--budget", help="cap of the capped runs, or none", panel=LEARNER)
    ] = "1KiB",
    share: Annotated[str | None, of_controller("share", LEARNER)] = None,
    split: Annotated[str | None, of_controller("split", LEARNER)] = None,
    gamma: Annotated[str | None, of_controller("gamma", LEARNER)] = None,
    phi: Annotated[str | None, of_controller("phi", LEARNER)] = None,
    json: Annotated[str | None, _option("--json", help="to a file, - is stdout", panel=OUTPUT)] = None,
    out: Annotated[Path | None, _option("--out", help="folder for JSON, CSV and plots", panel=OUTPUT)] = None,
    plot: Annotated[bool, _option("--plot", help="PNG and SVG into the folder", panel=OUTPUT)] = False,
    force: Annotated[bool, _option("--force", help="replace earlier files", panel=OUTPUT)] = False,
    quiet: Annotated[bool, _option("--quiet", help="no progress display", panel=OUTPUT)] = False,
) -> None:
    """Measure bytes, leaves, units and count entries over the episodes, capped and uncapped, in both modes.

    Exit code 1 when a measurement exceeds its upper bound.
    """
    from adamb.host_sim.results.profile import FILES
    from adamb.tools.measure.growth_summary import stopped_before, summarise, summary_files
    from adamb.tools.measure.memory_growth import GrowthTask, measure_all
    from adamb.tools.terminal import live_tasks

    if mode not in MODES:
        raise InputError("mode", mode, f"must be one of {', '.join(MODES)}")
    if plot and out is None:
        out = default_folder("profile", problem)
    common: Any = {
        "problem": problem,
        "episodes": bounded("episodes", episodes, 10, 10_000_000),
        "seeds": seed_range(bounded("seeds", seeds, 1, 1000), seed_base),
        "budget_bytes": None if budget.lower() == "none" else parse_size(budget),
        "horizon": horizon,
        "continuing": continuing,
        "parameters": pairs("set", parameter),
        "options": given(share=share, split=split, gamma=gamma, phi=phi),
    }
    tasks = [GrowthTask(mode=each, **common) for each in MODES[mode]]
    again = out is not None and stopped_before(out, tasks)
    check_outputs(json, out, FILES + (PLOTS if plot else ()), force=force or again)
    with live_tasks.watch(Console(stderr=True), MODES[mode], episodes, quiet=quiet) as meters:
        found = measure_all(tasks, meters)
    summary = summarise(found)
    _show(found, summary, table_console(stderr=json == "-"))
    write_json(json, summary.to_json())
    if out is not None:
        save(out, {**(_plots(found) if plot else {}), **summary_files(summary)})
    if summary.interrupted:
        raise stopped(min(each.episodes for each in found), episodes, "episodes")
    raise typer.Exit(VIOLATED if summary.violations else OK)


def _plots(found: list[Profile]) -> dict[str, bytes]:
    from adamb.tools.figures.memory_growth import plot_files

    return plot_files(found)


def _show(found: list[Profile], summary: ProfileSummary, console: Console) -> None:
    for each in found:
        console.print(_table(each))
        console.print(_sentence(summary, each.task.mode), highlight=False)
        for broken in each.violations()[:10]:
            console.print(f"[red]violated:[/red] {broken}", highlight=False)


def _table(each: Profile) -> Table:
    seeds = each.task.seeds
    title = f"{each.task.problem}, {each.task.mode}, seeds {seeds[0]}..{seeds[-1]} (worst of them)"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(title), title_justify="left")
    names = list(each.tracks)
    headings = [
        "episode",
        *(f"bytes {name}" for name in names),
        "upper bound",
        "leaves",
        "bound",
        "entries",
        "bound",
    ]
    for heading in headings:
        table.add_column(heading, justify="right")
    free = each.tracks["uncapped"]
    for i in _rows_shown(each.points):
        measured = [str(int(each.tracks[name]["bytes"][:, i].max())) for name in names]
        table.add_row(
            str(each.points[i]), *measured, str(each.bounds["bytes"][i]),
            str(int(free["leaves"][:, i].max())), str(each.bounds["leaves"][i]),
            str(int(free["entries"][:, i].max())), str(each.bounds["entries"][i]),
        )  # fmt: skip
    return table


def _rows_shown(points: list[int]) -> list[int]:
    """About two rows a decade, and the last."""
    step = max(1, len(points) // 10)
    return sorted({*range(len(points) - 1, -1, -step)})


def _sentence(summary: ProfileSummary, mode: str) -> str:
    exponents, felt = summary.exponents[mode], summary.cap_bound_at[mode]
    if exponents.measured is None:
        text = "too few points for an exponent"
    else:
        interval = "" if exponents.ci95 is None else f" ± {exponents.ci95:.3f}"
        text = f"pool grows as K^({exponents.measured:.3f}{interval})"
    condition = "" if exponents.paper_condition_met else ", its condition is not met"
    text += f"; the paper's bound K^{exponents.paper:.3f}{condition}"
    text += f"; one path K^{exponents.single_path:.3f}"
    if felt is None:
        return text
    possible = f"possible from episode {felt.possible_from}"
    if felt.earliest is None:
        return f"{text}\nno capped seed ran out of room, {possible}"
    return f"{text}\nroom ran out from episode {felt.earliest} on ({felt.seeds} capped seeds), {possible}"
