"""Judgement whether any limit was broken, and the answers a reader wants first; here those about runs.

The four answers about a run: did it fit, did it learn, how fast is it, what if memory ran out.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Any

from adamb.budgets.planner import UNIT_BYTES, Plan, PlannedJob
from adamb.firmware_model.host.errors import AdambError
from adamb.firmware_model.host.options import MEMORY_OPTIONS
from adamb.firmware_model.host.reader import BLOCK_COUNTERS
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.recording import Recording
from adamb.host_sim.runner import Estimate
from adamb.host_sim.studies.growth import log_points
from adamb.tools.report.sources import LatencySource, RunSource

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
    """A command to type to know more."""


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
    return Answer(SPEED, BAD if found.violations else OK, f"{worst} {found.unit} at most", " ".join(sentences))


# ---- a run ---------------------------------------------------------------------------------------------

BLOCK_CORES = ("c", "python")


def judge_run(run: RunSource, bounds: RunBounds | None, latency: list[LatencySource]) -> Judgement:
    violations = []
    summary = run.summary
    if summary.over_budget:
        used, cap = number(summary.bytes_peak), number(summary.budget_bytes or 0)
        violations.append(f"budget broken: {used} bytes used, the cap is {cap} bytes")
    if bounds is not None:
        violations += [f"bound broken: {line}" for line in bounds.violations]
    answers = [fit(run, bounds), learning(run), speed(run, latency), when_full(run)]
    return Judgement(run.label, "run", violations, answers)


def fit(run: RunSource, bounds: RunBounds | None) -> Answer:
    summary = run.summary
    peak, cap, seeds, over = summary.bytes_peak, summary.budget_bytes, summary.seeds, summary.over_budget
    text = f"The peak {'of the only seed' if seeds == 1 else f'of the worst of {seeds} seeds'} is"
    if cap is None:
        status, short = NOTE, f"No cap: {format_bytes(peak)}"
        text += f" {number(peak)} bytes."
    else:
        status = BAD if over else OK
        short = f"{'No' if over else 'Yes'}: {format_bytes(peak)} of {format_bytes(cap)}"
        away = f"{number(abs(cap - peak))} {'above' if over else 'below'}"
        text += f" {number(peak)} bytes, {'exactly' if peak == cap else away} the cap of {number(cap)}."
    if bounds is not None and bounds.violations:
        return Answer(FIT, BAD, short, f"{text} A bound was broken: {bounds.violations[0]}.")
    if bounds is not None:
        text += f" No run of this job can use more than {number(bounds.bytes[-1])} bytes or"
        text += f" {number(bounds.leaves)} leaves; neither bound was passed at any point. With the reserve"
        text += f" that is kept free, a block of {number(bounds.certificate_bytes)} bytes never fills."
    return Answer(FIT, status, short, text)


def interval(estimate: Estimate, scale: float = 1.0, digits: int = 1) -> str:
    """`94.6 ± 2.2` from a mean and its half width."""
    text = f"{scale * estimate.mean:.{digits}f}"
    return text if estimate.ci95 is None else f"{text} ± {scale * estimate.ci95:.{digits}f}"


def learning(run: RunSource) -> Answer:
    summary, details = run.summary, run.run.details
    episodes, last = summary.episodes, min(100, summary.episodes)
    first_reward, first_share = details.reward_first100, details.share_first100
    last_reward, share = summary.reward_last100, details.share_last100
    if share is not None:
        short = f"{interval(share, 100)} % of the optimum"
        start = "" if first_share is None else f", from {interval(first_share, 100)} % in the first {last}"
        sentences = [f"That is the mean of the last {last} episodes{start}."]
    else:
        short = f"{interval(last_reward, digits=3)} per episode"
        start = f", {interval(first_reward, digits=3)} in the first {last}"
        sentences = [f"That is the reward of the last {last} episodes{start}; no exact optimum is known."]
    whole = interval(summary.reward_per_episode, digits=3)
    sentences.append(f"Over all {number(episodes)} episodes: {whole} per episode.")
    if details.interrupted:
        asked = number(details.asked_episodes)
        sentences.append(f"The run was stopped before its {asked} episodes were over.")
    improved = improvement(first_reward, last_reward)
    if not improved:
        sentences.append("The last episodes are not clearly better than the first.")
    return Answer(LEARN, OK if improved else NOTE, short, " ".join(sentences))


def improvement(first: Estimate, last: Estimate) -> bool:
    """True if the intervals of the first and the last episodes do not overlap."""
    return last.mean - (last.ci95 or 0) > first.mean + (first.ci95 or 0)


def speed(run: RunSource, latency: list[LatencySource]) -> Answer:
    summary, here = run.summary, run.summary.microseconds_per_step
    host = "" if here is None else f"On the computer that ran it, a step (act and observe) took {here:.3g} µs."
    if latency:
        answer = speed_of_latency(latency[0])
        return Answer(SPEED, answer.status, answer.short, f"{answer.text} {host}".strip())
    short = "Not measured" if here is None else f"{here:.3g} µs per step, on a host"
    command = ""
    if summary.agent == "adamb":
        host += " For instructions on a target, add to this report the folder that this command writes:"
        cap = "" if summary.budget_bytes is None else f" --budget {summary.budget_bytes}"
        said = f"{summary.problem}{as_played(run)}{cap}"
        command = f"adamb latency {said} --target cortex-m0 --out runs/latency"
    return Answer(SPEED, NOTE, short, host.strip(), command)


VALUED = ("--set", "--agent-set")
"""Options of `adamb run` that decide what is measured, and that `adamb latency` takes too."""


def as_played(run: RunSource) -> str:
    """Those of the run's command, so that the same controller is measured on the same problem."""
    words = shlex.split(run.run.details.command)
    kept = []
    for i, word in enumerate(words):
        if word in VALUED and i + 1 < len(words):
            kept += [word, words[i + 1]]
        elif word.partition("=")[0] in VALUED:
            kept.append(word)
    return "".join(f" {shlex.quote(word)}" for word in kept)


def when_full(run: RunSource) -> Answer:
    names = ("refused_splits", "reclaims", "no_room", "restarts")
    known, over = {name: run.run.seed_counter(name) for name in names}, run.summary.over_budget
    if not known["reclaims"] and not known["refused_splits"]:
        return Answer(FULL, NOTE, "Not counted", "This agent does not count what it could not store.")
    mean = {name: sum(values) / max(1, len(values)) for name, values in known.items()}
    restarts = restarts_text(run)
    if mean["refused_splits"] + mean["reclaims"] + mean["no_room"] == 0:
        text = f"No split was refused and nothing was reclaimed in any seed.{restarts}"
        return Answer(FULL, OK, "It never did", text)
    frozen = run.run.details.settings.get("when_full") == "freeze"
    reclaims = mean["reclaims"]  # few are written as in the table of `adamb run`
    amount = number(reclaims) if reclaims >= 1000 else f"{reclaims:.4g}"
    did = f"{amount} pieces of its partition that were not used lately made room for others"
    text = (
        f"{first_full(run)}A seed had {number(mean['refused_splits'])} splits refused on average; "
        f"{'the partition stayed as it was' if frozen else did}. "
        f"{'The cap was passed.' if over else 'The cap was never passed.'}{restarts}"
    )
    if over:
        return Answer(FULL, BAD, "It took more than it had", text)
    return Answer(FULL, OK, "It stopped splitting" if frozen else "It made room and continued", text)


def first_event(recording: Recording, name: str) -> int | None:
    """The first episode after which a counter of the recorded seed was not zero."""
    at = recording.counters[:, BLOCK_COUNTERS.index(name)].nonzero()[0]
    return int(recording.counter_episodes[at[0]]) if len(at) else None


def first_full(run: RunSource) -> str:
    recording, seed = run.run.recording, run.summary.seed_base
    if recording is None:
        return ""
    firsts = [first_event(recording, name) for name in ("refused", "reclaims", "no_room")]
    known = [episode for episode in firsts if episode is not None]
    if not known:
        return f"Seed {seed}, which was recorded, had room throughout. "
    return f"Seed {seed} ran low after episode {number(min(known))}. "


def restarts_text(run: RunSource) -> str:
    restarts, recording = run.run.seed_counter("restarts"), run.run.recording
    if not any(restarts):
        return ""
    seeds = len(restarts)
    times = "once" if sum(restarts) == 1 else f"{sum(restarts):.0f} times"
    text = f" Returns fell and learning was restarted {times}" + (f" in {seeds} seeds" if seeds > 1 else "")
    first = None if recording is None else first_event(recording, "restarts")
    seed = run.summary.seed_base
    return text + ("." if first is None else f", in seed {seed} after episode {number(first)}.")


# ---- the upper bounds of the run's job ---------------------------------------------------------------


@dataclass(frozen=True)
class RunBounds:
    """Bounds of one run: bytes over the episodes, leaves at the end, and whether they held."""

    episodes: list[int]
    bytes: list[int]
    leaves: int
    paper_leaves: float
    paper_condition_met: bool
    certificate_bytes: int
    first_binding_episode: int | None
    violations: list[str]


def job_of(run: RunSource) -> PlannedJob | None:
    """The job that the run did; None for an agent without bounds."""
    summary, details = run.summary, run.run.details
    if summary.agent != "adamb" or summary.core not in BLOCK_CORES:
        return None
    chosen = {key: details.settings.get(key) for key in MEMORY_OPTIONS}
    mode = details.settings.get("mode", "tracking")
    d_s, d_a = details.dimensions
    try:
        return PlannedJob(d_s, d_a, summary.horizon, summary.episodes, mode=mode, **chosen)
    except AdambError:
        return None


def run_bounds(run: RunSource) -> RunBounds | None:
    job = job_of(run)
    if job is None:
        return None
    points = log_points(job.episodes)
    limits = [_bytes(job, episode) for episode in points]
    plan = Plan(job, run.summary.budget_bytes)
    paper = plan.paper()
    return RunBounds(
        episodes=points,
        bytes=limits,
        leaves=plan.leaves,
        paper_leaves=float(paper["leaves"]),
        paper_condition_met=bool(paper["leaves_condition_met"]),
        certificate_bytes=plan.certificate_bytes,
        first_binding_episode=plan.first_binding_episode,
        violations=[*_bytes_above(run, job, points, limits), *_leaves_above(run, plan)],
    )


def _bytes(job: PlannedJob, episode: int) -> int:
    return (job.bound.header_units + job.bound.units(episode)) * UNIT_BYTES


def _bytes_above(run: RunSource, job: PlannedJob, points: list[int], limits: list[int]) -> list[str]:
    """The first point at which the worst seed used more bytes than any run can.

    Bounds only grow, so a point needs its own only when it is above the one of an earlier point.
    """
    column, last = 0, 0
    curves = run.run.curves
    for episode, used in zip(curves.episode, curves.bytes_max, strict=True):
        if used is None or episode is None:
            continue
        while column < len(points) and points[column] <= episode:
            last, column = limits[column], column + 1
        if used > last and used > (limit := _bytes(job, int(episode))):
            return [f"{used:.0f} bytes after episode {episode:.0f}, the upper bound is {limit}"]
    return []


def _leaves_above(run: RunSource, plan: Plan) -> list[str]:
    worst = max(run.run.seed_counter("leaves"), default=0)
    return [f"{worst:.0f} leaves, the upper bound is {plan.leaves}"] if worst > plan.leaves else []
