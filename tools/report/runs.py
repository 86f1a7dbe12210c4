"""The sections about runs: learning, seeds, memory, what happened when; and the curves they draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from adamb.firmware_model.host.reader import BLOCK_COUNTERS
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.recording import Recording
from adamb.host_sim.results.run import RewardCurve, RunCurves
from adamb.tools.report.blocks import thin
from adamb.tools.report.markup import (
    LIMIT,
    Chart,
    Section,
    chart,
    choices,
    controls,
    data,
    episode_scale,
    hint,
    line,
    long_table,
    panel,
    rule,
    section,
    side_by_side,
    table,
    title,
)
from adamb.tools.report.sources import RunSource
from adamb.tools.report.verdicts import RunBounds, number

LINE_POINTS = 500
COUNTER_NAMES = {"leaves": "leaves", "refused_splits": "refused splits", "reclaims": "reclaims", "restarts": "restarts"}
MOST_SEEDS = 500
"""More rows than this are no longer looked at one by one."""


def learning(runs: Sequence[RunSource]) -> Section | None:
    if not runs:
        return None
    known = any(run.summary.optimal for run in runs)
    curves = [run.run.details.curve for run in runs]
    windows = sorted({curve.window for curve in curves if curve.window > 1})
    lead = "Reward per episode"
    if windows:
        lead += f", running mean of {' or '.join(number(window) for window in windows)} episodes"
    if any(curve.reward_ci95 for curve in curves):
        lead += "; the band is the 95 % interval of that mean over the seeds"
    lead += ". The optimum V* is exact, for the same start states." if known else "."
    if any(run.run.lines.references for run in runs):
        lead += " Random actions, and the best action to play always (static), show what learning adds."
    reward, unit = learning_chart(runs, share=False), ""
    if known:
        charts = {"reward": {"learning": reward}, "share": {"learning": learning_chart(runs, share=True)}}
        unit = choices("learning-unit", "Show", {"reward": "reward", "share": "share of V*"}, data(charts))
    drawn = chart("learning", "learning curves", None if known else reward)
    body = panel(controls(unit, episode_scale("learning")), drawn)
    return section("learning-curves", "Learning", lead, body)


def seeds(runs: Sequence[RunSource]) -> Section | None:
    """Runs with several seeds."""
    shown = [(i, run) for i, run in enumerate(runs) if run.summary.seeds > 1]
    if not shown:
        return None
    body = ""
    for i, run in shown:
        body += title(run.label) if len(shown) > 1 else ""
        drawn = chart(f"seeds-{i}", "reward of every seed", seed_chart(run))
        body += panel(drawn, _seed_table(i, run)) + _left_out(run)
    lead = "Every seed is a run of its own. Sort the table to find the best and the worst"
    lead += "; a seed that you choose is drawn."
    return section("seeds", "Seed by seed", lead, body)


def _seed_table(i: int, run: RunSource) -> str:
    details = run.run.details
    known = {name: details.seed_counters[key] for key, name in COUNTER_NAMES.items() if key in details.seed_counters}
    drawn = len(run.run.lines.seeds)
    headings = [">seed", ">reward", ">of the mean", ">peak bytes", *(f">{name}" for name in known)]
    mean = run.summary.reward_per_episode.mean
    rows = []
    for k, reward in enumerate(details.seed_rewards[:MOST_SEEDS]):
        seed = str(run.summary.seed_base + k)
        name = f'<button type="button" class="seed" data-chart="seeds-{i}" data-row="{k}">{seed}</button>'
        share = f"{100 * reward / mean:.1f} %" if mean > 0 else ""
        counters = [number(values[k]) for values in known.values()]
        rows.append(
            [name if k < drawn else seed, f"{reward:.3f}", share, number(details.seed_bytes_peak[k]), *counters]
        )
    return long_table(headings, rows)


def _left_out(run: RunSource) -> str:
    notes = []
    if run.summary.seeds > MOST_SEEDS:
        notes.append(f"The first {MOST_SEEDS} of {run.summary.seeds} seeds are listed.")
    if len(run.run.lines.seeds) < run.summary.seeds:
        notes.append(f"The curves of the first {len(run.run.lines.seeds)} are kept.")
    return hint(escape(" ".join(notes))) if notes else ""


def memory(runs: Sequence[RunSource], bounds: dict[int, RunBounds | None]) -> Section | None:
    if not runs:
        return None
    rows, classes = [], []
    for run in runs:
        bound = bounds[id(run)]
        leaves = max(run.run.seed_counter("leaves"), default=0)
        used, cap = run.summary.bytes_peak, run.summary.budget_bytes
        limits = [""] * 5
        if bound is not None:
            most = [number(bound.bytes[-1]), number(bound.certificate_bytes), number(bound.leaves)]
            limits = [*most, _paper(bound), _binding(bound, run)]
        sizes = [number(used), "none" if cap is None else number(cap), *limits[:2]]
        rows.append([escape(run.label), *sizes, number(leaves) if leaves else "", *limits[2:]])
        broken = run.summary.over_budget or (bound is not None and bool(bound.violations))
        classes.append("bad" if broken else "")
    headings = [
        "",
        ">peak bytes",
        ">cap",
        ">most in use",
        ">never fills",
        ">leaves",
        ">most leaves",
        ">paper's bound",
        "cap can bind",
    ]
    lead = (
        "Bytes of the controller over the run, worst seed, against the cap and against the most that any run "
        "of this job can use, whatever the environment does. A block that never fills is a little larger, "
        "because reclaiming keeps a reserve free; it is the size that adamb plan names."
    )
    note = ""
    if any(bound is not None and not bound.paper_condition_met for bound in bounds.values()):
        note = hint("* The paper's bound is for another split rule than this run's; it is shown for scale.")
    drawn = chart("memory", "bytes in use", memory_chart(runs, bounds))
    picture = panel(controls(episode_scale("memory")), drawn)
    return section("storage", "Memory", lead, picture + table(headings, rows, classes) + note)


def _paper(bound: RunBounds) -> str:
    return number(bound.paper_leaves) + ("" if bound.paper_condition_met else " *")


def _binding(bound: RunBounds, run: RunSource) -> str:
    if run.summary.budget_bytes is None:
        return "no cap"
    first = bound.first_binding_episode
    return "never" if first is None else f"from episode {number(first)}"


def timeline(runs: Sequence[RunSource]) -> Section | None:
    name = "What happened when"
    recorded = [(i, run, kept) for i, run in enumerate(runs) if (kept := run.run.recording) is not None]
    if not recorded:
        if not any(run.summary.core for run in runs):
            return None
        text = "Add --record to adamb run to see when balls were split, refused or reclaimed, and the partition."
        if any(run.run.stale for run in runs):
            text = "The recording was made by another version of the core and cannot be read; run it again."
        return section("timeline", name, "", hint(text))
    body = ""
    for i, run, kept in recorded:
        body += title(run.label) if len(recorded) > 1 else ""
        body += _timeline_of(i, run, kept)
    lead = "The counters of the recorded seed after every episode. Vertical lines are restarts after a change."
    return section("timeline", name, lead, body)


def _timeline_of(i: int, run: RunSource, recording: Recording) -> str:
    count = dict(zip(BLOCK_COUNTERS, recording.counters[-1].tolist(), strict=True))
    splits, events = timeline_charts(run, recording)
    happened = (
        "<p><b>Nothing was refused and nothing reclaimed.</b> There was room for every split and every sample.</p>"
    )
    if events is not None:
        happened = chart(f"events-{i}", "refusals and reclaims", events)
    sentences = [
        f"Seed {run.summary.seed_base}: {number(count['splits'])} balls are split at the end,",
        f"{number(count['refused'])} splits were refused,",
        f"{number(count['no_room'])} samples counted in a parent,",
        f"{number(count['reclaims'])} pieces reclaimed,",
        f"{number(count['saturations'])} times counts were halved,",
        f"{number(count['restarts'])} restarts.",
    ]
    drawn = panel(chart(f"timeline-{i}", "split balls", splits))
    return side_by_side(drawn, panel(happened)) + hint(" ".join(sentences))


# ---- what the charts draw -----------------------------------------------------------------------------


def learning_chart(runs: Sequence[RunSource], *, share: bool) -> Chart:
    """The reward of every run with its optimum, or its share of that; and agents that do not learn."""
    several, series = len(runs) > 1, []
    curves = [run.run.details.curve for run in runs]
    for i, (run, curve) in enumerate(zip(runs, curves, strict=True)):
        if share and not curve.optimal:
            continue
        name, scale = run.label if several else "reward", [max(best, 1e-9) for best in curve.optimal or () if share]
        scale = scale or [1.0] * len(curve.reward)
        drawn = line(name, curve.episode, [y / unit for y, unit in zip(curve.reward, scale, strict=True)], look=i)
        if curve.reward_ci95:
            ends = list(zip(curve.reward, curve.reward_ci95, scale, strict=True))
            drawn |= {"low": [(y - half) / unit for y, half, unit in ends], "half": True}
            drawn |= {"high": [(y + half) / unit for y, half, unit in ends]}
        series.append(drawn)
        if not share and curve.optimal and not any(_same_optimum(other, curve) for other in curves[:i]):
            one = all(_same_optimum(other, curve) for other in curves)
            name = "optimum V*" if one else f"V* of {run.label}"
            series.append(line(name, curve.episode, curve.optimal, colour=LIMIT, dash="6 4", thin=True))
    axis = {"label": "share of the optimum", "format": "percent"} if share else {"label": "reward per episode"}
    rules = (rule(1) if share else []) + _references(runs, share=share)
    return {"y": {"format": "number", **axis}, "series": series, "rules": rules, "height": 330}


def _same_optimum(one: RewardCurve, other: RewardCurve) -> bool:
    return abs((one.optimal or [math.nan])[-1] - (other.optimal or [math.nan])[-1]) < 1e-4


def _references(runs: Sequence[RunSource], *, share: bool) -> list[Chart]:
    """The reward of agents that do not learn, once per problem."""
    first: dict[str, RunSource] = {}
    for run in runs:
        if run.summary.optimal or not share:
            first.setdefault(run.summary.problem, run)
    several, found = len({run.summary.problem for run in runs}) > 1, []
    for problem, run in first.items():
        unit = run.summary.optimal if share and run.summary.optimal else 1
        for agent, reward in run.run.lines.references.items():
            colour, dash = ("var(--c5)", "1 4") if agent == "random" else ("var(--c4)", "10 3 2 3")
            name = f"{agent}, {problem}" if several else agent
            found.append({"y": reward.mean / unit, "name": name, "colour": colour, "dash": dash})
    return found


def seed_chart(run: RunSource) -> Chart:
    """All kept curves, faint, with the mean; the script adds the one that is chosen."""
    lines, curve = run.run.lines, run.run.details.curve
    kept = zip(lines.seeds, lines.reward, strict=True)
    series = [line("", lines.episode, y, colour="var(--c5)", faint=True, seed=seed) for seed, y in kept]
    series.append(line("mean of the seeds", curve.episode, curve.reward, colour="var(--c0)"))
    axis = {"label": "reward per episode", "format": "number"}
    return {"y": axis, "series": series, "rules": rule(run.summary.optimal), "height": 260}


def memory_chart(runs: Sequence[RunSource], bounds: dict[int, RunBounds | None]) -> Chart:
    """Bytes of the worst seed of every run; of a single one also the mean and the most that can be in use."""
    series: list[Chart] = []
    caps = {run.summary.budget_bytes: None for run in runs if run.summary.budget_bytes}
    for i, run in enumerate(runs):
        episodes, mean, most = bytes_curve(run.run.curves)
        name = run.label if len(runs) > 1 else "worst seed"
        series.append(line(name, episodes, most, look=i, step=True))
        if len(runs) == 1:
            look = {"colour": "var(--c5)", "dash": "3 3", "thin": True}
            series.append(line("mean of the seeds", episodes, mean, **look))
            if (bound := bounds[id(run)]) is not None:
                look = {"colour": "var(--c3)", "dash": "2 4", "thin": True}
                series.append(line("most in use", bound.episodes, bound.bytes, **look))
    top = max([*caps, *(max(each["y"], default=0) for each in series if each.get("step"))])
    return {
        "y": {"label": "bytes in use", "format": "bytes", "top": 1.15 * top},
        "series": series,
        "rules": [each for cap in caps for each in rule(cap, f"cap {format_bytes(cap)}")],
        "height": 300,
    }


def bytes_curve(curves: RunCurves) -> tuple[list[float], ...]:
    """Episode, mean and most of the bytes in use, at the recorded points."""
    columns = (curves.episode, curves.bytes_mean, curves.bytes_max)
    rows = [row for row in zip(*columns, strict=True) if row[2] is not None]
    return tuple([float(row[i] or 0) for row in rows] for i in range(3))


def timeline_charts(run: RunSource, recording: Recording) -> tuple[Chart, Chart | None]:
    """Splits of the recorded seed with its restarts; and what happened when there was no room, if anything did."""
    kept = thin(len(recording.counter_episodes), LINE_POINTS)
    episodes = recording.counter_episodes[kept].tolist()

    def counter(name: str, column: str, **look: Any) -> Chart:
        values = recording.counters[kept, BLOCK_COUNTERS.index(column)].tolist()
        return line(name, episodes, values, step=True, **look)

    restarts = recording.counters[:, BLOCK_COUNTERS.index("restarts")]
    jumps = recording.counter_episodes[np.flatnonzero(np.diff(restarts, prepend=0) > 0)].tolist()
    marks = [{"x": episode, "name": "restart"} for episode in jumps]
    if run.run.drift == "half":
        marks.append({"x": run.run.details.asked_episodes // 2, "name": "the environment changes"})
    events = [
        counter("reclaimed pieces", "reclaims", colour="var(--c0)"),
        counter("refused splits", "refused", colour=LIMIT, dash="6 3"),
        counter("samples without room", "no_room", colour="var(--c3)", dash="2 3"),
    ]
    events = [each for each in events if any(each["y"])]
    common = {"marks": marks, "height": 210}
    series = [counter("split balls", "splits", colour="var(--c2)")]
    return (
        {"y": {"label": "split balls", "format": "integer"}, "series": series, **common},
        {"y": {"label": "total", "format": "integer"}, "series": events, **common} if events else None,
    )
