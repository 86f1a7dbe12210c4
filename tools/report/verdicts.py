"""Whether any limit was broken, and the answers a reader wants first; those about runs are in run_answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adamb.budgets.sizes import format_bytes, format_cap
from adamb.host_sim.results.league import TargetRow
from adamb.tools.report.bounds import RunBounds
from adamb.tools.report.sources import (
    BlockSource,
    ChipSource,
    LatencySource,
    LeagueSource,
    ProfileSource,
    RunSource,
    Source,
    SweepSource,
)

OK, BAD, NOTE = "ok", "bad", "note"
FIT, LEARN, SPEED, FULL = "Did it fit?", "Did it learn?", "How fast does it decide?", "When memory ran out"
HEALTH, KNOWS = "Is it sound?", "What does it know?"
AHEAD, TARGETS, CLAIMED = "Is it ahead?", "Are the targets met?", "Do the paper's claims hold?"


@dataclass(frozen=True)
class Answer:
    """One question with a few words in large type and sentences below them."""

    question: str
    status: str
    short: str
    text: str
    command: str = ""
    """What to type to know more."""


@dataclass
class Judgement:
    """Everything said about one source."""

    label: str
    kind: str
    violations: list[str]
    answers: list[Answer] = field(default_factory=list)
    attached: bool = False
    """Already said by the answers about a run."""

    @property
    def ok(self) -> bool:
        return not self.violations

    def to_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "kind": self.kind,
            "ok": self.ok,
            "violations": self.violations,
            "answers": [vars(answer) for answer in self.answers],
        }


def judge(source: Source, bounds: RunBounds | None, latency: list[LatencySource]) -> Judgement:
    """The judgement of any source; a run also takes its bounds and measurements of the same problem."""
    if isinstance(source, RunSource):
        from adamb.tools.report.run_answers import judge_run

        return judge_run(source, bounds, latency)
    if isinstance(source, LatencySource):
        broken = [f"bound broken: {line}" for line in source.summary.violations]
        return Judgement(source.label, "latency", broken, [speed_of_latency(source)])
    if isinstance(source, ChipSource):
        return judge_chip(source)
    if isinstance(source, ProfileSource):
        return judge_profile(source)
    if isinstance(source, BlockSource):
        return judge_block(source)
    if isinstance(source, LeagueSource):
        return judge_league(source)
    assert isinstance(source, SweepSource), source
    return judge_sweep(source)


def headline(judgements: list[Judgement]) -> str:
    """The first line of the page and of the terminal."""
    broken = [line for each in judgements for line in each.violations]
    if broken:
        first = broken[0][0].upper() + broken[0][1:]
        return first if len(broken) == 1 else f"{first}; and {len(broken) - 1} more"
    fitted = [answer.question for each in judgements for answer in each.answers if answer.status == OK]
    if HEALTH in fitted:
        return "The block is sound"
    if FIT in fitted:
        return "Every budget and every bound was kept" if len(judgements) > 1 else "Budget and bounds kept"
    return "No limit was broken"


def number(value: float) -> str:
    return f"{value:,.0f}"


def speed_of_latency(source: LatencySource) -> Answer:
    found = source.summary
    act, observe, worst = found.act, found.observe, number(found.act.max)
    limit = "" if found.bound_act is None else f" (no act can take more than {number(found.bound_act)})"
    sentences = [
        f"On {found.target} the worst act takes {worst} {found.unit}{limit},",
        f"the mean one {number(act.mean)}.",
        f"Learning from it takes {number(observe.mean)}, in 99.9 % of the calls at most",
        f"{number(observe.p999)}, never more than {number(observe.max)}.",
    ]
    if found.board is not None:
        low, high = found.board.act_max_us
        sentences.append(f"The worst act on {found.board.name}: {low:,.1f} to {high:,.1f} µs.")
    sentences += [f"Broken: {line}." for line in found.violations]
    return Answer(
        SPEED, BAD if found.violations else OK, f"{worst} {found.unit} at most", " ".join(sentences)
    )


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


def judge_sweep(source: SweepSource) -> Judgement:
    """A combination that was refused or passed its cap breaks a budget."""
    broken, rows, meta = [], source.sweep.rows, source.sweep.meta
    for row in rows:
        place = f"{row.problem}, {row.agent}, {format_cap(row.budget_bytes)}"
        if row.refused:
            broken.append(f"budget broken: {place}: {row.refused}")
        elif row.over_budget:
            broken.append(f"budget broken: {place}: {number(row.bytes_peak_max or 0)} bytes used")
    short = f"{len(rows) - len(broken)} of {len(rows)} combinations"
    stored = len(list((source.place / "cells").glob("[!.]*.json")))
    state = (
        "" if meta.finished else f" The sweep is not finished: {number(stored)} results are stored so far."
    )
    text = f"So many kept their cap, or had none. {number(meta.cells)} cells.{state}"
    answers = [Answer(FIT, BAD if broken else OK, short, text)]
    if source.paper is not None:
        claims = source.paper.claims.claims
        holds, open_ones = sum(each.holds for each in claims), sum(each.undecided for each in claims)
        text = f"{number(open_ones)} are undecided: the interval reaches to both sides."
        text += f" {source.paper.claims.note}"
        answers.append(Answer(CLAIMED, NOTE, f"{holds} of {len(claims)} comparisons", text))
    return Judgement(source.label, "sweep", broken, answers)


def judge_league(source: LeagueSource) -> Judgement:
    """A score above its cap breaks a budget; a target that is missed is a result."""
    league = source.league
    broken = [
        f"budget broken: {row.problem}, {row.agent}: {number(row.bytes_peak or 0)} bytes used, the cap is "
        f"{number(row.budget_bytes or 0)} bytes"
        for row in league.scores
        if row.over_budget
    ]
    short = f"{len(league.scores) - len(broken)} of {len(league.scores)} scores"
    text = "So many kept their cap, or did not fit and have no score."
    fit = Answer(FIT, BAD if broken else OK, short, text)
    cells = [row for row in league.cells if row.against == "all"]
    count = {name: sum(row.outcome == name for row in cells) for name in ("win", "tie", "loss", "open")}
    text = f"Against the best tuned rival of each cell: {count['win']} won, {count['tie']} tied within 1 %,"
    text += f" {count['loss']} lost, {count['open']} open. The controller is not tuned; every rival is."
    won = f"{count['win']} of {len(cells)} cells won" if cells else "No tuned rival has played"
    ahead = Answer(AHEAD, NOTE, won, text if cells else "What the controller is compared with is below.")
    return Judgement(source.label, "league", broken, [fit, ahead, _targets(league.verdicts)])


def _targets(verdicts: Sequence[TargetRow]) -> Answer:
    """Of those that were measured: what was not played counts for neither side."""
    measured = [row.verdict for row in verdicts if row.verdict != "not measured"]
    text = "A target holds only where its 95 % interval leaves no other answer."
    if left := len(verdicts) - len(measured):
        text += f" {left} of {len(verdicts)} were not measured."
    short = f"{measured.count('holds')} of {len(measured)}" if measured else "Not measured"
    return Answer(TARGETS, NOTE, short, text)


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
        text = f"{number(used)} of {number(total)} bytes are in use, {number(peak)} at most so far."
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
