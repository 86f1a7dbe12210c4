"""`adamb profile PROBLEM`: memory over a long run beside the bounds that must hold."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.budgets.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.tools.profiling import Profile, Task

EXAMPLE = "Example: adamb profile oil-laplace --episodes 100000 --seeds 20 --plot --out runs/profile"
FILES = ("profile.json", "profile.csv")
PLOTS = ("profile.png", "profile.svg")
MODES = {"both": ("tracking", "paper"), "tracking": ("tracking",), "paper": ("paper",)}
LEARNER, TASK, OUTPUT = "The controller", "The problem", "Output"


def register(app: typer.Typer) -> None:
    app.command(name="profile", epilog=EXAMPLE)(profile)


def _option(*names: str, help: str, panel: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel)


def profile(
    problem: Annotated[str, typer.Argument(help="oil-laplace, ambulance-2, …")],
    episodes: Annotated[int, _option("--episodes", help="episodes K", panel=TASK)] = 100_000,
    horizon: Annotated[int | None, _option("--horizon", help="steps of an episode", panel=TASK)] = None,
    parameter: Annotated[
        list[str] | None, _option("--set", help="name=value of the problem", panel=TASK)
    ] = None,
    seeds: Annotated[int, _option("--seeds", help="how many seeds", panel=TASK)] = 20,
    seed_base: Annotated[int, _option("--seed-base", help="first seed", panel=TASK)] = 0,
    mode: Annotated[str, _option("--mode", help="both, tracking or paper", panel=LEARNER)] = "both",
    budget: Annotated[
        str, _option("--budget", help="cap of the capped runs, or none", panel=LEARNER)
    ] = "1KiB",
    share: Annotated[str | None, _option("--share", help="off, on or auto", panel=LEARNER)] = None,
    split: Annotated[str | None, _option("--split", help="own or inherited", panel=LEARNER)] = None,
    gamma: Annotated[str | None, _option("--gamma", help="growth of the thresholds", panel=LEARNER)] = None,
    phi: Annotated[str | None, _option("--phi", help="factor of the thresholds", panel=LEARNER)] = None,
    json: Annotated[str | None, _option("--json", help="to a file, - is stdout", panel=OUTPUT)] = None,
    out: Annotated[Path | None, _option("--out", help="folder for JSON, CSV and plots", panel=OUTPUT)] = None,
    plot: Annotated[bool, _option("--plot", help="PNG and SVG into the folder", panel=OUTPUT)] = False,
    force: Annotated[bool, _option("--force", help="replace earlier files", panel=OUTPUT)] = False,
    quiet: Annotated[bool, _option("--quiet", help="no progress display", panel=OUTPUT)] = False,
) -> None:
    """Measure bytes, leaves, units and count entries over the episodes, capped and uncapped, in both modes.

    Exit code 1 when a measurement exceeds its exact bound.
    """
    from rich.console import Console

    from adamb.budgets.sizes import parse_size
    from adamb.tools import live_tasks, outputs
    from adamb.tools.cli import OK, VIOLATED
    from adamb.tools.profiling import Task, measure_all
    from adamb.tools.run_command import bounded, pairs, seed_range

    if mode not in MODES:
        raise InputError("mode", mode, f"must be one of {', '.join(MODES)}")
    if plot and out is None:
        out = Path("runs") / f"profile-{Path(problem).name.replace(':', '-')}"
    planned = [] if out is None else [out / name for name in FILES + (PLOTS if plot else ())]
    planned += [] if json in (None, "-") else [Path(str(json))]
    outputs.refuse_to_overwrite(planned, force=force)
    options = {"share": share, "split": split, "gamma": gamma, "phi": phi}
    common: Any = {
        "problem": problem,
        "episodes": bounded("episodes", episodes, 10, 10_000_000),
        "seeds": seed_range(bounded("seeds", seeds, 1, 1000), seed_base),
        "budget_bytes": None if budget.lower() == "none" else parse_size(budget),
        "horizon": horizon,
        "parameters": pairs("set", parameter),
        "options": {key: value for key, value in options.items() if value is not None},
    }
    tasks = [Task(mode=each, **common) for each in MODES[mode]]
    with live_tasks.watch(Console(stderr=True), MODES[mode], episodes, quiet=quiet) as meters:
        found = measure_all(tasks, meters)
    content = report(found)
    _show(found, quiet=json == "-")
    _save(found, content, json=json, out=out, plot=plot)
    raise typer.Exit(VIOLATED if content["violations"] else OK)


def report(found: list[Profile]) -> dict[str, Any]:
    """The JSON: every point of every run, exponents, violations."""
    from adamb.budgets.ledger import host_memory

    task: Task = found[0].task
    exponents = {each.task.mode: each.exponents() for each in found}
    return {
        "problem": task.problem,
        "episodes": task.episodes,
        "horizon": found[0].job.horizon,
        "seeds": len(task.seeds),
        "seed_base": task.seeds[0],
        "budget_bytes": task.budget_bytes,
        "points": [point for each in found for point in _points(each)],
        "exponent": exponents[task.mode],
        "exponents": exponents,
        "cap_bound_at": {each.task.mode: _felt(each) for each in found},
        "violations": [str(broken) for each in found for broken in each.violations()],
        "ledger": {each.task.mode: _ledgers(each) for each in found},
        "host_memory": host_memory(),
        "seconds": {each.task.mode: round(each.seconds, 3) for each in found},
    }


def _ledgers(each: Profile) -> dict[str, Any]:
    """Bytes by owner of the first seed's controllers at the end; they sum to the block."""
    return {
        name: {**track.ledger.bytes, "block": track.ledger.total, "peak": track.ledger.peak_bytes}
        for name, track in each.tracks.items()
    }


def _felt(each: Profile) -> dict[str, Any] | None:
    """When the capped controllers first felt their cap; the bound says when that was possible."""
    track = each.tracks.get("capped")
    if track is None or track.budget_bytes is None:
        return None
    felt = sorted(int(episode) for episode in track.cap_bound_at if episode)
    return {
        "earliest": felt[0] if felt else None,
        "latest": felt[-1] if felt else None,
        "seeds": len(felt),
        "possible_from": each.job.bound.first_binding_episode(track.budget_bytes),
    }


def _points(each: Profile) -> list[dict[str, Any]]:
    rows = []
    for name, track in each.tracks.items():
        for i, episode in enumerate(each.points):
            column = {quantity: track[quantity][:, i] for quantity in track.values}
            rows.append(
                {
                    "mode": each.task.mode,
                    "run": name,
                    "episode": episode,
                    **{quantity: float(values.mean()) for quantity, values in column.items()},
                    **{f"{quantity}_max": int(values.max()) for quantity, values in column.items()},
                    "bytes_min": int(column["bytes"].min()),
                    "bound_exact": each.bounds["bytes"][i],
                    "bound_paper": each.paper["bytes"][i],
                    **{f"bound_exact_{key}": each.bounds[key][i] for key in ("leaves", "units", "entries")},
                    **{f"bound_paper_{key}": each.paper[key][i] for key in ("leaves", "entries")},
                }
            )
    return rows


def _save(
    found: list[Profile], content: dict[str, Any], *, json: str | None, out: Path | None, plot: bool
) -> None:
    from adamb.tools import outputs

    if json == "-":
        typer.echo(json_module.dumps(content, indent=2, allow_nan=False))
    elif json is not None:
        outputs.write_atomic(Path(json), outputs.json_bytes(content))
    if out is None:
        return
    rows = content["points"]
    files = {"profile.csv": outputs.csv_bytes(list(rows[0]), [list(row.values()) for row in rows])}
    if plot:
        from adamb.tools.profile_plot import plot_files

        files |= plot_files(found)
    outputs.save(out, {**files, "profile.json": outputs.json_bytes(content)})


def _show(found: list[Profile], *, quiet: bool) -> None:
    from rich.console import Console

    console = Console(stderr=quiet)
    for each in found:
        console.print(_table(each))
        console.print(_sentence(each), highlight=False)
        for broken in each.violations()[:10]:
            console.print(f"[red]violated:[/red] {broken}", highlight=False)


def _table(each: Profile) -> Table:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    seeds = each.task.seeds
    title = f"{each.task.problem}, {each.task.mode}, seeds {seeds[0]}..{seeds[-1]} (worst of them)"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(title), title_justify="left")
    names = list(each.tracks)
    headings = [
        "episode",
        *(f"bytes {name}" for name in names),
        "exact bound",
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


def _sentence(each: Profile) -> str:
    exponents, felt = each.exponents(), _felt(each)
    if exponents["measured"] is None:
        text = "too few points for an exponent"
    else:
        interval = "" if exponents["ci95"] is None else f" ± {exponents['ci95']:.3f}"
        text = f"pool grows as K^({exponents['measured']:.3f}{interval})"
    condition = "" if exponents["paper_condition_met"] else ", its condition is not met"
    text += f"; the paper's bound K^{exponents['paper']:.3f}{condition}"
    text += f"; one path K^{exponents['single_path']:.3f}"
    if felt is None:
        return text
    possible = f"possible from episode {felt['possible_from']}"
    if felt["earliest"] is None:
        return f"{text}\ncap never felt, {possible}"
    return f"{text}\ncap felt from episode {felt['earliest']} on ({felt['seeds']} seeds), {possible}"
