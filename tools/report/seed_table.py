"""The seeds of a run one by one: a table of what each did, beside the curve of the one that is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from adamb.tools.report.markup import Section, chart, hint, long_table, panel, section, title
from adamb.tools.report.sources import RunSource
from adamb.tools.report.verdicts import number

COUNTER_NAMES = {
    "leaves": "leaves",
    "refused_splits": "refused splits",
    "reclaims": "reclaims",
    "restarts": "restarts",
}
MOST = 500
"""More rows than this are no longer looked at one by one."""


def seeds(runs: Sequence[RunSource]) -> Section | None:
    """Runs with several seeds."""
    shown = [(i, run) for i, run in enumerate(runs) if run.summary.seeds > 1]
    if not shown:
        return None
    body = ""
    for i, run in shown:
        body += title(run.label) if len(shown) > 1 else ""
        drawn = chart(f"seeds-{i}", "reward of every seed") if run.lines is not None else ""
        body += panel(drawn, _table(i, run)) + _left_out(run)
    lead = "Every seed is a run of its own. Sort the table to find the best and the worst"
    lead += "; a seed that you choose is drawn." if any(run.lines for _, run in shown) else "."
    return section("seeds", "Seed by seed", lead, body)


def _table(i: int, run: RunSource) -> str:
    details = run.run.details
    known = {
        name: details.seed_counters[key]
        for key, name in COUNTER_NAMES.items()
        if key in details.seed_counters
    }
    drawn = len(run.lines.seeds) if run.lines is not None else 0
    headings = [">seed", ">reward", ">of the mean", ">peak bytes", *(f">{name}" for name in known)]
    mean = run.summary.reward_per_episode.mean
    rows = []
    for k, reward in enumerate(details.seed_rewards[:MOST]):
        seed = str(run.summary.seed_base + k)
        name = f'<button type="button" class="seed" data-run="{i}" data-row="{k}">{seed}</button>'
        share = f"{100 * reward / mean:.1f} %" if mean > 0 else ""
        counters = [number(values[k]) for values in known.values()]
        rows.append(
            [
                name if k < drawn else seed,
                f"{reward:.3f}",
                share,
                number(details.seed_bytes_peak[k]),
                *counters,
            ]
        )
    return long_table(headings, rows)


def _left_out(run: RunSource) -> str:
    notes = []
    if run.summary.seeds > MOST:
        notes.append(f"The first {MOST} of {run.summary.seeds} seeds are listed.")
    if run.lines is not None and len(run.lines.seeds) < run.summary.seeds:
        notes.append(f"The curves of the first {len(run.lines.seeds)} are kept.")
    return hint(escape(" ".join(notes))) if notes else ""
