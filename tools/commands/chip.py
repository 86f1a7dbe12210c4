"""`adamb chip PROBLEM`: the controller as hardware, simulated cycle by cycle."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import parse_size
from adamb.tools.exit_codes import OK, VIOLATED
from adamb.tools.options import (
    Force,
    Json,
    Mode,
    PlayedProblem,
    Quiet,
    Share,
    bounded,
    given,
    of_controller,
    pairs,
)
from adamb.tools.outputs import check_outputs, save, write_json
from adamb.tools.stopping import stopped
from adamb.tools.terminal.frames import table_console
from adamb.tools.terminal.waiting import waiting

if TYPE_CHECKING:
    from adamb.tools.chip.measurement import ChipRequest, MeteredChip

TIMES_MAX = 3
"""Columns that a terminal has room for."""
EXAMPLE = "Example: adamb chip oil-laplace --budget 4KiB --episodes 200 --out runs/chip"


def register(app: typer.Typer) -> None:
    app.command(name="chip", epilog=EXAMPLE)(chip)


def chip(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="as for adamb run")],
    budget: Annotated[str, typer.Option("--budget", help="the block, in bytes: 4KiB, 512B, 4096")] = "4KiB",
    cpu: Annotated[
        str, typer.Option("--cpu", help="the processor that learns: picorv32 or serv")
    ] = "picorv32",
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="of the problem and of the controller")] = 0,
    horizon: Annotated[int | None, typer.Option("--horizon", help="steps of an episode")] = None,
    continuing: Annotated[
        bool, typer.Option("--continuing", help="an episode starts where the last ended")
    ] = False,
    mode: Mode = "tracking",
    share: Share = None,
    when_full: Annotated[str | None, of_controller("when_full")] = None,
    action: Annotated[str | None, of_controller("action")] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="a parameter of the problem, k=v")
    ] = None,
    optimise: Annotated[
        str, typer.Option("--optimise", help="compile the C core for size or speed")
    ] = "size",
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
    wave: Annotated[
        Path | None, typer.Option("--wave", help="also draw a decision on the trained block, as SVG")
    ] = None,
    json: Json = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="folder for chip.json, as adamb report reads")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Play a problem on a simulated chip: an engine decides, a small processor beside it learns.

    Prints cycles and SRAM accesses of every call, and gates and clock of the engine and of the whole chip.

    Exit code 1 when the block does not end as on this computer. The first start of the tools takes minutes.
    """
    from adamb.host_sim.results.chip import CHIP
    from adamb.tools.chip import measurement
    from adamb.tools.chip.program import CPUS
    from adamb.tools.chip.synthesis import FAMILIES

    _one_of("cpu", cpu, CPUS)
    _one_of("optimise", optimise, ("size", "speed"))
    _one_of("fabric", fabric, ("all", "none", *FAMILIES))
    families = tuple(FAMILIES) if fabric == "all" else () if fabric == "none" else (fabric,)
    times = _times(within, families)
    played = PlayedProblem(
        problem,
        (bounded("seed", seed, 0, 2**32 - 1),),
        bounded("episodes", episodes, measurement.EPISODES_MIN, 1_000_000),
        continuing=continuing,
        horizon=horizon,
        parameters=pairs("set", parameter),
    )
    options = {"mode": mode, "share": share, "when_full": when_full, "action": action}
    request = measurement.ChipRequest(played, cpu, parse_size(budget), optimise, families, engine, options)
    texts = given(verilog=verilog, wave=wave)
    check_outputs(json, out, (CHIP,), files=texts.values(), force=force)
    _perform(request, times, json, out, texts, force, quiet)


def _perform(
    request: ChipRequest,
    times: dict[str, float],
    json: str | None,
    out: Path | None,
    texts: dict[str, Path],
    force: bool,
    quiet: bool,
) -> None:
    """Simulate, print, save."""
    from adamb.host_sim.files import json_bytes, write_atomic
    from adamb.host_sim.results.chip import CHIP
    from adamb.tools.chip import measurement
    from adamb.tools.terminal.chip_table import calls_table, sizes_table, times_table

    console = table_console(stderr=json == "-")
    with waiting("building the chip; the first start of its tools takes minutes", quiet=quiet) as say:
        made, settings, chip = measurement.prepare(request)
        placed = measurement.place(request, settings, say)
        total = request.played.episodes
        metered = measurement.MeteredChip(chip, lambda k: say(f"episode {k} of {total}"))
        reward, complete = measurement.run(request, made, settings, metered)
        say("playing the same on this computer")
        found = measurement.summarise(request, settings, metered, reward, placed)
        made_texts = {path: TEXTS[kind](request, metered) for kind, path in texts.items()}
    console.print(calls_table(found))
    if request.families:
        console.print(sizes_table(found))
    if times:
        console.print(times_table(found, times))
    write_json(json, found.to_json())
    for path, text in made_texts.items():
        write_atomic(path, text.encode())
    if out is not None:
        save(out, {CHIP: json_bytes(found.to_json())}, replace=force)
    if not complete:
        raise stopped(metered.episodes, total, "episodes")
    raise typer.Exit(OK if found.agrees else VIOLATED)


def _verilog(request: ChipRequest, _: MeteredChip) -> str:
    from adamb.firmware_model.rtl.engine import DecisionEngine
    from adamb.tools.chip.verilog import verilog, with_licence

    return with_licence(verilog(DecisionEngine(request.shape), "adamb_engine"))


def _wave(request: ChipRequest, metered: MeteredChip) -> str:
    from array import array

    from adamb.tools.chip.wave import decision

    return decision(array("H", metered.chip.block()), request.shape, 0, [0x5555] * 3)


TEXTS = {"verilog": _verilog, "wave": _wave}


def _times(within: str | None, families: Collection[str]) -> dict[str, float]:
    """Seconds by what the user wrote."""
    from adamb.budgets.quantity import TIMES, parse_quantity

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


def _one_of(name: str, value: str, choices: Collection[str]) -> None:
    if value not in choices:
        raise InputError(name, value, "one of " + ", ".join(choices))
