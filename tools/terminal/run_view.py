"""A run on the terminal: what is said while it runs, and the tables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.runner import LAST, estimate
from adamb.tools.options import seeds_text

if TYPE_CHECKING:
    from adamb.host_sim.agents import Progress
    from adamb.host_sim.runner import RunResult
    from adamb.tools.options import PlayedProblem
    from adamb.tools.stopping import StopRequest
    from adamb.tools.terminal import Display


RECENT = 100
BAR = 40
TARGET_LABELS = {"act": "act", "observe": "observe", "end_episode": "end of episode"}
COUNTER_LABELS = {
    "leaves": "leaves",
    "refused_splits": "refused splits",
    "reclaims": "reclaims",
    "saturations": "saturations",
    "restarts": "restarts",
}


def follower(display: Display, title: str, stop: StopRequest) -> Callable[[Progress], bool]:
    """What to pass to `simulate` as progress: it tells the display, and says when to stop."""

    def follow(progress: Progress) -> bool:
        before, learners = progress.turn
        done, total = before * progress.episodes + progress.done, learners * progress.episodes
        display(lambda: so_far(progress, title, stopping=stop.asked), done, total)
        return stop.asked

    return follow


def so_far(progress: Progress, title: str, *, stopping: bool = False) -> str:
    """Episodes, reward and bytes of a run in progress."""
    ending = ["ending after this episode; Ctrl-C again to drop everything"] if stopping else []
    parts = [
        f"{title}{turn(progress)}: episode {progress.done} of {progress.episodes}",
        f"reward {reward_so_far(progress)}",
        memory(progress),
        *counters(progress),
        *ending,
    ]
    return ", ".join(parts)


def turn(progress: Progress) -> str:
    """Which of the learners that take turns this is."""
    before, learners = progress.turn
    return f", seed {before + 1} of {learners}" if learners > 1 else ""


def reward_so_far(progress: Progress) -> str:
    recent = slice(max(0, progress.done - RECENT), progress.done)
    reward = float(np.mean(progress.returns[:, recent]))
    text = f"{reward:.3f}"
    if progress.optimal is not None:
        best = float(np.mean(progress.optimal[:, recent]))
        text += f" ({100 * reward / best:.1f} % of the optimum)" if best > 0 else ""
    return text


def memory(progress: Progress) -> str:
    used, budget = int(progress.agent.bytes_used().max()), progress.agent.budget_bytes
    return f"{format_bytes(used)} of {format_bytes(budget)}" if budget else f"{format_bytes(used)}, no cap"


def counters(progress: Progress) -> list[str]:
    stats = progress.agent.stats()
    return [f"{name} {float(np.mean(stats[name])):.0f}" for name in ("leaves", "reclaims") if name in stats]


def run_title(problem: str, agent: str, core: str | None, budget_bytes: int | None) -> str:
    cap = "no cap" if budget_bytes is None else f"cap {format_bytes(budget_bytes)}"
    return f"{problem} · {agent}{f' ({core} core)' if core else ''} · {cap}"


def done_of(result: RunResult, played: PlayedProblem) -> str:
    """How far a run came: 120 of 2000 episodes, or 3 of 10 seeds where they take turns."""
    if result.target is not None and result.episodes == played.episodes:
        return f"{len(result.seeds)} of {len(played.seeds)} seeds"
    return f"{result.episodes} of {played.episodes} episodes"


def table(result: RunResult, *, explained: bool = False) -> Table:
    """Every figure with its interval over the seeds; counters are means over the seeds."""
    rows = Table(
        title=run_title(result.problem, result.agent, result.core, result.budget_bytes),
        title_justify="left",
        title_style="bold",
        caption=None if explained else "--explain says what each line means",
        caption_justify="left",
        show_header=False,
    )
    rows.add_column("", style="cyan", no_wrap=True)
    rows.add_column("")
    for label, text in lines(result):
        rows.add_row(label, Text(text))
    return rows


def words_table(result: RunResult) -> Table:
    """What the lines of a run mean."""
    rows = Table.grid(padding=(0, 2))
    for label, _ in lines(result):
        if said := meaning(label):
            rows.add_row(Text(label, style="cyan"), Text(said))
    return rows


def lines(result: RunResult) -> list[tuple[str, str]]:
    """The rows of the table."""
    share, recent_share, regret = result.share(), result.share(LAST), result.regret()
    last = min(LAST, result.episodes)
    rows = [("reward per episode", str(result.reward())), (f"last {last} episodes", str(result.reward(LAST)))]
    if (raw := result.raw_reward()) is not None:
        rows.append(("in its own units", f"{raw}; last {last}: {result.raw_reward(LAST)}"))
    rows += _of_environment(result.figures)
    if share is not None and recent_share is not None:
        rows.append(("share of the optimum", f"{share.percent()}; last {last}: {recent_share.percent()}"))
    if regret is not None:
        rows.append(("regret", f"{regret} over {result.episodes} episodes"))
    rows.append(("memory, worst seed", _memory(result)))
    environment = 1e6 * result.seconds["environment"] / result.returns.size / result.horizon
    rows.append(
        ("time per step", f"{_time(result.microseconds_per_step())} (environment: {_time(environment)}, not included)")
    )
    rows += target_lines(result) if result.target is not None else []
    for name, label in COUNTER_LABELS.items():
        mean = result.mean_stat(name)
        if mean is not None:
            rows.append((label, f"{mean:.4g}"))
    if result.clipped.any():
        rows.append(("clipped actions", f"{result.clipped.mean():.4g}"))
    if result.settings.get("mode"):
        rows.append(("mode", f"{result.settings['mode']}, share {result.settings.get('share')}"))
    rows.append(("episodes", f"{result.episodes} of {result.horizon} steps"))
    rows.append(("seeds", f"{seeds_text(result.seeds)} (intervals: 95 % over {len(result.seeds)} seeds)"))
    if len(result.seeds) == 1:
        rows[-1] = ("seeds", f"{result.seeds[0]} (one seed gives no interval; try --seeds 10)")
    return rows


def _of_environment(figures: dict[str, np.ndarray]) -> list[tuple[str, str]]:
    """How often the episodes of a Gymnasium environment have ended, and what the last of them earned."""
    if "ended_return" not in figures:
        return []
    ended = f"{figures['terminations'].mean():.4g} terminated, {figures['truncations'].mean():.4g} truncated"
    returns = figures["ended_return"]
    if np.isfinite(returns).all():
        ended += f"; the last returned {estimate(returns)}"
    rows = [("environment episodes", ended)]
    if figures["clipped_rewards"].any():
        rows.append(("clipped rewards", f"{figures['clipped_rewards'].mean():.4g}"))
    return rows


def _time(microseconds: float) -> str:
    return f"{microseconds:.3g} µs" if microseconds < 1000 else f"{microseconds / 1000:.3g} ms"


def _memory(result: RunResult) -> str:
    peak = int(result.bytes_peak.max())
    if result.budget_bytes is None:
        return f"{format_bytes(peak)}, no cap"
    share = 100 * peak / result.budget_bytes
    return f"{format_bytes(peak)} of {format_bytes(result.budget_bytes)} ({share:.0f} %)"


def target_lines(result: RunResult) -> list[tuple[str, str]]:
    """What was measured there."""
    found = result.target
    if found is None:
        return []
    rows = [("target", f"{', '.join(found['names'])}: {found['software']}")]
    for name, label in TARGET_LABELS.items():
        if name in found:
            cost, unit = found[name], found["unit"]
            text = f"{cost['mean']:.5g} {unit} (99 %: {cost['p99']:.5g}, most {cost['most']})"
            rows.append((f"{label}, on the target", text))
    rows += _energy_lines(found.get("energy"))
    if "no_energy" in found:
        rows.append(("energy", found["no_energy"]))
    line = found["link"]
    again = f", {line['repeats']} sent again" if line["repeats"] else ""
    back = f"; the target came back {line['returns']} times" if line["returns"] else ""
    rows.append(("link", f"{line['calls']} calls{again}{back}"))
    same = "could not be read" if result.digest is None else f"{result.digest}, as --core c gives it"
    rows.append(("digest of its block", same))
    return rows


def _energy_lines(found: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Energy of a mean call on the board that was named, and its battery."""
    if found is None:
        return []
    rows = []
    for call, what in (("act", "a decision"), ("observe", "a learning step")):
        low, high = found[f"{call}_uj"]
        rows.append((f"energy of {call}", f"{low:.3g} to {high:.3g} µJ {what} on {found['board']}, mean"))
    if "battery" in found:
        rows.append(("battery", found["battery"]["sentence"]))
    return rows


def statistics_table(counts: dict[str, Any]) -> str:
    """Row hits, closed rows and bank conflicts as shares of all requests, and read latency by octaves."""
    served = max(1, counts["reads"] + counts["writes"])
    rows = [
        ("requests", f"{counts['reads']:,} reads, {counts['writes']:,} writes, all seeds and episodes"),
        ("row hits", f"{counts['hits'] / served:.1%}"),
        ("closed rows", f"{counts['closed'] / served:.1%}; {counts['reopened'] / served:.1%} too early"),
        ("bank conflicts", f"{counts['conflicts'] / served:.1%}"),
        ("refreshes", f"{counts['refreshes']:,}"),
        ("read latency", f"{counts['mean_read']:.1f} cycles on average, {counts['worst_read']:,} at worst"),
    ]
    lines = [f"{name:<14}  {value}" for name, value in rows]
    reads = max(1, counts["reads"])
    highest = max((row[2] for row in counts["latency"]), default=1)
    lines += ["", "cycles of a read"]
    for low, below, count in counts["latency"]:
        bar = "#" * math.ceil(BAR * count / highest)
        lines.append(f"{f'{low:,} to {below - 1:,}':>21}  {count / reads:6.1%}  {bar}")
    return "\n".join(lines)


WORDS = {
    "reward per episode": "what an episode earned, its rewards added up; a reward is from 0 to 1, and more is better",
    "last episodes": "the same at the end of the run: what the learnt controller earns",
    "in its own units": "the same as the environment counts it",
    "share of the optimum": "share of V*: reward as a part of what the best possible controller earns from the same "
    "starts, which knows the task beforehand; 100 % is perfect, and what is missing at the end is what it gives away",
    "regret": "what the whole run lost against V*, in rewards: the price of learning; once it hardly grows, nothing "
    "more is to be learnt",
    "memory, worst seed": "the most bytes that any seed ever used; far below the cap: a smaller one does",
    "time per step": "on this computer, not on a board: adamb latency and adamb plan have those",
    "leaves": "parts into which states and actions are divided, all steps together; it treats alike what is in one "
    "part, so more of them are finer decisions and more bytes",
    "refused splits": "how often a part could not be divided for want of room; 0: there was enough, thousands: try a "
    "larger cap (adamb plan PROBLEM --measure)",
    "reclaims": "parts given up to make room for more useful ones; 0: there was enough, the more the shorter memory is",
    "saturations": "how often a counter was full and was halved, so that old samples count less; nothing to do",
    "restarts": "how often it began to learn anew, as returns had fallen far and stayed there; 0 where a plant does "
    "not change (--agent-set detect=off: never)",
    "clipped actions": "actions outside 0 to 1, played as the nearest end: a mistake of an agent",
    "clipped rewards": "rewards outside the bounds, counted as the nearest bound: set reward_low and reward_high",
    "environment episodes": "the environment's own episodes, which may be longer or shorter than ours",
    "mode": "tracking, the default, follows a plant that changes, paper is the published algorithm; share auto: all "
    "steps of an episode use one partition until it is found that they differ",
    "episodes": "how often the task was played, and how many steps it plans ahead; a plant that never stops is cut "
    "into episodes: the next one starts where the last ended (--set continuing=yes)",
    "seeds": "repetitions with other random draws; ± is where the mean of very many would be, 95 of 100 times",
}
"""By the label that a table prints."""


def meaning(label: str) -> str | None:
    """Of a label, whatever number is in it; None where it speaks for itself.

    >>> meaning("last 100 episodes") == WORDS["last episodes"]
    True
    """
    return WORDS.get(re.sub(r" \d+", "", label))
