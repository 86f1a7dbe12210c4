"""The four answers about a run: did it fit, did it learn, how fast is it, what if memory ran out."""

from __future__ import annotations

from typing import Any

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.block_view import COUNTERS
from adamb.host_sim.recording import Recording
from adamb.tools.report.bounds import RunBounds
from adamb.tools.report.sources import LatencySource, RunSource
from adamb.tools.report.verdicts import (
    BAD,
    FIT,
    FULL,
    LEARN,
    NOTE,
    OK,
    SPEED,
    Answer,
    Judgement,
    number,
    speed_of_latency,
)


def judge_run(run: RunSource, bounds: RunBounds | None, latency: list[LatencySource]) -> Judgement:
    violations = []
    if run.over_budget:
        used, cap = number(run.peak_bytes), number(run.budget_bytes or 0)
        violations.append(f"budget broken: {used} bytes used, the cap is {cap} bytes")
    if bounds is not None:
        violations += [f"bound broken: {line}" for line in bounds.violations]
    answers = [fit(run, bounds), learning(run), speed(run, latency), when_full(run)]
    return Judgement(run.label, "run", violations, answers)


def fit(run: RunSource, bounds: RunBounds | None) -> Answer:
    peak, cap, seeds = run.peak_bytes, run.budget_bytes, int(run.data.get("seeds", 1))
    text = f"The peak {'of the only seed' if seeds == 1 else f'of the worst of {seeds} seeds'} is"
    if cap is None:
        status, short = NOTE, f"No cap: {format_bytes(peak)}"
        text += f" {number(peak)} bytes."
    else:
        status = BAD if run.over_budget else OK
        short = f"{'No' if run.over_budget else 'Yes'}: {format_bytes(peak)} of {format_bytes(cap)}"
        away = f"{number(abs(cap - peak))} {'above' if run.over_budget else 'below'}"
        text += f" {number(peak)} bytes, {'exactly' if peak == cap else away} the cap of {number(cap)}."
    if bounds is not None and bounds.violations:
        return Answer(FIT, BAD, short, f"{text} A bound was broken: {bounds.violations[0]}.")
    if bounds is not None:
        text += f" No run of this job can use more than {number(bounds.bytes[-1])} bytes or"
        text += f" {number(bounds.leaves)} leaves; neither bound was passed at any point."
    return Answer(FIT, status, short, text)


def interval(estimate: dict[str, Any] | None, scale: float = 1.0, digits: int = 1) -> str:
    """`94.6 ± 2.2` from a mean and its half width."""
    if not estimate or estimate.get("mean") is None:
        return "unknown"
    text, half = f"{scale * estimate['mean']:.{digits}f}", estimate.get("ci95")
    return text if half is None else f"{text} ± {scale * half:.{digits}f}"


def learning(run: RunSource) -> Answer:
    details, episodes = run.details, int(run.data["episodes"])
    last = min(100, episodes)
    first_reward, last_reward = details.get("reward_first100"), run.data.get("reward_last100")
    share, first_share = details.get("share_last100"), details.get("share_first100")
    if share is None and run.data.get("optimal") and last_reward:
        share = {"mean": last_reward["mean"] / run.data["optimal"], "ci95": None}
    if share is not None:
        short = f"{interval(share, 100)} % of the optimum"
        start = "" if first_share is None else f", from {interval(first_share, 100)} % in the first {last}"
        sentences = [f"That is the mean of the last {last} episodes{start}."]
    else:
        short = f"{interval(last_reward, digits=3)} an episode"
        start = "" if first_reward is None else f", {interval(first_reward, digits=3)} in the first {last}"
        sentences = [f"That is the reward of the last {last} episodes{start}; no exact optimum is known."]
    whole = interval(run.data.get("reward_per_episode"), digits=3)
    sentences.append(f"Over all {number(episodes)} episodes: {whole} an episode.")
    if details.get("interrupted"):
        asked = number(details.get("asked_episodes", episodes))
        sentences.append(f"The run was stopped before its {asked} episodes were over.")
    improved = improvement(first_reward, last_reward)
    if improved is False:
        sentences.append("The last episodes are not clearly better than the first.")
    return Answer(LEARN, NOTE if improved is False else OK, short, " ".join(sentences))


def improvement(first: dict[str, Any] | None, last: dict[str, Any] | None) -> bool | None:
    """Whether the intervals of the first and the last episodes lie apart; None when that cannot be said."""
    if not first or not last:
        return None
    return bool(last["mean"] - (last.get("ci95") or 0) > first["mean"] + (first.get("ci95") or 0))


def speed(run: RunSource, latency: list[LatencySource]) -> Answer:
    here = run.details.get("microseconds_per_step")
    if here is None and run.data.get("seconds"):
        steps = run.data["episodes"] * run.data["horizon"] * max(1, run.data.get("seeds", 1))
        here = 1e6 * run.data["seconds"]["agent"] / steps
    host = (
        "" if here is None else f"On the computer that ran it, a step (act and observe) took {here:.3g} µs."
    )
    if latency:
        answer = speed_of_latency(latency[0])
        return Answer(SPEED, answer.status, answer.short, f"{answer.text} {host}".strip())
    short = "Not measured" if here is None else f"{here:.3g} µs a step, on a host"
    command = ""
    if run.data.get("agent") == "adamb":
        host += " For instructions on a target, add to this report the folder that this command writes:"
        cap = "" if run.budget_bytes is None else f" --budget {run.budget_bytes}"
        command = f"adamb latency {run.problem}{cap} --target cortex-m0 --out runs/latency"
    return Answer(SPEED, NOTE, short, host.strip(), command)


def when_full(run: RunSource) -> Answer:
    known = {name: run.seed_counter(name) for name in ("refused_splits", "reclaims", "no_room", "restarts")}
    if not known["reclaims"] and not known["refused_splits"]:
        return Answer(FULL, NOTE, "Not counted", "This agent does not count what it could not store.")
    mean = {name: sum(values) / max(1, len(values)) for name, values in known.items()}
    restarts = restarts_text(run)
    if mean["refused_splits"] + mean["reclaims"] + mean["no_room"] == 0:
        text = f"No split was refused and nothing was reclaimed in any seed.{restarts}"
        return Answer(FULL, OK, "It never did", text)
    frozen = run.details.get("settings", {}).get("when_full") == "freeze"
    did = f"{number(mean['reclaims'])} pieces of its partition that were not used lately made room for others"
    text = (
        f"{first_full(run)}A seed had {number(mean['refused_splits'])} splits refused on average; "
        f"{'the partition stayed as it was' if frozen else did}. "
        f"{'The cap was passed.' if run.over_budget else 'The cap was never passed.'}{restarts}"
    )
    if run.over_budget:
        return Answer(FULL, BAD, "It took more than it had", text)
    return Answer(FULL, OK, "It stopped splitting" if frozen else "It made room and went on", text)


def first_event(recording: Recording, name: str) -> int | None:
    """The first episode after which a counter of the recorded seed was not zero."""
    at = recording.counters[:, COUNTERS.index(name)].nonzero()[0]
    return int(recording.counter_episodes[at[0]]) if len(at) else None


def first_full(run: RunSource) -> str:
    if run.recording is None:
        return ""
    firsts = [first_event(run.recording, name) for name in ("refused", "reclaims", "no_room")]
    known = [episode for episode in firsts if episode is not None]
    if not known:
        return f"Seed {run.first_seed}, which was recorded, had room throughout. "
    return f"Seed {run.first_seed} ran low after episode {number(min(known))}. "


def restarts_text(run: RunSource) -> str:
    restarts = run.seed_counter("restarts")
    if not any(restarts):
        return ""
    seeds = len(restarts)
    times = "once" if sum(restarts) == 1 else f"{sum(restarts):.0f} times"
    text = f" Returns fell and learning began anew {times}" + (f" in {seeds} seeds" if seeds > 1 else "")
    first = None if run.recording is None else first_event(run.recording, "restarts")
    return text + ("." if first is None else f", in seed {run.first_seed} after episode {number(first)}.")
