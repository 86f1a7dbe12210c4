"""The sections about measurements, profiles and sweeps, and where all the numbers come from."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from adamb.host_sim.results.sweep import SummaryRow
from adamb.tools.report.markup import (
    Section,
    bar,
    chart,
    hint,
    panel,
    section,
    side_by_side,
    small_title,
    strip,
    table,
    title,
)
from adamb.tools.report.sources import LatencySource, ProfileSource, Source, SweepSource
from adamb.tools.report.verdicts import number


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
    charts = (panel(chart(f"cost-{kind}-{i}", f"{kind} over the episodes")) for kind in ("act", "observe"))
    headings = ["", ">mean", ">99 % below", ">99.9 % below", ">worst", ">bound", "on a logarithmic scale"]
    return (
        title(f"{source.label}, {found.unit} per call")
        + side_by_side(*charts)
        + table(headings, rows, classes)
        + hint("; ".join(note for note in notes if note))
    )


def profile(found: Sequence[ProfileSource]) -> Section | None:
    if not found:
        return None
    body = ""
    for i, source in enumerate(found):
        modes = source.summary.modes
        charts = (panel(small_title(mode), chart(f"profile-{i}-{mode}", "bytes")) for mode in modes)
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


def sweep(found: Sequence[SweepSource], packed: list[dict[str, Any]]) -> Section | None:
    if not found:
        return None
    body = ""
    for i, source in enumerate(found):
        panels = (
            panel(small_title(each["problem"]), chart(f"sweep-{i}-{k}", "reward by cap"))
            for k, each in enumerate(packed[i]["panels"])
        )
        body += title(source.label) + side_by_side(*panels) + _sweep_table(i, source)
    lead = "Means over the seeds with 95 % intervals; a combination that did not fit is red."
    if any(source.sweep.seeds_of(row) for source in found for row in source.sweep.rows):
        lead += " A reward that you choose is shown seed by seed."
    return section("sweep", "Sweep", lead, body)


def _sweep_table(i: int, source: SweepSource) -> str:
    rows, classes = [], []
    for k, row in enumerate(source.sweep.rows):
        cap, peak = row.budget_bytes, row.bytes_peak_max
        words = [escape(word or "") for word in (row.problem, row.agent, row.bonus)]
        reward = escape(row.refused) if row.refused else _reward(row)
        if source.sweep.seeds_of(row):
            reward = f'<button type="button" class="seed" data-sweep="{i}" data-row="{k}">{reward}</button>'
        size = "" if peak is None else number(peak)
        rows.append([*words, "none" if cap is None else number(cap), reward, _share(row), size])
        classes.append("bad" if row.refused or row.over_budget else "")
    headings = ["problem", "agent", "bonus", ">cap", ">reward", ">of V*", ">peak bytes"]
    return table(headings, rows, classes) + f'<div id="sweep-seeds-{i}" class="panel" hidden></div>'


def _reward(row: SummaryRow) -> str:
    mean, half = row.reward_per_episode_mean, row.reward_per_episode_ci95
    if mean is None:
        return ""
    return f"{mean:.3f}" + ("" if half is None else f" ± {half:.3f}")


def _share(row: SummaryRow) -> str:
    if row.reward_per_episode_mean is None or row.optimal_mean is None:
        return ""
    share = 100 * row.reward_per_episode_mean / max(row.optimal_mean, 1e-12)
    return f"{bar(0.7 * min(100.0, share))} {share:.1f} %"


def provenance(sources: Sequence[Source]) -> Section:
    body = "".join(
        f'<div class="panel provenance">{small_title(source.label)}<dl>{_facts(source)}</dl></div>'
        for source in sources
    )
    return section("provenance", "Where this comes from", "", body)


def _facts(source: Source) -> str:
    rows = []
    for name, value in {"place": source.place, **source.facts()}.items():
        text = escape(_flat(value) if isinstance(value, dict) else str(value))
        if value is not None and text:
            rows.append(f"<dt>{name}</dt><dd>{f'<code>{text}</code>' if name == 'command' else text}</dd>")
    return "".join(rows)


def _flat(values: dict[str, Any]) -> str:
    """`a 1, b 2`, nested ones in brackets; lists are too long for a line."""
    parts = []
    for key, value in values.items():
        if isinstance(value, dict):
            parts += [f"{key} ({_flat(value)})"] if value else []
        elif not isinstance(value, list):
            parts.append(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}")
    return ", ".join(parts)
