"""`adamb chip PROBLEM`: the controller as hardware, simulated cycle by cycle."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import format_bytes, parse_size
from adamb.tools.options import (
    AgentSettings,
    Budget,
    Folder,
    Json,
    PlayedProblem,
    Settings,
    bounded,
    controller_settings,
    one_of,
)
from adamb.tools.outputs import check_outputs, save, write_json
from adamb.tools.stopping import OK, VIOLATED, stopped
from adamb.tools.terminal import progress
from adamb.tools.terminal.frames import framed, table_console

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.host_sim.results.measurements import CallCost, ChipSummary
    from adamb.tools.chip.measurement import ChipRequest


TIMES_MAX = 3
"""Columns that a terminal has room for."""
EXAMPLE = "Example: adamb chip oil-laplace --budget 4KiB --episodes 200 --out runs/chip"


def register(app: typer.Typer) -> None:
    app.command(name="chip", epilog=EXAMPLE, rich_help_panel="Boards and chips")(chip)


def chip(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="as for adamb run")],
    budget: Budget = "4KiB",
    cpu: Annotated[str, typer.Option("--cpu", help="the processor that learns: picorv32 or serv")] = "picorv32",
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K")] = 200,
    parameter: Settings = None,
    agent_set: AgentSettings = None,
    fabric: Annotated[
        str, typer.Option("--fabric", help="place and route for: all, ice40, ecp5, ecp5-6 or none")
    ] = "all",
    engine: Annotated[
        str, typer.Option("--engine", help="built for: any block, or dimensions 1+1, also a horizon 1+1h5")
    ] = "any",
    within: Annotated[
        str | None, typer.Option("--within", help="how many decisions fit into these times: 14ns,7.8us")
    ] = None,
    verilog: Annotated[
        Path | None, typer.Option("--verilog", help="also write the engine, as Verilog, to this file")
    ] = None,
    json: Json = None,
    out: Folder = None,
) -> None:
    """Play a problem on a simulated chip: an engine decides, a small processor beside it learns.

    Prints cycles and SRAM accesses of every call, and gates and clock of the engine and of the whole chip.

    Exit code 1 when the block does not end as on this computer. The first start of the tools takes minutes.
    """
    from adamb.host_sim.results.measurements import CHIP
    from adamb.tools.chip import measurement
    from adamb.tools.chip.simulated import CPUS
    from adamb.tools.chip.synthesis import FAMILIES

    one_of("cpu", cpu, CPUS)
    one_of("fabric", fabric, ("all", "none", *FAMILIES))
    families = tuple(FAMILIES) if fabric == "all" else () if fabric == "none" else (fabric,)
    times = _times(within, families)
    played = PlayedProblem.of(
        problem, (0,), bounded("episodes", episodes, measurement.EPISODES_MIN, 1_000_000), parameter
    )
    options = controller_settings(agent_set)
    request = measurement.ChipRequest(played, cpu, parse_size(budget), "size", families, engine, options)
    check_outputs(json, out, (CHIP,), files=[] if verilog is None else [verilog])
    _perform(request, times, json, out, verilog)


def _perform(
    request: ChipRequest, times: dict[str, float], json: str | None, out: Path | None, verilog: Path | None
) -> None:
    """Simulate, print, save."""
    from adamb.host_sim.files import json_bytes, write_atomic
    from adamb.host_sim.results.measurements import CHIP
    from adamb.tools.chip import measurement

    console = table_console(stderr=json == "-")
    with progress("building the chip; the first start of its tools takes minutes") as say:
        made, settings, chip = measurement.prepare(request)
        placed = measurement.place(request, settings, say)
        total = request.played.episodes
        metered = measurement.MeteredChip(chip, lambda k: say(f"episode {k} of {total}", k, total))
        reward, complete = measurement.run(request, made, settings, metered)
        say("playing the same on this computer")
        found = measurement.summarise(request, settings, metered, reward, placed)
        engine = None if verilog is None else _verilog(request)
    console.print(calls_table(found))
    if request.families:
        console.print(sizes_table(found))
    if times:
        console.print(times_table(found, times))
    write_json(json, found.to_json())
    if verilog is not None and engine is not None:
        write_atomic(verilog, engine.encode())
    if out is not None:
        save(out, {CHIP: json_bytes(found.to_json())}, replace=False)
    if not complete:
        raise stopped(metered.episodes, total, "episodes")
    raise typer.Exit(OK if found.agrees else VIOLATED)


def _verilog(request: ChipRequest) -> str:
    from adamb.firmware_model.rtl.engine import DecisionEngine
    from adamb.tools.chip import verilog
    from adamb.tools.device.port.job import with_licence

    return with_licence(verilog(DecisionEngine(request.shape), "adamb_engine"))


def _times(within: str | None, families: Collection[str]) -> dict[str, float]:
    """Seconds by what the user wrote."""
    from adamb.firmware_model.host.sizes import TIMES, parse_quantity

    if within is None:
        return {}
    if not families:
        raise InputError("within", within, "needs a clock, which --fabric none does not give")
    units = {**TIMES, "ns": Fraction(1, 10**9)}
    expected = "times such as 14ns or 7.8us, at most an hour"
    names = [name.strip() for name in within.split(",")]
    if len(names) > TIMES_MAX:
        raise InputError("within", within, f"at most {TIMES_MAX} times")
    return {name: parse_quantity("within", name, units, most=3600, expected=expected) for name in names}


def calls_table(found: ChipSummary) -> Table:
    title = f"{found.problem}, {found.d_s}+{found.d_a}, {found.episodes} episodes, seed {found.seed}"
    title += f": cycles on a chip with {found.cpu}"
    agrees = "as on this computer" if found.agrees else f"NOT that of this computer, {found.digest_host}"
    caption = (
        f"block {format_bytes(found.budget_bytes)} in {format_bytes(found.sram_bytes)} of SRAM, program "
        f"{found.program_bytes:,} bytes for {found.optimise}; reward {found.reward_mean} an episode; "
        f"an act of the engine takes at most {found.bound_act_cycles} cycles; "
        f"digest of the block {found.digest}, {agrees}"
    )
    view = framed(title, ("call", "by", "mean", "p99", "worst", "reads", "writes"), caption)
    rows: dict[str, list[CallCost | None]] = {
        "act": [found.act_engine, found.act_processor],
        "observe": [found.observe],
        "end_episode": [found.end_episode],
    }
    for name, costs in rows.items():
        for cost in costs:
            if cost is not None:
                view.add_row(
                    name, cost.who, f"{cost.cycles_mean:,.1f}", f"{cost.cycles_p99:,}",
                    f"{cost.cycles_max:,}", f"{cost.reads_mean:,.1f}", f"{cost.writes_mean:,.1f}",
                )  # fmt: skip
    return view


def sizes_table(found: ChipSummary) -> Table:
    headings = ("on", "of", "LUT4", "flip-flops", "RAMs", "MHz", "ns")
    parts = [
        "engine: LUTs and flip-flops without, clock with an SRAM in block RAMs, best of three placements",
        *_chip_notes(found),
        *found.left_out,
        f"ns of a decision of {found.act_engine.cycles_max} cycles, the longest above",
        found.tools,
    ]
    view = framed("Size and clock", headings, "; ".join(parts))
    for name, size in found.placed():
        view.add_row(
            size.family, name, f"{size.luts:,}", f"{size.flip_flops:,}", str(size.block_rams),
            f"{size.mhz:.0f}", f"{found.decision_ns(size):.0f}",
        )  # fmt: skip
    return view


def _chip_notes(found: ChipSummary) -> list[str]:
    """What the word chip stands for in the table."""
    if not found.chips:
        return []
    multipliers = found.chips[0].multipliers
    with_them = f", {multipliers} multipliers" if multipliers else ""
    engine = f"the engine {found.chips[0].built_for}"
    return [f"chip: {found.cpu}, {engine}, SRAM and program memory{with_them}, one placement"]


def times_table(found: ChipSummary, times: Mapping[str, float]) -> Table:
    """What is done within times, given in seconds under the names that the user gave them."""
    longest, bound = found.act_engine.cycles_max, found.bound_act_cycles
    needed = [
        f"within {name} one needs {longest / seconds / 1e6:,.1f} MHz, one of the bound's {bound} cycles "
        f"{bound / seconds / 1e6:,.1f} MHz"
        for name, seconds in times.items()
    ]
    caption = f"decisions of {longest} cycles; an observe of the mean length"
    headings = ("on", "of", *(f"in {name}" for name in times), "µs an observe")
    view = framed("Decisions within a time", headings, "; ".join([caption, *needed]))
    for name, size in found.placed():
        fitting = [f"{found.decisions_within(size, seconds):,}" for seconds in times.values()]
        learns = f"{found.observe_us(size):,.0f}" if size in found.chips else ""
        view.add_row(size.family, name, *fitting, learns)
    return view
