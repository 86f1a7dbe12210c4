"""`adamb profile PROBLEM`: memory over a long run beside the bounds that must hold.

`adamb profile --check FILE` compares a controller with the limits in a file, so that a build can fail.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import MEMORY_OPTIONS
from adamb.firmware_model.host.sizes import parse_size
from adamb.tools.options import (
    AgentSettings,
    Budget,
    Folder,
    Json,
    PlayedProblem,
    Seeds,
    Settings,
    agent_settings,
    bounded,
    seed_range,
)
from adamb.tools.outputs import check_outputs, save, write_json
from adamb.tools.stopping import OK, VIOLATED, stopped
from adamb.tools.terminal import progress
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.budgets.limits import BudgetFile, LimitCheck
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.results.measurements import ProfileSummary
    from adamb.tools.measure.memory_growth import Profile

EXAMPLE = """Example: adamb profile oil-laplace --episodes 100000 --out runs/profile; adamb profile --check limits.toml

A file of limits says problem = "oil-laplace", perhaps budget = "4KiB", episodes, horizon and seeds, and in a
table named limits one or more of bytes, act_instructions, observe_instructions, stack_bytes and min_reward,
each with a number."""
MODES = ("tracking", "paper")
PLOTS = ("profile.png", "profile.svg")
SEEDS_MAX = 1000


def register(app: typer.Typer) -> None:
    app.command(name="profile", epilog=EXAMPLE, rich_help_panel="Budgets")(profile)


def profile(
    problem: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="oil-laplace, ambulance-2, …; none with --check")
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check", metavar="FILE", help="compare with the limits in a TOML file instead")
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K")] = 100_000,
    seeds: Seeds = "20",
    parameter: Settings = None,
    agent_set: AgentSettings = None,
    budget: Budget = "1KiB",
    json: Json = None,
    out: Folder = None,
) -> None:
    """Measure bytes, leaves, units and count entries over the episodes, capped (--budget) and uncapped, in both modes.

    Exit code 1 when a measurement exceeds its upper bound, or with --check one of the limits.
    """
    if check is not None:
        if problem is not None:
            raise InputError("check", str(check), f"says the problem itself; leave {problem} out")
        return _check(check, json)
    if problem is None:
        raise InputError("problem", None, "name one, such as oil-laplace, or a file of limits with --check")
    from adamb.host_sim.results.measurements import POINTS, PROFILE
    from adamb.tools.measure.memory_growth import GrowthTask, measure_all, stopped_before, summarise, summary_files

    options = agent_settings(agent_set, ("mode", *MEMORY_OPTIONS))
    modes = (str(options.pop("mode")),) if "mode" in options else MODES
    played = PlayedProblem.of(
        problem, seed_range(seeds, SEEDS_MAX), bounded("episodes", episodes, 10, 10_000_000), parameter
    )
    cap = None if budget.lower() == "none" else parse_size(budget)
    tasks = [GrowthTask(played, mode, cap, options) for mode in modes]
    again = out is not None and stopped_before(out, tasks)
    check_outputs(json, out, (PROFILE, POINTS, *PLOTS), replace=again)
    with progress("preparing") as display:
        found = measure_all(tasks, display)
    summary = summarise(found)
    _show(found, summary, table_console(stderr=json == "-"))
    write_json(json, summary.to_json())
    if out is not None:
        save(out, {**_plots(found), **summary_files(summary)})
    if summary.interrupted:
        raise stopped(min(each.episodes for each in found), episodes, "episodes")
    raise typer.Exit(VIOLATED if summary.violations else OK)


def _check(file: Path, json: str | None) -> None:
    """Measure what the file limits and compare."""
    from adamb.budgets.limits import judge, read_budget_file

    wanted = read_budget_file(file)
    check_outputs(json, replace=True)
    with progress(f"measuring {wanted.problem}") as say:
        measured, notes = _measure_limits(wanted, say)
    rows = judge(wanted, measured, notes)
    write_json(json, _check_content(file, wanted, rows))
    if json != "-":
        table_console().print(_check_table(wanted, rows))
    raise typer.Exit(OK if all(row.ok for row in rows) else VIOLATED)


def _plots(found: list[Profile]) -> dict[str, bytes]:
    from adamb.tools.figures import picture_files
    from adamb.tools.figures.growth import profile_figure

    return picture_files({"profile": profile_figure(found)})


def _show(found: list[Profile], summary: ProfileSummary, console: Console) -> None:
    for each in found:
        console.print(_table(each))
        console.print(_sentence(summary, each.task.mode), highlight=False)
        for broken in each.violations()[:10]:
            console.print(f"[red]violated:[/red] {broken}", highlight=False)


def _table(each: Profile) -> Table:
    seeds = each.task.played.seeds
    title = f"{each.task.played.problem}, {each.task.mode}, seeds {seeds[0]}..{seeds[-1]} (worst of them)"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(title), title_justify="left")
    names = list(each.tracks)
    headings = ["episode", *(f"bytes {name}" for name in names), "upper bound", "leaves", "bound", "entries", "bound"]
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


TARGET = "cortex-m0"
#: The block of a measurement on the target when the file limits instructions but names no bytes.
DEFAULT_BLOCK_BYTES = 4096


def _measure_limits(
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
            f"{wanted.path}: agent", wanted.texts["agent"], "only adamb runs on a target; limit bytes and min_reward"
        )
    seed, episodes = _int(wanted, "seed_base"), _int(wanted, "episodes")
    problem = _problem(wanted, range(seed, seed + 1))
    try:
        settings = DeviceSettings(problem.d_s, problem.d_a, problem.horizon, **wanted.options)
    except TypeError:
        raise InputError(f"{wanted.path}: options", wanted.options, "holds one that the target has not") from None
    config, words = settings.config(), (wanted.budget_bytes or DEFAULT_BLOCK_BYTES) // 2
    if words < settings.required_words():
        raise InputError(f"{wanted.path}: budget", 2 * words, f"at least {2 * settings.required_words()} bytes")
    stream = record(wanted.problem, problem, HostCore(config, words), config, words, episodes)
    costs = measure_cortex(stream, TARGET, say=say)
    where = f"worst of {stream.episodes * stream.horizon} calls on {TARGET}, seed {seed}"
    measured["act_instructions"], notes["act_instructions"] = int(costs.act.max()), where
    measured["observe_instructions"], notes["observe_instructions"] = int(costs.observe.max()), where
    measured["stack_bytes"] = max(costs.stack_bytes or 0, costs.stack_measured_bytes or 0)
    notes["stack_bytes"] = f"deepest call chain of the compiled code, {TARGET}"


def _check_table(wanted: BudgetFile, rows: list[LimitCheck]) -> Table:
    from adamb.budgets.limits import LIMITS

    title = f"{wanted.texts['agent']} on {wanted.problem}, {wanted.numbers['episodes']} episodes"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(title), title_justify="left")
    for heading in ("quantity", "limit", "measured", "margin", "", "how"):
        table.add_column(heading, justify="left" if heading in ("quantity", "", "how") else "right")
    for row in rows:
        sense = "≥" if LIMITS[row.name] == "at least" else "≤"
        verdict = "[green]ok[/green]" if row.ok else "[red]broken[/red]"
        table.add_row(
            row.name, f"{sense} {row.limit:g}", f"{row.measured:.6g}", f"{row.margin:+.6g}", verdict, escape(row.note)
        )
    return table


def _check_content(file: Path, wanted: BudgetFile, rows: list[LimitCheck]) -> dict[str, Any]:
    """What --json says."""
    return {
        "file": str(file),
        "problem": wanted.problem,
        "agent": wanted.texts["agent"],
        **wanted.numbers,
        "budget_bytes": wanted.budget_bytes,
        "rows": [row.to_json() for row in rows],
        "ok": all(row.ok for row in rows),
    }
