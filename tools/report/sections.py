"""The sections about runs and blocks: answers, learning, memory, ledger, timeline, partition."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from adamb.budgets.ledger import Ledger
from adamb.budgets.sizes import format_bytes
from adamb.host_sim.blocks.recording import Recording
from adamb.host_sim.blocks.view import BLOCK_COUNTERS
from adamb.tools.report import payload
from adamb.tools.report.bounds import RunBounds
from adamb.tools.report.markup import (
    EPISODE_SCALES,
    Section,
    chart,
    choices,
    controls,
    hint,
    panel,
    section,
    side_by_side,
    table,
    title,
)
from adamb.tools.report.sources import BlockSource, RunSource, Source
from adamb.tools.report.verdicts import Judgement, number

OWNER_COLOURS = {
    "header": "l0", "thresholds": "l0", "steps": "l1", "padding": "l1", "records": "l2", "routing": "l3",
    "counts": "l4", "values": "l5", "sharing test": "l6", "free": "l7", "unclaimed": "bad", "tail": "l7",
}  # fmt: skip
OWNER_MEANING = {
    "header": "configuration, counters, detector, random numbers",
    "thresholds": "samples at which a ball of each level splits",
    "steps": "roots, last state and action of each step",
    "padding": "up to the next whole unit",
    "records": "visited balls: n, mean reward, Q",
    "routing": "which ball a state and action belong to",
    "counts": "next states that balls have seen",
    "values": "V of each step, with the best action",
    "sharing test": "do steps differ? given back when that is known",
    "free": "not in use",
    "unclaimed": "owned by nothing: a damaged block",
    "tail": "words that make no whole unit",
}
DARK_TEXT = ("free", "tail", "counts", "routing", "sharing test")
NAMED_ABOVE = 8
"""A part of the bar narrower than this many per cent has no room for its name."""


def what(sources: Sequence[Source]) -> str:
    """The line below the verdict: what this page is about."""
    first = sources[0]
    if len(sources) == 1 and isinstance(first, RunSource):
        run = first.summary
        cap = "no cap" if run.budget_bytes is None else f"a cap of {format_bytes(run.budget_bytes)}"
        last = run.seed_base + run.seeds - 1
        span = f"seed {last}" if run.seeds == 1 else f"seeds {run.seed_base} to {last}"
        length = f"{number(run.episodes)} episodes of {run.horizon} steps"
        return escape(f"{run.problem}, {first.agent}, {cap}: {length}, {span}")
    if len(sources) == 1 and isinstance(first, BlockSource):
        block = first.inspection
        size = f"{number(2 * len(block.words))} bytes, {block.file.form}, digest {block.digest}"
        return escape(f"{block.file.path}: {size}")
    return escape("; ".join(source.label for source in sources))


def answers(judgements: list[Judgement]) -> Section:
    """Cards for one source; for several also a table, so that they can be compared."""
    judgements = [each for each in judgements if not each.attached]
    if len(judgements) == 1:
        return section("answers", "In short", "", cards(judgements[0]))
    runs = [each for each in judgements if each.kind == "run"]
    body = ""
    if len(runs) > 1:
        questions = [answer.question for answer in runs[0].answers]
        rows = [[f"<b>{escape(run.label)}</b>", *(escape(a.short) for a in run.answers)] for run in runs]
        body += panel(table(["", *questions], rows, ["" if run.ok else "bad" for run in runs]))
    body += "".join(title(each.label) + cards(each) for each in judgements)
    return section("answers", "In short", "", body)


def cards(judgement: Judgement) -> str:
    found = []
    for answer in judgement.answers:
        short = f'<p class="short">{escape(answer.short)}</p>'
        text = f"<h3>{escape(answer.question)}</h3>{short}<p>{escape(answer.text)}</p>"
        text += f"<p><code>{escape(answer.command)}</code></p>" if answer.command else ""
        found.append(f'<article class="card {answer.status}">{text}</article>')
    return f'<div class="cards">{"".join(found)}</div>'


def learning(runs: Sequence[RunSource]) -> Section | None:
    if not runs:
        return None
    known = any(run.summary.optimal for run in runs)
    curves = [run.run.details.curve for run in runs]
    windows = sorted({curve.window for curve in curves if curve.window > 1})
    lead = "Reward of an episode"
    if windows:
        lead += f", running mean of {' or '.join(number(window) for window in windows)} episodes"
    if any(curve.reward_ci95 for curve in curves):
        lead += "; the band is the 95 % interval of that mean over the seeds"
    lead += ". The optimum V* is exact, for the same start states." if known else "."
    if any(run.lines is not None and run.lines.references for run in runs):
        lead += " Random actions, and the best action to play always (static), show what learning adds."
    unit = choices("learning-unit", "Show", {"reward": "reward", "share": "share of V*"}) if known else ""
    scale = choices("learning-scale", "Episodes", EPISODE_SCALES)
    body = panel(controls(unit, scale), chart("learning", "learning curves"))
    return section("learning-curves", "Learning", lead, body)


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
    scale = choices("memory-scale", "Episodes", EPISODE_SCALES)
    picture = panel(controls(scale), chart("memory", "bytes in use"))
    return section("storage", "Memory", lead, picture + table(headings, rows, classes) + note)


def _paper(bound: RunBounds) -> str:
    return number(bound.paper_leaves) + ("" if bound.paper_condition_met else " *")


def _binding(bound: RunBounds, run: RunSource) -> str:
    if run.summary.budget_bytes is None:
        return "no cap"
    first = bound.first_binding_episode
    return "never" if first is None else f"from episode {number(first)}"


def ledger(runs: Sequence[RunSource]) -> Section | None:
    shown = [(i, run, kept) for i, run in enumerate(runs) if (kept := run.run.recording) is not None]
    if not shown:
        return None
    body = ""
    for i, run, recording in shown:
        found = payload.frame_ledger(recording.frames[-1])
        body += title(run.label) if len(shown) > 1 else ""
        body += ledger_html(found, capped=run.summary.budget_bytes is not None)
        body += panel(chart(f"ledger-history-{i}", "bytes by owner over the episodes"))
    seed = shown[0][1].summary.seed_base
    lead = f"Every byte of the block of seed {seed} after the last episode, by its owner."
    return section("ledger", "Where the bytes are", lead, body)


def block_ledger(blocks: Sequence[BlockSource]) -> Section | None:
    known = [found for block in blocks if (found := block.inspection.ledger) is not None]
    if not known:
        return None
    body = "".join(ledger_html(found) for found in known)
    return section("ledger", "Where the bytes are", "Every byte of the block by its owner.", body)


def ledger_html(found: Ledger, *, capped: bool = True) -> str:
    """A stacked bar and its table; without a cap the free part would hide all else, so it is only named."""
    shown = {owner: size for owner, size in found.bytes.items() if size and (capped or owner != "free")}
    total = sum(shown.values())
    parts = "".join(_ledger_part(owner, size, 100 * size / total) for owner, size in shown.items())
    names = ", ".join(f"{owner} {number(size)} bytes" for owner, size in shown.items())
    rows = []
    for owner, size in found.bytes.items():
        if size:
            swatch = f'<span class="swatch" style="background:var(--{OWNER_COLOURS[owner]})"></span>'
            share = f"{100 * size / found.total:.1f} %"
            rows.append([swatch + escape(owner), number(size), share, escape(OWNER_MEANING[owner])])
    rows.append(["<b>block</b>", f"<b>{number(found.total)}</b>", "100.0 %", "the sum of all of them"])
    last = [*[""] * (len(rows) - 1), "total"]
    drawn = f'<div class="ledger" role="img" aria-label="{escape(names)}">{parts}</div>'
    return panel(drawn, table(["owner", ">bytes", ">share", "what it holds"], rows, last))


def _ledger_part(owner: str, size: int, share: float) -> str:
    dark = ' class="dark"' if owner in DARK_TEXT else ""
    style = f"width:{share:.3f}%;background:var(--{OWNER_COLOURS[owner]})"
    name = escape(owner) if share > NAMED_ABOVE else ""
    return f'<span{dark} style="{style}" title="{escape(owner)}: {number(size)} bytes">{name}</span>'


def timeline(runs: Sequence[RunSource]) -> Section | None:
    name = "What happened when"
    recorded = [(i, run, kept) for i, run in enumerate(runs) if (kept := run.run.recording) is not None]
    if not recorded:
        if not any(run.summary.core for run in runs):
            return None
        text = (
            "Add --record to adamb run to see when balls were split, refused or reclaimed, and the partition."
        )
        if any(run.run.stale for run in runs):
            text = "The recording was made by another version of the core and cannot be read; run it again."
        return section("timeline", name, "", hint(text))
    body = ""
    for i, run, kept in recorded:
        body += title(run.label) if len(recorded) > 1 else ""
        body += _timeline_of(i, run.summary.seed_base, kept)
    lead = (
        "The counters of the recorded seed after every episode. Vertical lines are restarts after a change."
    )
    return section("timeline", name, lead, body)


def _timeline_of(i: int, seed: int, recording: Recording) -> str:
    count = dict(zip(BLOCK_COUNTERS, recording.counters[-1].tolist(), strict=True))
    events = panel(chart(f"events-{i}", "refusals and reclaims"))
    if count["reclaims"] + count["refused"] + count["no_room"] == 0:
        calm = "There was room for every split and every sample."
        events = panel(f"<p><b>Nothing was refused and nothing reclaimed.</b> {calm}</p>")
    sentences = [
        f"Seed {seed}: {number(count['splits'])} balls are split at the end,",
        f"{number(count['refused'])} splits were refused,",
        f"{number(count['no_room'])} samples counted in a parent,",
        f"{number(count['reclaims'])} pieces reclaimed,",
        f"{number(count['saturations'])} times counts were halved,",
        f"{number(count['restarts'])} restarts.",
    ]
    return side_by_side(panel(chart(f"timeline-{i}", "split balls")), events) + hint(" ".join(sentences))


def partition(explorers: list[payload.Explorer]) -> Section | None:
    if not explorers:
        return None
    picker = ""
    if len(explorers) > 1:
        options = "".join(
            f'<option value="{i}">{escape(each.info["label"])}</option>' for i, each in enumerate(explorers)
        )
        picker = f'<p><label>Recording <select id="explorer-run">{options}</select></label></p>'
    replayed = any(len(each.info["lengths"]) > 1 for each in explorers)
    lead = (
        "Each box is a ball: a range of states and actions that the controller treats alike. It splits where "
        "it plays often. The white line is the action it would play"
    )
    lead += "; orange boxes have just become finer, dashed ones coarser." if replayed else "."
    body = picker + panel('<div id="explorer" class="explorer"></div>')
    return section("partition", "The partition, replayed" if replayed else "The partition", lead, body)
