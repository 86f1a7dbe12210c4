"""`adamb plan`: how many bytes to begin with, what can never fill, and whether a board has room for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import BLOCK_BYTES_MAX, MEMORY_OPTIONS
from adamb.firmware_model.host.sizes import format_bytes
from adamb.tools.options import (
    AgentSettings,
    Battery,
    Dims,
    Json,
    PlayedProblem,
    Settings,
    agent_settings,
    bounded,
    budget_from,
)
from adamb.tools.outputs import write_json
from adamb.tools.stopping import VIOLATED
from adamb.tools.terminal import progress
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.budgets import battery as batteries
    from adamb.budgets.battery import Wear
    from adamb.budgets.boards import Board
    from adamb.budgets.planner import Plan
    from adamb.tools.measure.job_costs import JobCosts, RuntimeCosts
    from adamb.tools.measure.sizing import Tried

EXAMPLE = (
    "Example: adamb plan plant-heater --measure; "
    "adamb plan --dims 1+1 --horizon 5 --episodes 2000 --agent-set mode=paper --board microbit; "
    "adamb plan plant-motor --board pico"
)
DIMS, HORIZON = "1+1", 5
STORE = "64KiB"
NO_COSTS, NO_WORST = "no instructions, stack, time and energy", "no worst times"
RUNTIME = "micropython, usermod (the C core in its firmware) or c"


def register(app: typer.Typer) -> None:
    app.command(name="plan", epilog=EXAMPLE, rich_help_panel="Budgets")(plan)


def plan(
    problem: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="takes dimensions and horizon from it, as adamb run")
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="play PROBLEM with 512 B to 64 KiB: the smallest that is level")
    ] = False,
    dims: Dims = None,
    horizon: Annotated[int | None, typer.Option("--horizon", help="steps of an episode [5]")] = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes to certify, and to play")] = 2000,
    parameter: Settings = None,
    agent_set: AgentSettings = None,
    board: Annotated[str | None, typer.Option("--board", help="a name or a profile's path")] = None,
    budget: Annotated[str | None, typer.Option("--budget", help="bytes: 4KiB, 512B, 4096")] = None,
    runtime: Annotated[str | None, typer.Option("--runtime", help=RUNTIME)] = None,
    save_every: Annotated[
        str | None,
        typer.Option("--save-every", help=f"prints the wear: period of saves, also bytes of flash: 1h, 10min,{STORE}"),
    ] = None,
    costs: Annotated[bool, typer.Option("--costs/--no-costs", help="run the compiled core for instructions")] = True,
    battery: Battery = None,
    json: Json = None,
) -> None:
    """Say how many bytes to begin with, and certify what can never fill: leaves, units and bytes at the most.

    Exit code 1 when the job does not fit at all.
    """
    from adamb.budgets import battery as batteries
    from adamb.budgets.planner import NEVER, PlannedJob
    from adamb.budgets.planner import plan as make_plan

    asked = batteries.Battery.asked(battery)
    if asked is not None and (board is None or not costs):
        raise InputError("battery", battery, "needs the currents of a --board, and the times of --costs")
    options = agent_settings(agent_set, ("mode", *MEMORY_OPTIONS))
    played = _played(problem, episodes, horizon, parameter)
    if measure and not played:
        raise InputError("measure", "on", "name the problem to play: adamb plan PROBLEM --measure, or FILE.py:CLASS")
    job = PlannedJob(*_shape(played, dims, horizon), episodes, **options)
    made = make_plan(job, board=board, budget_bytes=budget_from(budget), runtime=runtime)
    tried = _measured(made, played, options) if measure and played else []
    made = replace(made, measured_bytes=_level(tried))
    wear = _wear(made, save_every)
    found = _costs(made) if costs and made.verdict != NEVER else None
    life = _battery(asked, battery, found, made.board)
    if json is not None:
        rows = {"seeds": list(played.seeds), "rows": [row.to_json() for row in tried]} if tried and played else None
        measured = {} if found is None or isinstance(found, str) else found.to_json(made.board)
        write_json(json, made.to_json() | {"measured": rows} | measured | life | (wear.to_json() if wear else {}))
    if json != "-":
        console = table_console()
        if made.verdict != NEVER:
            console.print(f"[bold]{_start(made, problem or 'PROBLEM')}[/bold]", highlight=False)
        if tried and played:
            from adamb.tools.terminal.sizing_table import sizing_table

            console.print("", sizing_table(played, tried), "")
        _show(made, found, wear, str(life.get("battery", {}).get("sentence", "")))
    if made.verdict == NEVER:
        raise typer.Exit(VIOLATED)


def _costs(made: Plan) -> JobCosts | RuntimeCosts | str:
    """Of the runtime that is asked for, or why there are none."""
    from adamb.tools.measure.job_costs import FORMS, measure_costs, runtime_costs

    with progress("counting instructions; the first time, the core is compiled"):
        alone = measure_costs(made.job)
    return alone if made.runtime not in FORMS else runtime_costs(made.job, made.runtime, alone)


def _played(problem: str | None, episodes: int, horizon: int | None, given: list[str] | None) -> PlayedProblem | None:
    """The problem and its parameters; None where only dimensions are planned."""
    if problem is None:
        if given:
            raise InputError("set", given[0], "changes a problem; name it")
        return None
    from adamb.budgets.planner import EPISODES_MAX
    from adamb.tools.measure.sizing import SEEDS

    more = [] if horizon is None else [f"horizon={horizon}"]
    return PlayedProblem.of(problem, SEEDS, bounded("episodes", episodes, 1, EPISODES_MAX), [*(given or ()), *more])


def _shape(played: PlayedProblem | None, dims: str | None, horizon: int | None) -> tuple[int, int, int]:
    """Dimensions of states and actions and the horizon: those of a problem, or as typed."""
    from adamb.budgets.planner import parse_dims

    if played is None:
        return *parse_dims(DIMS if dims is None else dims), HORIZON if horizon is None else horizon
    from adamb.firmware_model._spec import HORIZON_MAX

    if dims is not None:
        raise InputError("dims", dims, f"{played.problem} has its own dimensions; leave it out")
    made = replace(played, seeds=(0,)).make()
    if made.horizon > HORIZON_MAX:
        remedy = f"--horizon {HORIZON_MAX} certifies episodes of that length"
        raise InputError("horizon", made.horizon, f"adamb plans at most {HORIZON_MAX} steps ahead; {remedy}")
    return made.d_s, made.d_a, made.horizon


def _measured(made: Plan, played: PlayedProblem, options: dict[str, Any]) -> list[Tried]:
    """What every budget earns that there is room for."""
    from adamb.budgets.planner import NEVER
    from adamb.tools.measure import sizing

    if made.verdict == NEVER:
        return []
    room = made.budget_bytes or sizing.BUDGETS[-1]
    budgets = [size for size in sizing.BUDGETS if made.job.minimum_bytes <= size <= room] or [room]
    with progress("playing the budgets") as say:
        return sizing.measure(played.make, budgets, options, say)


def _level(tried: list[Tried]) -> int | None:
    """The smallest budget that is level with the best; None without --measure."""
    return next((row.budget_bytes for row in tried if row.level), None)


def _start(made: Plan, problem: str) -> str:
    """The first line: a size to begin with."""
    from adamb.tools.measure.sizing import MAY_LOSE

    size = f"start with {format_bytes(made.start_bytes)}"
    if made.measured_bytes is None:
        return f"{size}; adamb plan {problem} --measure finds what your task needs"
    return f"{size}: the smallest that loses less than {100 * MAY_LOSE:g} % of the best, measured"


def _wear(made: Plan, save_every: str | None) -> Wear | None:
    """Of saves of the block that the board or the budget has room for, else of one that never fills."""
    from adamb.budgets.battery import Wear, parse_save_period
    from adamb.firmware_model.host.sizes import parse_size

    if save_every is None:
        return None
    block = min(made.certificate_bytes, made.budget_bytes or made.certificate_bytes)
    period, _, store = save_every.partition(",")
    return Wear(block, parse_size(store or STORE, "store"), parse_save_period(period))


def _battery(
    asked: batteries.Battery | None, shown: str | None, costs: JobCosts | RuntimeCosts | str | None, board: Board | None
) -> dict[str, dict[str, object]]:
    """How long the battery lasts with mean calls, if that was asked; in C also with the worst, if they fit into a
    period."""
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
        return {"battery": {**asked.to_json(board, busy), "sentence": asked.sentence(board, busy, "mean")}}
    found, sentence = {"battery": asked.to_json(board, mean)}, asked.sentence(board, mean, "mean")
    if busy[1] > asked.period_s:
        sentence += f"; the worst calls take up to {busy[1]:.3g} s, longer than a period"
    else:
        sentence += f"; with the worst {asked.spoken(board, busy)}"
        found["battery_worst"] = asked.to_json(board, busy)
    found["battery"]["sentence"] = sentence
    return found


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
    from adamb.tools.measure.job_costs import RuntimeCosts

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
        ("units", str(made.units), f"{parts}: each in a history of its own, so they add up to more"),
        ("bytes", str(made.certificate_bytes), _certificate(made.certificate_bytes)),
        ("bytes needed", str(job.minimum_bytes), f"at least: header {bound.header_units * 8} and the first trees"),
    ]
    needs = (made.start_bytes, made.certificate_bytes, job.minimum_bytes)
    start, always, at_all = (found.name if (found := smallest_board(size, made.runtime)) else "none" for size in needs)
    boards = f"smallest board: {start}; on which it fits always: {always}; on which it runs: {at_all}"
    if made.runtime is None:
        boards += "; each under MicroPython where the core has room there, else in C"
    rows.append(("to start with", format_bytes(made.start_bytes), boards))
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
