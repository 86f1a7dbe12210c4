"""`adamb plan`: will this job fit into this board or budget, and for how long is that certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from adamb.budgets.controller import BLOCK_BYTES_MAX
from adamb.budgets.errors import InputError
from adamb.tools.exit_codes import VIOLATED
from adamb.tools.options import BATTERY, PERIOD, budget_from, of_controller
from adamb.tools.options import in_panel as _option
from adamb.tools.outputs import write_json
from adamb.tools.terminal.frames import table_console
from adamb.tools.terminal.waiting import waiting

if TYPE_CHECKING:
    from adamb.budgets.battery import Battery
    from adamb.budgets.boards import Board
    from adamb.budgets.planner import Plan
    from adamb.budgets.wear import Wear
    from adamb.tools.measure.job_costs import JobCosts
    from adamb.tools.measure.runtime_costs import RuntimeCosts

EXAMPLE = (
    "Example: adamb plan --dims 1+1 --horizon 5 --episodes 2000 --mode paper --board microbit; "
    "adamb plan plant-motor --board pico"
)
DIMS, HORIZON = "1+1", 5
NO_COSTS, NO_WORST = "no instructions, stack, time and energy", "no worst times"
RUNTIME = "micropython, usermod (the C core in its firmware) or c"
JOB, MEMORY, SAVES, OUTPUT = "The job", "The memory", "Saves to flash", "Output"


def register(app: typer.Typer) -> None:
    app.command(name="plan", epilog=EXAMPLE)(plan)


def plan(
    problem: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="takes dimensions and horizon from it")
    ] = None,
    dims: Annotated[str | None, _option("--dims", help="state + action dimensions [1+1]", panel=JOB)] = None,
    horizon: Annotated[int | None, _option("--horizon", help="steps of an episode [5]", panel=JOB)] = None,
    episodes: Annotated[int, _option("--episodes", help="episodes to certify", panel=JOB)] = 2000,
    mode: Annotated[str, of_controller("mode", JOB)] = "tracking",
    share: Annotated[str | None, of_controller("share", JOB)] = None,
    split: Annotated[str | None, of_controller("split", JOB)] = None,
    gamma: Annotated[str | None, of_controller("gamma", JOB)] = None,
    phi: Annotated[str | None, of_controller("phi", JOB)] = None,
    board: Annotated[str | None, _option("--board", help="a name or a profile's path", panel=MEMORY)] = None,
    budget: Annotated[str | None, _option("--budget", help="bytes: 4KiB, 512B, 4096", panel=MEMORY)] = None,
    runtime: Annotated[str | None, _option("--runtime", help=RUNTIME, panel=MEMORY)] = None,
    save_every: Annotated[
        str | None, _option("--save-every", help="period of saves, 10min or 1h: prints the wear", panel=SAVES)
    ] = None,
    store: Annotated[str, _option("--store", help="bytes of flash for saves", panel=SAVES)] = "64KiB",
    costs: Annotated[
        bool, _option("--costs/--no-costs", help="run the compiled core for instructions", panel=OUTPUT)
    ] = True,
    battery: Annotated[str | None, _option("--battery", help=BATTERY, panel=OUTPUT)] = None,
    period: Annotated[str | None, _option("--period", help=PERIOD, panel=OUTPUT)] = None,
    json: Annotated[str | None, _option("--json", help="to a file, - is stdout", panel=OUTPUT)] = None,
) -> None:
    """Certify memory: the most leaves, units and bytes of a job, when a cap can bind, and what would fit.

    Exit code 1 when the job does not fit at all.
    """
    from adamb.budgets.battery import Battery
    from adamb.budgets.planner import NEVER, PlannedJob
    from adamb.budgets.planner import plan as make_plan

    asked = Battery.asked(battery, period)
    if asked is not None and (board is None or not costs):
        raise InputError("battery", battery, "needs the currents of a --board, and the times of --costs")
    job = PlannedJob(*_shape(problem, dims, horizon), episodes, mode, share, split, gamma, phi)
    made = make_plan(job, board=board, budget_bytes=budget_from(budget), runtime=runtime)
    wear = _wear(made, save_every, store)
    found = _costs(made) if costs and made.verdict != NEVER else None
    life = _battery(asked, battery, found, made.board)
    if json is not None:
        measured = {} if found is None or isinstance(found, str) else found.to_json(made.board)
        write_json(json, made.to_json() | measured | life | (wear.to_json() if wear else {}))
    if json != "-":
        _show(made, found, wear, str(life.get("battery", {}).get("sentence", "")))
    if made.verdict == NEVER:
        raise typer.Exit(VIOLATED)


def _costs(made: Plan) -> JobCosts | RuntimeCosts | str:
    """Of the runtime that is asked for, or why there are none."""
    from adamb.tools.measure.job_costs import measure_costs
    from adamb.tools.measure.runtime_costs import FORMS, runtime_costs

    with waiting("counting instructions; the first time, the core is compiled"):
        alone = measure_costs(made.job, made.budget_bytes)
    return alone if made.runtime not in FORMS else runtime_costs(made.job, made.runtime, alone)


def _shape(problem: str | None, dims: str | None, horizon: int | None) -> tuple[int, int, int]:
    """Dimensions of states and actions and the horizon: those of a problem, or as typed."""
    from adamb.budgets.planner import parse_dims

    if problem is None:
        return *parse_dims(DIMS if dims is None else dims), HORIZON if horizon is None else horizon
    from adamb.firmware_model._spec import HORIZON_MAX
    from adamb.host_sim.registry import make_problem

    if dims is not None:
        raise InputError("dims", dims, f"{problem} has its own dimensions; leave it out")
    made = make_problem(problem, [0], horizon=horizon)
    if made.horizon > HORIZON_MAX:
        remedy = f"--horizon {HORIZON_MAX} certifies episodes of that length"
        raise InputError("horizon", made.horizon, f"adamb plans at most {HORIZON_MAX} steps ahead; {remedy}")
    return made.d_s, made.d_a, made.horizon


def _wear(made: Plan, save_every: str | None, store: str) -> Wear | None:
    """Of saves of the block that the board or the budget has room for, else of one that never fills."""
    from adamb.budgets.sizes import parse_size
    from adamb.budgets.wear import Wear, parse_save_period

    if save_every is None:
        return None
    block = min(made.certificate_bytes, made.budget_bytes or made.certificate_bytes)
    return Wear(block, parse_size(store, "store"), parse_save_period(save_every))


def _battery(
    asked: Battery | None, shown: str | None, costs: JobCosts | RuntimeCosts | str | None, board: Board | None
) -> dict[str, dict[str, object]]:
    """How long the battery lasts, if that was asked: in C with the worst calls, if they fit into a period,
    and with mean ones; elsewhere with mean ones alone."""
    from adamb.tools.measure.job_costs import JobCosts

    if asked is None or board is None or costs is None:
        return {}
    if isinstance(costs, str):
        raise InputError("battery", shown, f"needs times of act and observe: {costs}")
    calls = costs if isinstance(costs, JobCosts) else costs.means
    if calls is None or calls.observe is None:
        raise InputError("battery", shown, costs.note)
    busy, mean = board.seconds(calls.act + calls.observe), None
    if isinstance(costs, JobCosts):
        mean = board.seconds(sum(costs.mean)) if costs.mean else None
    if mean is None:
        kind = "the worst" if isinstance(costs, JobCosts) else "mean"
        return {"battery": {**asked.to_json(board, busy), "sentence": asked.sentence(board, busy, kind)}}
    means = asked.to_json(board, mean)
    if busy[1] > asked.period_s:
        late = f"; the worst calls take up to {busy[1]:.3g} s, longer than a period"
        return {"battery": {**means, "sentence": asked.sentence(board, mean, "mean") + late}}
    sentence = f"{asked.sentence(board, busy, 'the worst')}; with mean calls {asked.spoken(board, mean)}"
    return {"battery": {**asked.to_json(board, busy), "sentence": sentence}, "battery_mean": means}


def _show(made: Plan, costs: JobCosts | RuntimeCosts | str | None, wear: Wear | None, life: str) -> None:
    console = table_console()
    console.print(_table(made, costs, wear))
    if missing := _missing(costs):
        console.print(missing, highlight=False, markup=False)
    if life:
        console.print(life, highlight=False, markup=False)
    console.print(f"[bold]{made.sentence}[/bold]", highlight=False)
    for number, idea in enumerate(made.changes):
        console.print(("to change: " if number == 0 else "       or: ") + idea, highlight=False, markup=False)


def _missing(costs: JobCosts | RuntimeCosts | str | None) -> str:
    """What there is no row for, and why."""
    from adamb.tools.measure.runtime_costs import RuntimeCosts

    if isinstance(costs, str):
        return f"{NO_COSTS}: {costs}"
    if not isinstance(costs, RuntimeCosts):
        return ""
    why = [costs.note] if costs.note else []
    if isinstance(costs.alone, str):
        why.append(f"{NO_WORST}: {costs.alone}")
    elif costs.alone.note:
        why.append(f"observe: {costs.alone.note}")
    return "; ".join(why)


def _table(made: Plan, costs: JobCosts | RuntimeCosts | str | None, wear: Wear | None) -> Table:
    from adamb.tools.terminal.plan_rows import cost_rows

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=_title(made), title_justify="left")
    for heading in ("worst case", "value", "why"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    costly = cost_rows(costs, made.board) if costs and not isinstance(costs, str) else []
    for row in [*_rows(made), *costly, *(wear.rows() if wear else [])]:
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
        ("bytes", str(made.certificate_bytes), _certificate(made.certificate_bytes)),
        ("bytes to start", str(job.minimum_bytes), f"header {bound.header_units * 8} and the first trees"),
    ]
    always, at_all = (smallest_board(job, made.runtime, always=each) for each in (True, False))
    least = f"the least on which it runs: {at_all.name if at_all else 'none known'}"
    if made.runtime is None:
        least += "; each under MicroPython where the core has room there, else in C"
    rows.append(("smallest board", always.name if always else "none", f"on which it fits always; {least}"))
    if made.budget_bytes is not None:
        where = f"{made.board.name}, {made.runtime}" if made.board else "budget"
        where += "; no block has more" if made.budget_bytes == BLOCK_BYTES_MAX else ""
        rows.append(("available", str(made.budget_bytes), where))
        if made.verdict != NEVER:
            first = made.first_binding_episode
            when = "never" if first is None else f"episode {first}"
            rows.append(("cap can bind", when, "at the earliest; then reclaiming starts"))
    return rows


def _certificate(needed: int) -> str:
    if needed <= BLOCK_BYTES_MAX:
        return "a block of this size never fills: the certificate"
    return f"more than a block can have ({BLOCK_BYTES_MAX}): every block can fill"
