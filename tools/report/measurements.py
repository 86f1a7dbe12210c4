"""The sections about measurements: speed, simulated chips, memory over a long run; and the curves they draw."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from adamb.host_sim.results.measurements import CallCost
from adamb.tools.report.markup import (
    Chart,
    Section,
    bound_line,
    chart,
    hint,
    line,
    panel,
    rule,
    section,
    side_by_side,
    small_title,
    strip,
    table,
    title,
)
from adamb.tools.report.sources import ChipSource, LatencySource, ProfileSource
from adamb.tools.report.verdicts import BAD, FIT, OK, SPEED, Answer, Judgement, number, speed_of_latency


def judge_latency(source: LatencySource) -> Judgement:
    broken = [f"bound broken: {line}" for line in source.summary.violations]
    return Judgement(source.label, "latency", broken, [speed_of_latency(source)])


def judge_chip(source: ChipSource) -> Judgement:
    """The chip must end with the words of the host, and no decision may exceed its cycles."""
    found = source.summary
    broken = [] if found.agrees else ["bound broken: the block of the chip is not that of this computer"]
    worst, bound = found.act_engine.cycles_max, found.bound_act_cycles
    if worst > bound:
        broken.append(f"bound broken: a decision took {worst} cycles, the bound is {bound}")
    text = f"The engine decides in {worst} cycles at most (bound {bound}), {found.cpu} learns in "
    text += f"{number(found.observe.cycles_mean)} cycles, at most {number(found.observe.cycles_max)}."
    for name, size in found.placed():
        text += f" {size.family}, {name}: {size.luts} LUTs, {size.mhz:.0f} MHz,"
        text += f" {found.decision_ns(size):.0f} ns a decision."
    answer = Answer(SPEED, BAD if broken else OK, f"{worst} cycles at most", text)
    return Judgement(source.label, "chip", broken, [answer])


def judge_profile(source: ProfileSource) -> Judgement:
    """Bounds at every point, and the cap of the capped runs."""
    found, cap = source.summary, source.summary.budget_bytes
    free, capped = found.worst_bytes("uncapped"), found.worst_bytes("capped")
    broken = [f"bound broken: {line}" for line in found.violations]
    if cap is not None and capped > cap:
        used = f"{number(capped)} bytes used, the cap is {number(cap)} bytes"
        broken.insert(0, f"budget broken: {used}")
    reached = number(found.reached("uncapped"))
    text = f"Without a cap the worst seed used {number(free)} bytes in {reached} episodes"
    if cap is not None and capped:
        text += f", under a cap of {number(cap)} bytes {number(capped)}"
    text += ". Leaves, units, entries and bytes were compared with their upper bounds at every point."
    short = f"Broken {len(broken)} times" if broken else "Every bound held"
    return Judgement(source.label, "profile", broken, [Answer(FIT, BAD if broken else OK, short, text)])


def cost(measured: Sequence[LatencySource]) -> Section | None:
    if not measured:
        return None
    body = "".join(_cost_of(i, source) for i, source in enumerate(measured))
    lead = "act is on the way of the plant, observe is not. Every single call of a recorded run was measured."
    return section("cost", "Speed", lead, body)


def _cost_of(i: int, source: LatencySource) -> str:
    found = source.summary
    kinds = {"act": (found.act, found.bound_act), "observe": (found.observe, found.bound_observe)}
    known = [value for costs, _ in kinds.values() for value in vars(costs).values()]
    low = max(1.0, 0.8 * min(known))
    high = 1.1 * max([*known, *(bound for _, bound in kinds.values() if bound)])
    rows, classes = [], []
    for kind, (costs, bound) in kinds.items():
        marks = vars(costs) | ({} if bound is None else {"bound": bound})
        figures = [number(value) for value in vars(costs).values()]
        rows.append([kind, *figures, "" if bound is None else number(bound), strip(marks, low, high)])
        classes.append("bad" if bound is not None and costs.max > bound else "")
    sizes = {"stack": found.stack_bytes, "flash": found.flash_bytes, "RAM": found.ram_bytes}
    facts = [f"{name} {number(size)} bytes" for name, size in sizes.items() if size is not None]
    notes = [found.note, ", ".join(facts)]
    charts = (
        panel(chart(f"cost-{kind}-{i}", f"{kind} over the episodes", options))
        for kind, options in latency_charts(source).items()
    )
    headings = ["", ">mean", ">99 % below", ">99.9 % below", ">worst", ">bound", "on a logarithmic scale"]
    return (
        title(f"{source.label}, {found.unit} per call")
        + side_by_side(*charts)
        + table(headings, rows, classes)
        + hint("; ".join(note for note in notes if note))
    )


def latency_charts(source: LatencySource) -> dict[str, Chart]:
    """Both calls over the episodes, joined to as many points as a screen shows, and their bounds."""
    curves, found = source.measured.curves, source.summary
    edges = np.unique(np.geomspace(1, len(curves.episode) + 1, 140).round().astype(int)) - 1
    parts = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    episodes = [float(curves.episode[(a + b - 1) // 2]) + 1 for a, b in parts]

    def joined(values: Sequence[Any], join: Any = np.max) -> list[float]:
        full = np.array(values, dtype=float)
        return [float(f"{join(full[a:b]):.6g}") for a, b in parts]

    charts = {}
    for kind, mean, worst, bound, limit in (
        ("act", curves.act_mean, curves.act_max, curves.bound_act, found.bound_act),
        ("observe", curves.observe_mean, curves.observe_max, curves.bound_observe, found.bound_observe),
    ):
        known = [value for value in bound or [] if value is not None]
        series = [line("mean", episodes, joined(mean, np.mean), look=0)]
        series.append(line("worst call", episodes, joined(worst), colour="var(--c1)", dash="5 2", thin=True))
        charts[kind] = {
            "x": {"label": "episode", "log": True},
            "y": {"label": f"{found.unit} per {kind}", "log": kind == "observe", "format": "integer"},
            "series": [*series, bound_line(episodes, joined(known), step=True)] if known else series,
            "rules": [] if known else rule(limit, "upper bound"),
            "height": 250,
        }
    return charts


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


def profile(found: Sequence[ProfileSource]) -> Section | None:
    if not found:
        return None
    body = ""
    for i, source in enumerate(found):
        modes = source.summary.modes
        charts = (
            panel(small_title(mode), chart(f"profile-{i}-{mode}", "bytes", options))
            for mode, options in profile_charts(source).items()
        )
        rows = [[escape(mode), *_exponents(source, mode)] for mode in modes]
        body += title(source.label) + side_by_side(*charts)
        body += table(["mode", ">grows as K^", ">paper's bound K^", "room ran out from"], rows)
    lead = "Bytes of the worst seed against the upper bound."
    return section("profile", "Memory over a long run", lead, body)


def _exponents(source: ProfileSource, mode: str) -> list[str]:
    found, felt = source.summary.exponents[mode], source.summary.cap_bound_at[mode]
    interval = "" if found.ci95 is None else f" ± {found.ci95:.3f}"
    return [
        "" if found.measured is None else f"{found.measured:.3f}{interval}",
        "" if found.paper is None else f"{found.paper:.3f}",
        "never" if felt is None or felt.earliest is None else f"episode {number(felt.earliest)}",
    ]


def profile_charts(source: ProfileSource) -> dict[str, Chart]:
    """Bytes of every track against the upper bound, by mode; the modes are compared, so they have one scale."""
    points = source.summary.points
    sizes = [size for point in points for size in (point.bytes_max, point.bound_exact)]
    scale = {"top": 1.4 * max(sizes), "bottom": 0.8 * min(size for size in sizes if size > 0)}
    charts = {}
    for mode in dict.fromkeys(point.mode for point in points):
        tracks = {point.run: [p for p in points if (p.mode, p.run) == (mode, point.run)] for point in points}
        series = [
            line(f"{name}, worst seed", [p.episode for p in track], [p.bytes_max for p in track], look=k)
            for k, (name, track) in enumerate(tracks.items())
            if track
        ]
        first = next(track for track in tracks.values() if track)
        series.append(bound_line([p.episode for p in first], [p.bound_exact for p in first], thin=True))
        charts[mode] = {
            "x": {"label": "episode", "log": True},
            "y": {"label": "bytes in use", "log": True, "format": "integer", **scale},
            "series": series,
            "height": 280,
        }
    return charts
