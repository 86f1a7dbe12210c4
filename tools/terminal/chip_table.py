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
