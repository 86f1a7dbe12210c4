"""`adamb plan`: will this job fit into this board or budget, and for how long is that certain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.budgets.planner import Plan
    from adamb.tools.plan_costs import Costs

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
    costs: Annotated[
        bool, _option("--costs/--no-costs", help="run the compiled core for instructions", panel=OUTPUT)
    ] = True,
    json_to: Annotated[str | None, _option("--json", help="to a file, or - for stdout", panel=OUTPUT)] = None,
) -> None:
    """Certify memory: the most leaves, units and bytes of a job, when a cap can bind, and what would fit.

    Exit code 1 when the job does not fit at all.
    """
    from adamb.budgets.planner import NEVER, Job, parse_dims
    from adamb.budgets.planner import plan as make_plan
    from adamb.budgets.sizes import parse_size
    from adamb.tools.outputs import json_bytes, write_atomic
    from adamb.tools.plan_costs import Costs, measure_costs

    d_s, d_a = parse_dims(dims)
    job = Job(d_s, d_a, horizon, episodes, mode, share, split, gamma, phi)
    size = None if budget is None else parse_size(budget)
    made = make_plan(job, board=board, budget_bytes=size, runtime=runtime)
    if made.verdict == NEVER:
        costs = False
    found = measure_costs(job, made.budget_bytes) if costs else None
    if json_to is not None:
        content = made.to_json()
        if isinstance(found, Costs):
            content |= found.to_json(made.board)
        if json_to == "-":
            typer.echo(json.dumps(content, indent=2, allow_nan=False))
        else:
            write_atomic(Path(json_to), json_bytes(content))
    if json_to != "-":
        _show(made, found)
    if made.verdict == NEVER:
        raise typer.Exit(1)


def _show(made: Plan, costs: Costs | str | None) -> None:
    from rich.console import Console

    console = Console()
    console.print(_table(made, costs))
    if isinstance(costs, str):
        console.print(f"no instructions, stack, time and energy: {costs}", highlight=False, markup=False)
    console.print(f"[bold]{made.sentence}[/bold]", highlight=False)
    for number, idea in enumerate(made.changes):
        console.print(("to change: " if number == 0 else "       or: ") + idea, highlight=False, markup=False)


def _table(made: Plan, costs: Costs | str | None) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=_title(made), title_justify="left")
    for heading in ("worst case", "value", "why"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for row in [*_rows(made), *(_cost_rows(costs, made) if costs and not isinstance(costs, str) else [])]:
        table.add_row(*row)
    return table


def _title(made: Plan) -> str:
    job, chosen = made.job, made.job.settings
    rule = f"split {chosen['split']}, γ {chosen['gamma']}, φ {chosen['phi']}, share {chosen['share']}"
    return f"{job.d_s}+{job.d_a}, H {job.horizon}, K {job.episodes}, mode {job.mode}: {rule}"


def _rows(made: Plan) -> list[tuple[str, str, str]]:
    from adamb.budgets.planner import NEVER, smallest_board

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
    always, at_all = (smallest_board(job, made.runtime, always=each) for each in (True, False))
    least = f"the least on which it runs: {at_all.name if at_all else 'none of ours'}"
    rows.append(("smallest board", always.name if always else "none", f"on which it fits always; {least}"))
    if made.budget_bytes is not None:
        where = f"{made.board.name}, {made.runtime}" if made.board else "budget"
        rows.append(("available", str(made.budget_bytes), where))
        if made.verdict != NEVER:
            first = made.first_binding_episode
            when = "never" if first is None else f"episode {first}"
            rows.append(("cap can bind", when, "at the earliest; then reclaiming starts"))
    return rows


def _cost_rows(costs: Costs, made: Plan) -> list[tuple[str, str, str]]:
    """Instructions and stack, and with a board time and energy; a range where the cycles are a range."""
    from adamb.tools.plan_costs import TARGET

    balls = f"up to {costs.relevant_balls} balls over a state" + (f"; {costs.note}" if costs.note else "")
    rows = [
        ("stack", f"{costs.stack_bytes} B", f"deepest call chain, {TARGET}"),
        ("act", str(costs.act), f"instructions of the C core; {costs.depth} levels of V, {TARGET}"),
        ("observe", "no bound" if costs.observe is None else str(costs.observe), f"instructions; {balls}"),
    ]
    board = made.board
    if board is None:
        return rows
    low, high = board.cycles_per_instruction
    model = f"{board.core.model}, {low:.2f}–{high:.2f} cycles" + (" (estimate)" if board.estimate else "")
    rows.append(
        ("time of act", _span(board.seconds(costs.act), 1e6, "µs"), f"{board.clock_hz / 1e6:g} MHz, {model}")
    )
    if costs.observe is not None:
        rows.append(
            ("time of observe", _span(board.seconds(costs.observe), 1e3, "ms"), "not on the critical path")
        )
        energy = board.energy_uj(costs.act + costs.observe)
        rows.append(("energy", _span(energy, 1, "µJ"), "of act and observe at the worst"))
    return rows


def _span(pair: tuple[float, float], scale: float, unit: str) -> str:
    low, high = (f"{value * scale:.3g}" for value in pair)
    return f"{low} {unit}" if low == high else f"{low}–{high} {unit}"
