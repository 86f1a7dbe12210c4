"""The sections about blocks: bytes by owner, and the partition, replayed.

A replay is every ball and every cell of V over the frames, as compressed JSON.

A ball is one entry with the frame in which it appears and a series for each number, of which only the
differences are kept. Successive frames differ little, so that nearly all of them are 0.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from adamb.budgets.ledger import OWNERS, Ledger, ledger_of
from adamb.firmware_model.host.reader import Ball, BlockView, coordinates
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.recording import OptimumPictures, Recording
from adamb.tools.report.markup import Chart, Section, chart, line, panel, picker, rule, section, table, title
from adamb.tools.report.sources import BlockSource, RunSource
from adamb.tools.report.verdicts import BAD, FIT, FULL, HEALTH, KNOWS, NOTE, OK, Answer, Judgement, number

TEXT_BYTES = 2_400_000
"""All replays of a page together, as text; the rest of the page takes well under half a megabyte."""
MOST_WORDS = 3_000_000
"""More words of frames than this take too long to read; every second frame is then left out."""


LEDGER_FRAMES = 30
OWNER_COLOURS = {
    "header": "l0", "thresholds": "l0", "steps": "l1", "padding": "l1", "records": "l2", "routing": "l3",
    "counts": "l4", "values": "l5", "held partition": "l8", "sharing test": "l6", "free": "l7",
    "unclaimed": "bad", "tail": "l7",
}  # fmt: skip
OWNER_MEANING = {
    "header": "configuration, counters, detector, random numbers",
    "thresholds": "samples at which a ball of each level splits",
    "steps": "roots, last state and action of each step, and of the held one",
    "padding": "up to the next whole unit",
    "records": "visited balls: n, mean reward, Q",
    "routing": "which ball a state and action belong to",
    "counts": "next states that balls have seen",
    "values": "V of each step, with the best action",
    "held partition": "visited actions of held episodes: n, mean reward, Q",
    "sharing test": "do steps differ? given back when that is known",
    "free": "not in use",
    "unclaimed": "owned by nothing: a damaged block",
    "tail": "words that make no whole unit",
}
DARK_TEXT = ("free", "tail", "counts", "routing", "held partition", "sharing test")
NAMED_ABOVE = 8
"""A part of the bar narrower than this many per cent has no room for its name."""


def judge_block(source: BlockSource) -> Judgement:
    """A block by itself has no budget to keep; it can be damaged."""
    found = source.inspection
    if found.sound:
        checked = "Every unit is owned once or free, every link and level is in range, every mean adds up."
        health = Answer(HEALTH, OK, "Yes", checked)
    else:
        health = Answer(HEALTH, BAD, "No: damaged", "; ".join(found.problems) + ".")
    answers = [health]
    if found.ledger is not None:
        used, total, peak = found.ledger.used_bytes, found.ledger.total, found.ledger.peak_bytes
        text = f"{number(used)} of {number(total)} bytes are in use, {number(peak)} at the peak."
        answers.append(Answer(FIT, NOTE, f"{format_bytes(used)} of {format_bytes(total)}", text))
    if found.view is not None:
        count = {name: number(value) for name, value in found.view.counters.items()}
        balls, visited = (number(sum(tree[key] for tree in found.trees)) for key in ("balls", "visited"))
        text = f"{balls} balls, {visited} of them visited. V of the first step is"
        text += f" {found.values[0]['mean']:.3f} on average over the states."
        answers.append(Answer(KNOWS, NOTE, f"{count['episodes']} episodes", text))
        never = count["refused"] == count["reclaims"] == count["no_room"] == "0"
        text = f"{count['refused']} splits were refused, {count['reclaims']} pieces reclaimed,"
        text += f" {count['no_room']} samples counted in a parent, {count['restarts']} restarts."
        answers.append(Answer(FULL, OK if never else NOTE, "It never did" if never else "It did", text))
    broken = [f"damaged block: {line}" for line in found.problems]
    return Judgement(source.label, "block", broken, answers)


# ---- bytes by owner -----------------------------------------------------------------------------------


def ledger(runs: Sequence[RunSource]) -> Section | None:
    shown = [(i, run, kept) for i, run in enumerate(runs) if (kept := run.run.recording) is not None]
    if not shown:
        return None
    body = ""
    for i, run, recording in shown:
        found = ledger_of(BlockView(recording.frames[-1].tolist()))
        body += title(run.label) if len(shown) > 1 else ""
        body += ledger_html(found, capped=run.summary.budget_bytes is not None)
        history = ledger_history(recording, run.summary.budget_bytes)
        body += panel(chart(f"ledger-history-{i}", "bytes by owner over the episodes", history))
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


def thin(count: int, points: int) -> np.ndarray:
    """Indices of at most `points` of `count` entries, with the first and the last."""
    if count <= points:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, points).round().astype(int))


def ledger_history(recording: Recording, cap: int | None) -> Chart:
    """Bytes in use by owner at some of the frames, stacked."""
    kept = thin(len(recording.frames), LEDGER_FRAMES)
    ledgers = [ledger_of(BlockView(recording.frames[i].tolist())).bytes for i in kept]
    episodes, base, series = recording.episodes[kept].tolist(), [0] * len(kept), []
    for owner in OWNERS:
        sizes = [ledger[owner] for ledger in ledgers]
        if owner not in ("free", "tail") and any(sizes):
            top = [low + size for low, size in zip(base, sizes, strict=True)]
            colour = f"var(--{OWNER_COLOURS[owner]})"
            series.append(line("", episodes, sizes, title=owner, colour=colour, low=base, high=top, stacked=True))
            base = top
    return {
        "y": {"label": "bytes in use", "format": "bytes", "top": 1.08 * max(*base, cap or 0)},
        "series": series,
        "rules": rule(cap, f"cap {format_bytes(cap or 0)}"),
        "height": 240,
    }


# ---- the partition ------------------------------------------------------------------------------------


def partition(replays: Sequence[Replay]) -> Section | None:
    if not replays:
        return None
    chooser = picker("explorer-run", "Recording", [each.label for each in replays]) if len(replays) > 1 else ""
    replayed = any(len(each.episodes) > 1 for each in replays)
    lead = (
        "Each box is a ball: a range of states and actions that the controller treats alike. It splits where "
        "it plays often. The white line is the action it would play"
    )
    lead += "; orange boxes have just become finer, dashed ones coarser." if replayed else "."
    body = chooser + panel('<div id="explorer" class="explorer"></div>')
    return section("partition", "The partition, replayed" if replayed else "The partition", lead, body)


@dataclass
class Replay:
    """The label and episodes that the page reads first, and the text it reads when the replay is opened."""

    label: str
    episodes: list[int]
    text: str


def replay(
    label: str,
    frames: Sequence[np.ndarray],
    episodes: Sequence[int],
    optimum: OptimumPictures | None,
    ranges: Mapping[str, Sequence[Any]] | None = None,
    *,
    limit: int = TEXT_BYTES,
) -> Replay:
    """Pack a replay into at most `limit` characters; every second frame goes until it fits."""
    best = None if optimum is None else grids(optimum)
    if optimum is not None and len(packed(best)) > limit // 3:
        best = grids(OptimumPictures(optimum.episodes[-1:], optimum.scaled[-1:]))
    named = {"names": list(ranges), "ranges": list(ranges.values())} if ranges else {}
    kept = list(range(len(frames)))
    while len(kept) > 2 and sum(len(frames[i]) for i in kept) > MOST_WORDS:
        kept = every_second(kept)
    views = {i: BlockView(frames[i].tolist()) for i in kept}
    while True:
        shown = [int(episodes[i]) for i in kept]
        text = packed({"episodes": shown, "optimum": best, **named, **decoded([views[i] for i in kept])})
        if len(text) <= limit or len(kept) <= 2:
            return Replay(label, shown, text)
        kept = every_second(kept)


def every_second(kept: list[int]) -> list[int]:
    """Every second frame, with the first and the last."""
    return sorted({*kept[::2], kept[-1]})


def packed(data: Any) -> str:
    """JSON as a compressed text."""
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()


def grids(optimum: OptimumPictures) -> dict[str, Any]:
    """Q* as differences along its last two axes."""
    steps = np.diff(np.diff(optimum.scaled.astype(int), axis=-1, prepend=0), axis=-2, prepend=0)
    return {"episodes": optimum.episodes.tolist(), "shape": list(steps.shape), "steps": steps.ravel().tolist()}


def decoded(views: Sequence[BlockView]) -> dict[str, Any]:
    """The frames of one block as plain data."""
    first = views[0]
    shared = all(view.shared for view in views)
    trees = range(1 if shared else first.horizon)
    return {
        "dims": [first.d_s, first.d_a],
        "horizon": first.horizon,
        "one": 1 << first.fraction,
        "shared": [int(view.shared) for view in views],
        "bytes": [view.used_bytes for view in views],
        "trees": [_tree(views, h, range(first.horizon) if shared else [h]) for h in trees],
        "policy": [_policy(views, h) for h in range(first.horizon)],
    }


def _tree(views: Sequence[BlockView], tree: int, steps: Sequence[int]) -> dict[str, Any]:
    """The balls of one partition; `n` is -1 for a ball that was never visited, places are in sides of the ball."""
    names = ("level", "low", "first", "n", "reward", "clock", "q", "next")
    found: dict[str, list[Any]] = {name: [] for name in names}
    for (level, *_), first, life in lifetimes(_frame(view, tree, steps) for view in views):
        at, balls = views[first], [ball for _, ball, _ in life]
        found["level"].append(level)
        found["low"].append([int(low * (1 << level)) for low in at.box(balls[0])[0]])
        found["first"].append(first)
        found["n"].append(changes(each.n if each.visited else -1 for each in balls))
        found["reward"].append(changes(each.reward_q16 for each in balls))
        found["clock"].append(balls[-1].clock)
        found["q"].append([changes(column) for column in zip(*(q for _, _, q in life), strict=True)])
        found["next"].append(_next_states([(view, ball) for view, ball, _ in life]))
    return found


def _frame(view: BlockView, tree: int, steps: Sequence[int]) -> dict[Any, tuple[BlockView, Ball, tuple[int, ...]]]:
    """Every ball of a frame with its Q at the steps, by its place."""
    q = zip(*(view.all_q_raw(h) for h in steps), strict=True)
    return {
        (ball.level, ball.state_code, ball.action_code): (view, ball, values)
        for ball, values in zip(view.balls(tree), q, strict=True)
    }


def _next_states(life: Sequence[tuple[BlockView, Ball]]) -> list[list[int]]:
    """[frame of the life, place of a cell on every state axis and its count, the next cell…] at every change."""
    found: list[list[int]] = []
    before: list[tuple[int, int]] = []
    for at, (view, ball) in enumerate(life):
        counted = view.next_states(ball)
        if counted != before:
            bits, before = ball.level * view.d_s, counted
            cells = [(coordinates(cell << (16 - bits), view.d_s, bits), count) for cell, count in counted]
            found.append(
                [at, *(n for low, count in cells for n in (*(int(x * (1 << ball.level)) for x in low), count))]
            )
    return found


def _policy(views: Sequence[BlockView], h: int) -> dict[str, Any]:
    """The action that is played in every cell of V of a step; all places in 65536ths."""
    found: dict[str, list[Any]] = {name: [] for name in ("low", "side", "first", "action")}
    frames = ({(cell.code, cell.bits): cell.action_code for cell in view.values(h)} for view in views)
    d_s, d_a = views[0].d_s, views[0].d_a
    for (code, bits), first, life in lifetimes(frames):
        actions = [coordinates(action, d_a) for action in life]
        found["low"].append([int(x * 65536) for x in coordinates(code, d_s, bits)])
        found["side"].append([65536 >> len(range(axis, bits, d_s)) for axis in range(d_s)])
        found["first"].append(first)
        found["action"].append([changes(int(action[axis] * 65536) for action in actions) for axis in range(d_a)])
    return found


def lifetimes(frames: Iterable[dict[Any, Any]]) -> list[tuple[Any, int, list[Any]]]:
    """(key, first frame, its values) for every run of frames that have a key."""
    found: list[tuple[Any, int, list[Any]]] = []
    alive: dict[Any, list[Any]] = {}
    for at, frame in enumerate(frames):
        alive = {key: values for key, values in alive.items() if key in frame}
        for key, value in frame.items():
            if key not in alive:
                alive[key] = []
                found.append((key, at, alive[key]))
            alive[key].append(value)
    return found


def changes(values: Iterable[int]) -> list[int]:
    """The first value and what each adds to the one before."""
    found, before = [], 0
    for value in values:
        found.append(value - before)
        before = value
    return found
