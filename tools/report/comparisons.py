"""The sections about many runs: sweeps, the paper's claims and the benchmark; and the curves they draw."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from adamb.firmware_model.host.sizes import format_cap
from adamb.host_sim.benchmark import OURS, OWN, UNTUNED, kind_of
from adamb.host_sim.results.sweep import (
    AgentCurves,
    BenchmarkResult,
    CellRow,
    ClaimRow,
    PaperFolder,
    ScoreRow,
    SummaryRow,
    TargetRow,
)
from adamb.tools.report.markup import (
    Chart,
    Section,
    bar,
    chart,
    hint,
    line,
    long_table,
    panel,
    picker,
    rule,
    section,
    side_by_side,
    small_title,
    table,
    title,
)
from adamb.tools.report.sources import BenchmarkSource, SweepSource
from adamb.tools.report.verdicts import AHEAD, BAD, CLAIMED, FIT, NOTE, OK, TARGETS, Answer, Judgement, number

DASHES = ("9 3", "3 3", "12 3 3 3", "2 5", "14 5")
MARKS = {"holds": "good", "does not hold": "poor"}


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
    state = "" if meta.finished else f" The sweep is not finished: {number(stored)} results are stored so far."
    text = f"So many kept their cap, or had none. {number(meta.cells)} cells.{state}"
    answers = [Answer(FIT, BAD if broken else OK, short, text)]
    if source.paper is not None:
        claims = source.paper.claims.claims
        holds, open_ones = sum(each.holds for each in claims), sum(each.undecided for each in claims)
        text = f"{number(open_ones)} are undecided: the interval reaches to both sides."
        text += f" {source.paper.claims.note}"
        answers.append(Answer(CLAIMED, NOTE, f"{holds} of {len(claims)} comparisons", text))
    return Judgement(source.label, "sweep", broken, answers)


def judge_benchmark(source: BenchmarkSource) -> Judgement:
    """A score above its cap breaks a budget; a target that is missed is a result."""
    benchmark = source.benchmark
    broken = [
        f"budget broken: {row.problem}, {row.agent}: {number(row.bytes_peak or 0)} bytes used, the cap is "
        f"{number(row.budget_bytes or 0)} bytes"
        for row in benchmark.scores
        if row.over_budget
    ]
    short = f"{len(benchmark.scores) - len(broken)} of {len(benchmark.scores)} scores"
    text = "So many kept their cap, or did not fit and have no score."
    fit = Answer(FIT, BAD if broken else OK, short, text)
    cells = [row for row in benchmark.cells if row.against == "all"]
    count = {name: sum(row.outcome == name for row in cells) for name in ("win", "tie", "loss", "open")}
    text = f"Against the best tuned baseline of each cell: {count['win']} won, {count['tie']} tied within 1 %,"
    text += f" {count['loss']} lost, {count['open']} open. The controller is not tuned; every baseline is."
    won = f"{count['win']} of {len(cells)} cells won" if cells else "No tuned baseline has played"
    ahead = Answer(AHEAD, NOTE, won, text if cells else "What the controller is compared with is below.")
    return Judgement(source.label, "benchmark", broken, [fit, ahead, _targets_met(benchmark.verdicts)])


def _targets_met(verdicts: Sequence[TargetRow]) -> Answer:
    """Of those that were measured: what was not played counts for neither side."""
    measured = [row.verdict for row in verdicts if row.verdict != "not measured"]
    text = "A target holds only where its 95 % interval leaves no other answer."
    if left := len(verdicts) - len(measured):
        text += f" {left} of {len(verdicts)} were not measured."
    short = f"{measured.count('holds')} of {len(measured)}" if measured else "Not measured"
    return Answer(TARGETS, NOTE, short, text)


# ---- sweeps ------------------------------------------------------------------------------------------


def sweep(found: Sequence[SweepSource]) -> Section | None:
    if not found:
        return None
    body = ""
    for i, source in enumerate(found):
        panels = (
            panel(small_title(problem), chart(f"sweep-{i}-{k}", "reward by cap", options))
            for k, (problem, options) in enumerate(sweep_panels(source).items())
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


def sweep_panels(source: SweepSource) -> dict[str, Chart]:
    """For every problem with at least two caps the reward against the cap, with a line for each agent."""
    panels = {}
    rows = source.sweep.rows
    for problem in dict.fromkeys(row.problem for row in rows):
        agents: dict[str, Chart] = {}
        best: float | None = None
        for row in rows:
            mean, half = row.reward_per_episode_mean, row.reward_per_episode_ci95 or 0.0
            if row.problem != problem or row.budget_bytes is None or row.refused or mean is None:
                continue
            name = row.agent + (f" c={row.bonus}" if row.bonus not in (None, "auto") else "")
            agent = agents.setdefault(name, line(name, [], [], low=[], high=[], half=True))
            for key, value in (
                ("x", float(row.budget_bytes)),
                ("y", mean),
                ("low", mean - half),
                ("high", mean + half),
            ):
                agent[key].append(value)
            best = row.optimal_mean or best
        lines = [agent for agent in agents.values() if len(agent["x"]) > 1]
        if lines:
            ticks = sorted({cap for agent in lines for cap in agent["x"]})
            panels[problem] = {
                "x": {"label": "cap", "log": True, "format": "bytes", "ticks": ticks},
                "y": {"label": "reward per episode"},
                "series": [agent | {"look": j} for j, agent in enumerate(lines)],
                "rules": rule(best),
                "height": 250,
            }
    return panels


def sweep_seeds(source: SweepSource, row: SummaryRow) -> dict[str, Any] | None:
    """The seeds of one combination in columns."""
    found = source.sweep.seeds_of(row)
    if not found:
        return None
    name = " · ".join([row.problem, row.agent, format_cap(row.budget_bytes)])
    rewards = [None if each.reward_per_episode is None else round(each.reward_per_episode, 4) for each in found]
    return {
        "name": name,
        "seed": [each.seed for each in found],
        "reward": rewards,
        "bytes": [each.bytes_peak for each in found],
    }


# ---- the paper's claims -------------------------------------------------------------------------------


def claims(sweeps: Sequence[SweepSource]) -> Section | None:
    """Of the sweeps that tested them."""
    shown = [(i, source, source.paper) for i, source in enumerate(sweeps) if source.paper is not None]
    if not shown:
        return None
    body = ""
    for i, source, paper in shown:
        body += title(source.label) if len(shown) > 1 else ""
        body += panel(small_title("On how many problems each claim holds"), _tally(paper.claims.claims))
        body += _curves(i, paper)
        body += panel(small_title("Every test"), _tests(paper.claims.claims)) + hint(paper.claims.note)
    lead = "What the paper says of its algorithms, each claim decided by paired seeds and a 95 % interval."
    return section("claims", "The paper's claims", lead, body)


def _tally(rows: Sequence[ClaimRow]) -> str:
    groups: dict[tuple[str, str], list[ClaimRow]] = {}
    for row in rows:
        groups.setdefault((row.statement, row.compared), []).append(row)
    listed = []
    for (statement, compared), group in groups.items():
        counts = (sum(row.holds for row in group), sum(row.undecided for row in group), len(group))
        listed.append([escape(statement), escape(compared), *map(str, counts)])
    return table(["claim", "compared", ">holds on", ">undecided on", ">of problems"], listed)


def _tests(rows: Sequence[ClaimRow]) -> str:
    listed = [
        [*map(escape, (row.claim, row.problem, row.compared, row.figures, row.difference)), str(row.seeds),
         escape(row.verdict), escape(row.note)]
        for row in rows
    ]  # fmt: skip
    classes = ["good" if row.holds else "" if row.undecided else "poor" for row in rows]
    headings = ["claim", "problem", "compared", "figures", "difference", ">seeds", "verdict", "note"]
    return long_table(headings, listed, classes)


def _curves(i: int, paper: PaperFolder) -> str:
    charts = (
        panel(small_title("Reward per episode"), chart(f"paper-{i}-reward", "reward per episode")),
        panel(small_title("Leaves of all steps"), chart(f"paper-{i}-leaves", "leaves of all steps")),
    )
    choices = paper_choices(i, paper)
    return picker(f"paper-{i}-problem", "Problem", list(paper.curves.problems), choices) + side_by_side(*charts)


def paper_choices(i: int, paper: PaperFolder) -> list[dict[str, Chart]]:
    """For each problem the two charts of its algorithms."""
    return [
        {
            f"paper-{i}-reward": {
                "y": {"label": "reward per episode"},
                "series": _algorithms(found.agents, "reward"),
                "rules": rule(found.optimal),
                "height": 300,
            },
            f"paper-{i}-leaves": {
                "y": {"label": "leaves", "log": True, "format": "integer"},
                "series": _algorithms(found.agents, "leaves"),
                "height": 300,
            },
        }
        for found in paper.curves.problems.values()
    ]


def _algorithms(agents: dict[str, AgentCurves], kind: str) -> list[Chart]:
    known = [(name, each.episode, curve) for name, each in agents.items() if (curve := getattr(each, kind)) is not None]
    found = []
    for j, (name, episodes, curve) in enumerate(known):
        ends = {
            side: [round(value + sign * width, 5) for value, width in zip(curve.mean, curve.ci95, strict=True)]
            for side, sign in (("low", -1), ("high", 1))
        }
        found.append(line(name, episodes, curve.mean, look=j, half=True, **ends))
    return found


# ---- the benchmark ------------------------------------------------------------------------------------


def benchmarks_section(found: Sequence[BenchmarkSource]) -> Section | None:
    if not found:
        return None
    body = ""
    for i, source in enumerate(found):
        benchmark = source.benchmark
        body += title(source.label) if len(found) > 1 else ""
        body += panel(small_title("Gain in % over the best tuned baseline"), _gains(benchmark, "all"))
        if any(row.against == OWN for row in benchmark.cells):
            body += panel(small_title("Gain in % over the best agent of your own"), _gains(benchmark, OWN))
        names = list(dict.fromkeys(row.problem for row in benchmark.scores))
        drawn = picker(f"benchmark-{i}-problem", "Problem", names, benchmark_choices(i, benchmark))
        drawn += chart(f"benchmark-{i}", "bytes against reward")
        body += panel(small_title("Bytes against reward"), drawn)
        body += panel(small_title("Targets"), _targets(benchmark))
        body += panel(small_title("Every score"), _scores(benchmark))
    lead = "One controller that is not tuned against baselines that are, for every problem and cap, at equal bytes."
    return section("benchmark", "Benchmark", lead, body)


def _gains(benchmark: BenchmarkResult, against: str) -> str:
    cells = {(row.problem, row.budget_bytes): row for row in benchmark.cells if row.against == against}
    caps = sorted({cap for _, cap in cells if cap is not None})
    caps_and_none: list[int | None] = [*caps, *([None] if any(cap is None for _, cap in cells) else [])]
    rows = [
        [escape(problem), *(_gain(cells.get((problem, cap))) for cap in caps_and_none)]
        for problem in dict.fromkeys(problem for problem, _ in cells)
    ]
    if not rows:
        return hint("No cell has both the controller and a tuned baseline.")
    return table(["problem", *(f">{format_cap(cap)}" for cap in caps_and_none)], rows)


def _gain(cell: CellRow | None) -> str:
    if cell is None:
        return ""
    text = "does not fit" if cell.gain is None else f"{100 * cell.gain:+.1f}"
    if cell.gain is not None and cell.gain_ci95 is not None:
        text += f" ± {100 * cell.gain_ci95:.1f}"
    kind = cell.outcome if cell.outcome in ("win", "loss") else ""
    return f'<span class="{kind}" title="{escape(cell.baseline)}">{escape(text)} {escape(cell.outcome)}</span>'


def _targets(benchmark: BenchmarkResult) -> str:
    rows = [
        [escape(word) for word in (row.target, row.statement, row.against, row.figures, row.verdict)]
        for row in benchmark.verdicts
    ]
    classes = [MARKS.get(row.verdict, "") for row in benchmark.verdicts]
    return table(["target", "what it asks", "against", "figures", "verdict"], rows, classes)


def _scores(benchmark: BenchmarkResult) -> str:
    rows = [_score(row) for row in benchmark.scores]
    classes = ["bad" if row.over_budget else "" for row in benchmark.scores]
    headings = ["problem", "agent", "class", ">cap", ">% of the unit", "unit", ">reward", ">peak bytes"]
    return long_table(headings, rows, classes)


def _score(row: ScoreRow) -> list[str]:
    half = "" if row.score_ci95 is None else f" ± {100 * row.score_ci95:.1f}"
    share = escape(row.status) if row.score is None else f"{100 * row.score:.1f}{half}"
    return [
        *(escape(word) for word in (row.problem, row.agent, kind_of(row.agent))),
        "none" if row.budget_bytes is None else number(row.budget_bytes),
        share,
        escape(row.unit),
        "" if row.reward_mean is None else f"{row.reward_mean:.3f}",
        "" if row.bytes_peak is None else number(row.bytes_peak),
    ]


def benchmark_choices(i: int, benchmark: BenchmarkResult) -> list[dict[str, Chart]]:
    """For each problem a line of points for each contender, by rising bytes."""
    found: list[dict[str, Chart]] = []
    scores = benchmark.scores
    for problem in dict.fromkeys(row.problem for row in scores):
        rows = [row for row in scores if row.problem == problem and row.score is not None and row.bytes_peak]
        rows.sort(key=lambda row: row.bytes_peak or 0)
        series = _contenders(rows)
        if not series:
            found.append({})
            continue
        sizes = [row.bytes_peak or 0 for row in rows]
        powers = [2**power for power in range(1, 41) if min(sizes) / 1.2 <= 2**power <= 1.2 * max(sizes)]
        label, low = "bytes at the peak of the worst seed", min(row.score or 0.0 for row in rows)
        found.append(
            {
                f"benchmark-{i}": {
                    "x": {"label": label, "log": True, "pad": 1.25, "format": "bytes", "ticks": powers},
                    "y": {"label": f"share of {rows[0].unit}", "format": "percent", "bottom": max(0, low - 0.05)},
                    "series": series,
                    "height": max(320, 17 * len(series) + 60),
                }
            }
        )
    return found


def _contenders(rows: Sequence[ScoreRow]) -> list[Chart]:
    """The controller is drawn last and largest; baselines share the other colours."""
    rank = {row.agent: 2 if row.agent == UNTUNED else int(kind_of(row.agent) == OURS) for row in rows}
    found = []
    for j, agent in enumerate(sorted(rank, key=lambda name: rank[name])):
        mine = [row for row in rows if row.agent == agent]
        colour = "5241"[j % 4] if rank[agent] == 0 else "30"[rank[agent] - 1]
        look = {"colour": f"var(--c{colour})", "thin": rank[agent] < 2}
        if rank[agent] < 2:
            look["dash"] = DASHES[j % 5]
        found.append(line(agent, [row.bytes_peak or 0 for row in mine], [row.score for row in mine], dots=True, **look))
    return found
