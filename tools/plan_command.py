"""`adamb plan`: will this job fit into this board or budget, and for how long is that certain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.budgets.planner import Plan

EXAMPLE = "Example: adamb plan --dims 1+1 --horizon 5 --episodes 2000 --mode paper --board microbit"
JOB, MEMORY, OUTPUT = "The job", "The memory", "Output"


def register(app: typer.Typer) -> None:
    app.command(name="plan", epilog=EXAMPLE)(plan)


def _option(*names: str, help: str, panel: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel)


def plan(
    dims: Annotated[str, _option("--dims", help="state + action dimensions", panel=JOB)] = "1+1",
    horizon: Annotated[int, _option("--horizon", help="steps of an episode", panel=JOB)] = 5,
    episodes: Annotated[int, _option("--episodes", help="episodes to certify", panel=JOB)] = 2000,
    mode: Annotated[str, _option("--mode", help="tracking or paper", panel=JOB)] = "tracking",
    share: Annotated[str | None, _option("--share", help="off, on or auto", panel=JOB)] = None,
    split: Annotated[str | None, _option("--split", help="own or inherited", panel=JOB)] = None,
    gamma: Annotated[str | None, _option("--gamma", help="growth of the thresholds", panel=JOB)] = None,
    phi: Annotated[str | None, _option("--phi", help="factor of the thresholds", panel=JOB)] = None,
    board: Annotated[str | None, _option("--board", help="a name or a profile's path", panel=MEMORY)] = None,
    budget: Annotated[str | None, _option("--budget", help="bytes: 4KiB, 512B, 4096", panel=MEMORY)] = None,
    runtime: Annotated[str | None, _option("--runtime", help="micropython or c", panel=MEMORY)] = None,
    json_to: Annotated[str | None, _option("--json", help="to a file, or - for stdout", panel=OUTPUT)] = None,
) -> None:
    """Certify memory: the most leaves, units and bytes of a job, when a cap can bind, and what would fit.

    Exit code 1 when the job does not fit at all.
    """
    from adamb.budgets.planner import NEVER, Job, parse_dims
    from adamb.budgets.planner import plan as make_plan
    from adamb.budgets.sizes import parse_size
    from adamb.tools.outputs import json_bytes, write_atomic

    d_s, d_a = parse_dims(dims)
    job = Job(d_s, d_a, horizon, episodes, mode, share, split, gamma, phi)
    size = None if budget is None else parse_size(budget)
    made = make_plan(job, board=board, budget_bytes=size, runtime=runtime)
    if json_to is not None:
        content = made.to_json()
        if json_to == "-":
            typer.echo(json.dumps(content, indent=2, allow_nan=False))
        else:
            write_atomic(Path(json_to), json_bytes(content))
    if json_to != "-":
        _show(made)
    if made.verdict == NEVER:
        raise typer.Exit(1)


def _show(made: Plan) -> None:
    from rich.console import Console

    console = Console()
    console.print(_table(made))
    console.print(f"[bold]{made.sentence}[/bold]", highlight=False)
    for number, idea in enumerate(made.changes):
        console.print(("to change: " if number == 0 else "       or: ") + idea, highlight=False)


def _table(made: Plan) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=_title(made), title_justify="left")
    for heading in ("worst case", "value", "why"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for row in _rows(made):
        table.add_row(*row)
    return table


def _title(made: Plan) -> str:
    job, chosen = made.job, made.job.settings
    rule = f"split {chosen['split']}, γ {chosen['gamma']}, φ {chosen['phi']}, share {chosen['share']}"
    return f"{job.d_s}+{job.d_a}, H {job.horizon}, K {job.episodes}, mode {job.mode}: {rule}"


def _rows(made: Plan) -> list[tuple[str, str, str]]:
    from adamb.budgets.planner import NEVER

    job, bound, paper = made.job, made.job.bound, made.paper()
    note = "" if paper["leaves_condition_met"] else " (its condition is not met)"
    parts = ", ".join(f"{kind} ≤ {number}" for kind, number in made.parts().items())
    rows = [
        ("leaves", str(made.leaves), f"level filling; the paper's bound is {paper['leaves']:.0f}{note}"),
        ("finest level", str(bound.forest.finest_leaf(job.episodes)), made.finest_because),
        ("units", str(made.units), parts),
        ("bytes", str(made.certificate_bytes), "a block of this size never fills: the certificate"),
        ("bytes to start", str(job.minimum_bytes), f"header {bound.header_units * 8} and the first trees"),
    ]
    if made.budget_bytes is not None:
        where = f"{made.board.name}, {made.runtime}" if made.board else "budget"
        rows.append(("available", str(made.budget_bytes), where))
        if made.verdict != NEVER:
            first = made.first_binding_episode
            when = "never" if first is None else f"episode {first}"
            rows.append(("cap can bind", when, "at the earliest; then reclaiming starts"))
    return rows
