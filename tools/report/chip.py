"""The section about simulated chips."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from adamb.host_sim.results.chip import CallCost
from adamb.tools.report.markup import Section, hint, section, table, title
from adamb.tools.report.sources import ChipSource
from adamb.tools.report.verdicts import number


def chips(found: Sequence[ChipSource]) -> Section | None:
    if not found:
        return None
    lead = "An engine decides, a processor beside it learns. Every cycle was simulated."
    return section("chip", "On a chip", lead, "".join(_chip(source) for source in found))


def _chip(source: ChipSource) -> str:
    found = source.summary
    calls: list[tuple[str, CallCost | None]] = [
        ("act", found.act_engine),
        ("act", found.act_processor),
        ("observe", found.observe),
        ("end_episode", found.end_episode),
    ]
    headings = ["call", "by", ">mean cycles", ">99 % below", ">worst", ">SRAM reads", ">SRAM writes"]
    rows = [_row(name, cost) for name, cost in calls if cost is not None]
    sizes = [
        [
            escape(size.family), escape(name), str(size.luts), str(size.flip_flops),
            str(size.block_rams), f"{size.mhz:.1f}", f"{found.decision_ns(size):.0f}",
        ]
        for name, size in found.placed()
    ]  # fmt: skip
    names = ["on", "of", ">LUT4", ">flip-flops", ">block RAMs", ">MHz", ">ns a decision"]
    same = "the same" if found.agrees else "NOT the same"
    note = f"the block ends with digest {escape(found.digest)}, {same} as on the computer; "
    note += f"program {number(found.program_bytes)} bytes"
    note += "".join(f"; {reason}" for reason in found.left_out)
    return title(source.label) + table(headings, rows) + (table(names, sizes) if sizes else "") + hint(note)


def _row(name: str, cost: CallCost) -> list[str]:
    cycles = [number(value) for value in (cost.cycles_mean, cost.cycles_p99, cost.cycles_max)]
    return [name, escape(cost.who), *cycles, f"{cost.reads_mean:.1f}", f"{cost.writes_mean:.1f}"]
