"""The four answers about a run: did it fit, did it learn, how fast is it, what if memory ran out."""

from __future__ import annotations

import shlex

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.blocks.recording import Recording
from adamb.host_sim.blocks.view import BLOCK_COUNTERS
from adamb.host_sim.runner import Estimate
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
        short = f"{interval(last_reward, digits=3)} an episode"
        start = f", {interval(first_reward, digits=3)} in the first {last}"
        sentences = [f"That is the reward of the last {last} episodes{start}; no exact optimum is known."]
    whole = interval(summary.reward_per_episode, digits=3)
    sentences.append(f"Over all {number(episodes)} episodes: {whole} an episode.")
    if details.interrupted:
        asked = number(details.asked_episodes)
        sentences.append(f"The run was stopped before its {asked} episodes were over.")
    improved = improvement(first_reward, last_reward)
    if not improved:
        sentences.append("The last episodes are not clearly better than the first.")
    return Answer(LEARN, OK if improved else NOTE, short, " ".join(sentences))


def improvement(first: Estimate, last: Estimate) -> bool:
    """Whether the intervals of the first and the last episodes lie apart."""
    return last.mean - (last.ci95 or 0) > first.mean + (first.ci95 or 0)


def speed(run: RunSource, latency: list[LatencySource]) -> Answer:
    summary, here = run.summary, run.summary.microseconds_per_step
    host = (
        "" if here is None else f"On the computer that ran it, a step (act and observe) took {here:.3g} µs."
    )
    if latency:
        answer = speed_of_latency(latency[0])
        return Answer(SPEED, answer.status, answer.short, f"{answer.text} {host}".strip())
    short = "Not measured" if here is None else f"{here:.3g} µs a step, on a host"
    command = ""
    if summary.agent == "adamb":
        host += " For instructions on a target, add to this report the folder that this command writes:"
        cap = "" if summary.budget_bytes is None else f" --budget {summary.budget_bytes}"
        said = f"{summary.problem}{as_played(run)}{cap}"
        command = f"adamb latency {said} --target cortex-m0 --out runs/latency"
    return Answer(SPEED, NOTE, short, host.strip(), command)


VALUED = ("--set", "--horizon", "--mode", "--share", "--when-full")
"""Options of `adamb run` that decide what is measured, and that `adamb latency` takes too."""


def as_played(run: RunSource) -> str:
    """Those of the run's command, so that the same controller is measured on the same problem."""
    words = shlex.split(run.run.details.command)
    kept = []
    for i, word in enumerate(words):
        if word in VALUED and i + 1 < len(words):
            kept += [word, words[i + 1]]
        elif word == "--continuing" or word.partition("=")[0] in VALUED:
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
    reclaims = mean["reclaims"]  # few are told as in the table of `adamb run`
    amount = number(reclaims) if reclaims >= 1000 else f"{reclaims:.4g}"
    did = f"{amount} pieces of its partition that were not used lately made room for others"
    text = (
        f"{first_full(run)}A seed had {number(mean['refused_splits'])} splits refused on average; "
        f"{'the partition stayed as it was' if frozen else did}. "
        f"{'The cap was passed.' if over else 'The cap was never passed.'}{restarts}"
    )
    if over:
        return Answer(FULL, BAD, "It took more than it had", text)
    return Answer(FULL, OK, "It stopped splitting" if frozen else "It made room and went on", text)


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
