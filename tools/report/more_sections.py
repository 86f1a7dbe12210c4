"""The sections about measurements, profiles and sweeps, and where all the numbers come from."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

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
from adamb.tools.report.sources import LatencySource, ProfileSource, RunSource, Source, SweepSource
from adamb.tools.report.verdicts import number

QUANTILES = ("mean", "p99", "p999", "max")


def cost(measured: Sequence[LatencySource]) -> Section | None:
    if not measured:
        return None
    body = "".join(_cost_of(i, source) for i, source in enumerate(measured))
    lead = "act is on the way of the plant, observe is not. Every single call of a recorded run was measured."
    return section("cost", "Speed", lead, body)


def _cost_of(i: int, source: LatencySource) -> str:
    data = source.data
    known = [data[kind][key] for kind in ("act", "observe") for key in QUANTILES]
    limits = {kind: data.get(f"bound_{kind}") for kind in ("act", "observe")}
    low, high = (
        max(1.0, 0.8 * min(known)),
        1.1 * max([*known, *(limit for limit in limits.values() if limit)]),
    )
    rows, classes = [], []
    for kind, bound in limits.items():
        marks = {key: data[kind][key] for key in QUANTILES} | ({} if bound is None else {"bound": bound})
        figures = [number(data[kind][key]) for key in QUANTILES]
        rows.append([kind, *figures, "" if bound is None else number(bound), strip(marks, low, high)])
        classes.append("bad" if bound is not None and data[kind]["max"] > bound else "")
    facts = [
        f"{name} {number(data[key])} bytes"
        for key, name in (("stack_bytes", "stack"), ("flash_bytes", "flash"), ("ram_bytes", "RAM"))
        if data.get(key) is not None
    ]
    notes = [str(data["note"]) if data.get("note") else "", ", ".join(facts)]
    charts = (panel(chart(f"cost-{kind}-{i}", f"{kind} over the episodes")) for kind in ("act", "observe"))
    headings = ["", ">mean", ">99 % below", ">99.9 % below", ">dearest", ">bound", "on a logarithmic scale"]
    return (
        title(f"{source.label}, {data.get('unit', '')} per call")
        + side_by_side(*charts)
        + table(headings, rows, classes)
        + hint("; ".join(note for note in notes if note))
    )


def profile(found: Sequence[ProfileSource]) -> Section | None:
    if not found:
        return None
    body = ""
    for i, source in enumerate(found):
        modes = list(dict.fromkeys(str(point.get("mode")) for point in source.data["points"]))
        charts = (panel(small_title(mode), chart(f"profile-{i}-{mode}", "bytes")) for mode in modes)
        rows = [[escape(mode), *_exponents(source, mode)] for mode in modes]
        body += title(source.label) + side_by_side(*charts)
        body += table(["mode", ">grows as K^", ">paper's bound K^", "cap felt from"], rows)
    lead = "Bytes of the worst seed against the exact bound."
    return section("profile", "Memory over a long run", lead, body)


def _exponents(source: ProfileSource, mode: str) -> list[str]:
    found = (source.data.get("exponents") or {}).get(mode) or {}
    measured, half, paper = found.get("measured"), found.get("ci95"), found.get("paper")
    felt = (source.data.get("cap_bound_at") or {}).get(mode) or {}
    interval = "" if half is None else f" ± {half:.3f}"
    return [
        "" if measured is None else f"{measured:.3f}{interval}",
        "" if paper is None else f"{paper:.3f}",
        "never" if not felt.get("earliest") else f"episode {number(felt['earliest'])}",
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
        body += title(source.label) + side_by_side(*panels) + _sweep_table(source)
    lead = "Means over the seeds with 95 % intervals; a combination that did not fit is red."
    return section("sweep", "Sweep", lead, body)


def _sweep_table(source: SweepSource) -> str:
    rows, classes = [], []
    for row in source.rows:
        cap, peak = row.get("budget_bytes"), row.get("bytes_peak_max")
        over = bool(cap and peak and float(peak) > float(cap))
        words = [escape(row.get(name) or "") for name in ("problem", "agent", "bonus")]
        reward = escape(row["refused"]) if row.get("refused") else _reward(row)
        size = "" if not peak else number(float(peak))
        rows.append([*words, "none" if not cap else number(float(cap)), reward, _share(row), size])
        classes.append("bad" if row.get("refused") or over else "")
    return table(["problem", "agent", "bonus", ">cap", ">reward", ">of V*", ">peak bytes"], rows, classes)


def _reward(row: dict[str, str]) -> str:
    if not row.get("reward_per_episode_mean"):
        return ""
    half = row.get("reward_per_episode_ci95")
    interval = f" ± {float(half):.3f}" if half else ""
    return f"{float(row['reward_per_episode_mean']):.3f}{interval}"


def _share(row: dict[str, str]) -> str:
    if not row.get("reward_per_episode_mean") or not row.get("optimal_mean"):
        return ""
    share = 100 * float(row["reward_per_episode_mean"]) / max(float(row["optimal_mean"]), 1e-12)
    return f"{bar(0.7 * min(100.0, share))} {share:.1f} %"


def provenance(sources: Sequence[Source]) -> Section:
    body = "".join(
        f'<div class="panel provenance">{small_title(source.label)}<dl>{_facts(source)}</dl></div>'
        for source in sources
    )
    return section("provenance", "Where this comes from", "", body)


def _facts(source: Source) -> str:
    data = source.data
    details: dict[str, Any] = source.details if isinstance(source, RunSource) else data
    versions = details.get("versions") or {}
    facts: list[tuple[str, Any]] = [
        ("command", details.get("command")),
        ("finished", details.get("finished") if isinstance(details.get("finished"), str) else None),
        ("place", str(source.folder)),
        ("seeds", _seeds(data)),
        ("settings", _flat(details.get("settings"))),
        ("configuration", _flat(data.get("configuration"))),
        ("problem", _flat(details.get("problem"))),
        ("versions", _flat(versions) or data.get("version")),
        ("spec hash", data.get("spec_hash")),
        ("digest of the block", data.get("digest")),
        ("seconds", _flat(data.get("seconds"))),
    ]
    rows = []
    for name, value in facts:
        if value not in (None, ""):
            text = escape(str(value))
            rows.append(f"<dt>{name}</dt><dd>{f'<code>{text}</code>' if name == 'command' else text}</dd>")
    return "".join(rows)


def _seeds(data: dict[str, Any]) -> Any:
    seeds = data.get("seeds", data.get("seed"))
    if isinstance(seeds, list):
        return f"{seeds[0]} to {seeds[-1]} ({len(seeds)})" if seeds else "none"
    if seeds is not None and "seed_base" in data:
        return f"{data['seed_base']} to {data['seed_base'] + seeds - 1} ({seeds})"
    return seeds


def _flat(values: Any) -> str:
    """`a 1, b 2`, nested ones in brackets; lists are too long for a line."""
    if not isinstance(values, dict):
        return ""
    parts = []
    for key, value in values.items():
        if isinstance(value, dict):
            parts += [f"{key} ({_flat(value)})"] if value else []
        elif not isinstance(value, list):
            parts.append(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}")
    return ", ".join(parts)
