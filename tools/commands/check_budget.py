"""`adamb check-budget FILE`: compare a controller with the limits in a file, so that a build can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from adamb.budgets.errors import InputError
from adamb.budgets.limits import LIMITS, BudgetFile, LimitCheck, judge, read_budget_file
from adamb.tools.exit_codes import OK, VIOLATED
from adamb.tools.options import Json, PlayedProblem
from adamb.tools.outputs import check_outputs, write_json
from adamb.tools.terminal.frames import table_console
from adamb.tools.terminal.waiting import waiting

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

EXAMPLE = "Example: adamb check-budget budget.toml"
TARGET = "cortex-m0"
#: The block of a measurement on the target when the file limits instructions but names no bytes.
DEFAULT_BLOCK_BYTES = 4096


def register(app: typer.Typer) -> None:
    app.command(name="check-budget", epilog=EXAMPLE)(check_budget)


def check_budget(
    file: Annotated[Path, typer.Argument(help="a TOML file with a table of limits")],
    json: Json = None,
) -> None:
    """Measure what the file limits and compare; exit code 1 when a limit is broken.

    Such a file says problem = "oil-laplace", perhaps budget = "4KiB", episodes, horizon and seeds, and in
    a table named limits one or more of bytes, act_instructions, observe_instructions, stack_bytes and
    min_reward, each with a number.
    """
    wanted = read_budget_file(file)
    check_outputs(json, force=True)
    with waiting(f"measuring {wanted.problem}") as say:
        measured, notes = measure(wanted, say)
    rows = judge(wanted, measured, notes)
    broken = [row for row in rows if not row.ok]
    content = {
        "file": str(file),
        "problem": wanted.problem,
        "agent": wanted.texts["agent"],
        **wanted.numbers,
        "budget_bytes": wanted.budget_bytes,
        "rows": [row.to_json() for row in rows],
        "ok": not broken,
    }
    write_json(json, content)
    if json != "-":
        table_console().print(_table(wanted, rows))
    raise typer.Exit(VIOLATED if broken else OK)


def measure(
    wanted: BudgetFile, say: Callable[[str], None] = lambda text: None
) -> tuple[dict[str, float], dict[str, str]]:
    """Every quantity that the file limits, and how it was measured."""
    measured: dict[str, float] = {}
    notes: dict[str, str] = {}
    if "bytes" in wanted.limits or "min_reward" in wanted.limits:
        _measure_run(wanted, measured, notes)
    if wanted.needs_target:
        _measure_target(wanted, measured, notes, say)
    return measured, notes


def _problem(wanted: BudgetFile, seeds: range) -> Problem:
    return PlayedProblem(
        wanted.problem,
        tuple(seeds),
        _int(wanted, "episodes"),
        instance=wanted.texts["instance"],
        drift=wanted.texts["drift"],
        horizon=wanted.numbers["horizon"],
        parameters=wanted.parameters,
    ).make()


def _int(wanted: BudgetFile, name: str) -> int:
    value = wanted.numbers[name]
    assert value is not None, "it has a default"
    return value


def _measure_run(wanted: BudgetFile, measured: dict[str, float], notes: dict[str, str]) -> None:
    """Bytes of the worst seed and mean reward of all, from one simulation."""
    from adamb.host_sim.agents import make_agent
    from adamb.host_sim.runner import simulate

    base, count = _int(wanted, "seed_base"), _int(wanted, "seeds")
    problem = _problem(wanted, range(base, base + count))
    agent = make_agent(wanted.texts["agent"], problem, budget_bytes=wanted.budget_bytes, **wanted.options)
    result = simulate(problem, agent, episodes=_int(wanted, "episodes"))
    reward = result.reward()
    seeds = f"seeds {base} to {base + count - 1}" if count > 1 else f"seed {base}"
    measured["bytes"] = int(result.bytes_peak.max())
    notes["bytes"] = f"peak of the worst of {seeds}"
    measured["min_reward"] = reward.mean
    notes["min_reward"] = f"per episode, {reward}, {seeds}"


def _measure_target(
    wanted: BudgetFile, measured: dict[str, float], notes: dict[str, str], say: Callable[[str], None]
) -> None:
    """The worst act and observe and the stack, on an emulated Cortex-M0 replaying the first seed's run."""
    from adamb.tools.device.emulator.core import HostCore
    from adamb.tools.device.latency.meters import measure_cortex
    from adamb.tools.device.settings import DeviceSettings
    from adamb.tools.device.stream import record

    if wanted.texts["agent"] != "adamb":
        raise InputError(
            f"{wanted.path}: agent",
            wanted.texts["agent"],
            "only adamb runs on a target; limit bytes and min_reward",
        )
    seed, episodes = _int(wanted, "seed_base"), _int(wanted, "episodes")
    problem = _problem(wanted, range(seed, seed + 1))
    try:
        settings = DeviceSettings(problem.d_s, problem.d_a, problem.horizon, **wanted.options)
    except TypeError:
        raise InputError(
            f"{wanted.path}: options", wanted.options, "holds one that the target has not"
        ) from None
    config, words = settings.config(), (wanted.budget_bytes or DEFAULT_BLOCK_BYTES) // 2
    if words < settings.required_words():
        raise InputError(
            f"{wanted.path}: budget", 2 * words, f"at least {2 * settings.required_words()} bytes"
        )
    stream = record(wanted.problem, problem, HostCore(config, words), config, words, episodes)
    costs = measure_cortex(stream, TARGET, say=say)
    where = f"worst of {stream.episodes * stream.horizon} calls on {TARGET}, seed {seed}"
    measured["act_instructions"], notes["act_instructions"] = int(costs.act.max()), where
    measured["observe_instructions"], notes["observe_instructions"] = int(costs.observe.max()), where
    measured["stack_bytes"] = max(costs.stack_bytes or 0, costs.stack_measured_bytes or 0)
    notes["stack_bytes"] = f"deepest call chain of the compiled code, {TARGET}"


def _table(wanted: BudgetFile, rows: list[LimitCheck]) -> Table:
    title = f"{wanted.texts['agent']} on {wanted.problem}, {wanted.numbers['episodes']} episodes"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(title), title_justify="left")
    for heading in ("quantity", "limit", "measured", "margin", "", "how"):
        table.add_column(heading, justify="left" if heading in ("quantity", "", "how") else "right")
    for row in rows:
        sense = "≥" if LIMITS[row.name] == "at least" else "≤"
        verdict = "[green]ok[/green]" if row.ok else "[red]broken[/red]"
        table.add_row(
            row.name,
            f"{sense} {row.limit:g}",
            f"{row.measured:.6g}",
            f"{row.margin:+.6g}",
            verdict,
            escape(row.note),
        )
    return table
