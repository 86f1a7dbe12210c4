"""What a simulated chip needed: cycles and accesses of its calls, gates and clock of its engine."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.results.chip import CallCost, ChipSummary
from adamb.tools.terminal.frames import framed


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
    headings = ("engine", "for", "LUT4", "flip-flops", "block RAMs", "MHz", "ns a decision")
    caption = (
        "LUTs and flip-flops of the engine alone; block RAMs hold the SRAM; clock of both, best of three "
        "placements; "
        f"a decision of {found.act_engine.cycles_max} cycles, the longest above; {found.tools}"
    )
    view = framed("Size and clock", headings, caption)
    for engine in found.engines:
        view.add_row(
            engine.family, engine.built_for, str(engine.luts), str(engine.flip_flops), str(engine.block_rams),
            f"{engine.mhz:.0f}", f"{found.decision_ns(engine):.0f}",
        )  # fmt: skip
    return view


def times_table(found: ChipSummary, times: Mapping[str, float]) -> Table:
    """What is done within times, given in seconds under the names that the user gave them."""
    longest, bound = found.act_engine.cycles_max, found.bound_act_cycles
    needed = [
        f"within {name} one needs {longest / seconds / 1e6:,.1f} MHz, one of the bound's {bound} cycles "
        f"{bound / seconds / 1e6:,.1f} MHz"
        for name, seconds in times.items()
    ]
    caption = f"decisions of {longest} cycles; mean observe with the processor at the engine's clock"
    headings = ("engine", "for", *(f"in {name}" for name in times), "µs an observe")
    view = framed("Decisions within a time", headings, "; ".join([caption, *needed]))
    for engine in found.engines:
        fitting = [f"{found.decisions_within(engine, seconds):,}" for seconds in times.values()]
        view.add_row(engine.family, engine.built_for, *fitting, f"{found.observe_us(engine):,.0f}")
    return view
