"""`adamb sweep FILE.toml`: problems × agents × bonus × budgets × seeds, resumable, here or on a cluster."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import format_cap
from adamb.host_sim.provenance import typed_command
from adamb.tools.exit_codes import INTERRUPTED, OK, VIOLATED
from adamb.tools.options import Jobs, Json, Markdown, Quiet, check_jobs, check_markdown
from adamb.tools.outputs import check_outputs, write_atomic, write_json
from adamb.tools.terminal.frames import table_console
from adamb.tools.terminal.sweep_table import grid_table, grids, long_table, markdown

if TYPE_CHECKING:
    from adamb.host_sim.sweep.run import Combination, Engine
    from adamb.host_sim.sweep.spec import Cell, SweepSpec

EXAMPLE = """Example: adamb sweep budgets.toml --out runs/budgets --jobs 2

A file: problems = ["oil-laplace"], agents = ["adamb", "adaql"], bonus = ["auto"], budgets = ["2KiB", "4KiB"],
episodes = 2000, seeds = 20; one key a line. An entry may be a table: { name = "adamb", mode = "paper" }.
Shipped: paper repeats the paper's experiments and tests its claims; equal-bytes sets all agents side by side
at 1, 2, 4 and 8 KiB, headline at 4 KiB; guarantees shows what the bonus of the paper's theory costs."""
SHIPPED = Path(__file__).resolve().parent.parent / "sweeps"
ENGINES = ("local", "dask")
GROWTH = "growth"
"""The folder of the second part of a sweep, inside that of the first."""
PLAIN_WIDTH = 140


def register(app: typer.Typer) -> None:
    app.command(name="sweep", epilog=EXAMPLE)(sweep)


def sweep(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.toml",
            help="what to combine, or a shipped sweep: paper, equal-bytes, headline, guarantees",
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="folder for the tables; runs/FILE unless given")] = None,
    jobs: Jobs = None,
    engine: Annotated[str, typer.Option(help="local or dask")] = "local",
    scheduler: Annotated[str | None, typer.Option(help="address of the Dask scheduler")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="the short version that the file offers")] = False,
    json: Json = None,
    force: Annotated[bool, typer.Option("--force", help="use a folder that holds another sweep")] = False,
    as_markdown: Markdown = False,
    quiet: Quiet = False,
) -> None:
    """Run every cell of a sweep file; after an interruption the same command goes on where it was."""
    from adamb.host_sim.sweep.growth import growth_spec
    from adamb.host_sim.sweep.reader import read_spec
    from adamb.host_sim.sweep.run import run_sweep
    from adamb.tools.device.loop.port import WAIT
    from adamb.tools.terminal.progress import Reporter, display

    folder = out or Path("runs") / (file.stem + ("-quick" if quick else ""))
    chosen = _engine(engine, scheduler, jobs)
    check_markdown(as_markdown, json)
    check_outputs(json, folder, ["results.csv"], force=True)
    spec = read_spec(find_file(file), quick=quick)
    growth = growth_spec(spec)
    errors = Console(stderr=True)
    reporter = Reporter(spec.name, "cells", _describe)
    os.environ[WAIT] = "1"  # cells on one board take turns, in whatever process they are
    try:
        with display(errors, reporter, quiet=quiet):
            found = run_sweep(spec, folder, chosen, force=force, command=typed_command(), progress=reporter)
        if growth is not None:
            reporter = Reporter(growth.name, "cells", _describe)
            with display(errors, reporter, quiet=quiet):
                run_sweep(
                    growth, folder / GROWTH, chosen, force=force, command=typed_command(), progress=reporter
                )
    except KeyboardInterrupt:
        saved = f"{reporter.done} of {reporter.total} cells are saved in {folder}"
        print(f"adamb: stopped; {saved}; the same command goes on from there", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        os.environ.pop(WAIT, None)
    console = table_console(stderr=json == "-", plain_width=PLAIN_WIDTH)
    if spec.values.get("analysis") == "paper":
        from adamb.tools.sweeps.paper.analysis import analyse

        analyse(spec, folder, console, errors, growth=growth, jobs=jobs, quiet=quiet)
    elif as_markdown:
        print(markdown(spec, found), end="")
    elif len({cell.budget_bytes for cell in spec.cells}) > 1:
        for grid in grids(spec, found):
            console.print(grid_table(grid))
    else:
        console.print(long_table(spec, found))
    write_atomic(folder / "table.md", markdown(spec, found).encode())
    place = f"seeds {spec.seeds[0]}..{spec.seeds[-1]}; tables in {folder}"
    print(place, file=sys.stderr if json == "-" or as_markdown else sys.stdout)
    write_json(json, _content(spec, folder, found))
    raise typer.Exit(_exit_code(spec, found))


def _content(spec: SweepSpec, folder: Path, found: list[Combination]) -> dict[str, Any]:
    """The averages by combination, as in summary.csv."""
    combinations = [
        {
            "problem": each.problem,
            "agent": each.agent,
            "bonus": each.bonus,
            "budget_bytes": each.budget_bytes,
            "seeds": each.seeds,
            "refused": each.refused,
            "bytes_peak": each.bytes_peak,
            **{name: None if value is None else value.to_json() for name, value in each.estimates.items()},
        }
        for each in found
    ]
    return {"name": spec.name, "folder": str(folder), "seeds": list(spec.seeds), "combinations": combinations}


def find_file(file: Path) -> Path:
    """The file as given, or the shipped one of that name."""
    from adamb.budgets.errors import unknown_name

    if file.suffix or file.exists():
        return file
    shipped = {path.stem.replace("_", "-"): path for path in SHIPPED.glob("*.toml")}
    if str(file) not in shipped:
        raise unknown_name("sweep", str(file), [*shipped, "FILE.toml"])
    return shipped[str(file)]


def _engine(name: str, scheduler: str | None, jobs: int | None) -> Engine:
    from adamb.budgets.errors import unknown_name
    from adamb.host_sim.sweep.run import dask_engine, local_engine

    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    check_jobs(jobs)
    if name == "local":
        if scheduler is not None:
            raise InputError("scheduler", scheduler, "is for --engine dask")
        return local_engine(jobs)
    if scheduler is None:
        raise InputError("scheduler", None, "give the address of the scheduler, such as tcp://127.0.0.1:8786")
    return dask_engine(scheduler)


def _exit_code(spec: SweepSpec, found: list[Combination]) -> int:
    """A cap that was passed is a violation; so is one that a controller does not fit into, unless the file
    says that this is part of the question."""
    code = OK
    for each in found:
        place = f"{each.problem}, {each.agent}, {format_cap(each.budget_bytes)}"
        if each.refused and spec.values.get("refusals") == "shown":
            continue
        if each.refused:
            print(f"adamb: {place}: {each.refused}", file=sys.stderr)
            code = VIOLATED
        elif each.budget_bytes is not None and (each.bytes_peak or 0) > each.budget_bytes:
            print(f"adamb: {place}: budget violated, {each.bytes_peak} bytes used", file=sys.stderr)
            code = VIOLATED
    return code


def _describe(cell: Cell) -> str:
    return f"{cell.problem_label} × {cell.agent_label}, {format_cap(cell.budget_bytes)}"
