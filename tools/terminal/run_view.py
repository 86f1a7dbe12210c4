"""A run on the terminal: a panel or a few plain lines while it runs, and the table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.runner import LAST, estimate
from adamb.tools.options import seeds_text
from adamb.tools.terminal.target_rows import target_lines

if TYPE_CHECKING:
    from adamb.host_sim.agent import Agent, Progress
    from adamb.host_sim.runner import RunResult
    from adamb.tools.options import PlayedProblem
    from adamb.tools.stopping import StopRequest

RECENT = 100
FRAME_SECONDS = 0.1
LINE_SECONDS = 2.0
LONG_SECONDS = 30.0
COUNTER_LABELS = {
    "leaves": "leaves",
    "refused_splits": "refused splits",
    "reclaims": "reclaims",
    "saturations": "saturations",
    "restarts": "restarts",
}


@contextmanager
def watch(console: Console, title: str, stop: StopRequest, *, quiet: bool = False) -> Iterator[RunWatcher]:
    """What to pass to `simulate` as progress: it draws, and says when to stop."""
    if quiet:
        yield RunWatcher(stop)
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield Panel(stop, live, title)
    else:
        yield PlainLines(stop, console, title)


def told(agent: Agent, quiet: bool) -> AbstractContextManager[None]:
    """What is done on a target is told; there is nothing to tell of a run on this computer."""
    if not agent.lanes:
        return nullcontext()
    from adamb.tools.terminal.notes import notes

    return notes(quiet)


class RunWatcher:
    """Shows nothing; listens for Ctrl-C."""

    def __init__(self, stop: StopRequest) -> None:
        self.stop = stop

    def __call__(self, progress: Progress) -> bool:
        return self.stop.asked


class _Timed(RunWatcher):
    """Draws when enough time has passed, so that drawing costs nothing that can be measured."""

    def __init__(self, stop: StopRequest, interval: float) -> None:
        super().__init__(stop)
        self.interval = interval
        self.began = self.last = time.monotonic()

    def __call__(self, progress: Progress) -> bool:
        now = time.monotonic()
        if now - self.last >= self.interval:
            self.last = now
            self.draw(progress, now - self.began)
        return self.stop.asked

    def draw(self, progress: Progress, elapsed: float) -> None:
        raise NotImplementedError


class PlainLines(_Timed):
    """One line at every tenth of the run, and every half minute of a long one, for logs and pipes."""

    def __init__(
        self, stop: StopRequest, console: Console, title: str, interval: float = LINE_SECONDS
    ) -> None:
        super().__init__(stop, interval)
        self.console, self.title = console, title
        self.tenth, self.printed = 0, 0.0

    def draw(self, progress: Progress, elapsed: float) -> None:
        tenth = 10 * progress.done // progress.episodes
        if tenth == self.tenth and elapsed - self.printed < LONG_SECONDS:
            return
        self.tenth, self.printed = tenth, elapsed
        parts = [
            f"{self.title}{turn(progress)}: episode {progress.done} of {progress.episodes}",
            f"{clock(eta(progress, elapsed))} left",
            f"reward {reward_so_far(progress)}",
            memory(progress),
            *counters(progress),
        ]
        self.console.print(", ".join(parts), highlight=False, soft_wrap=True)


class Panel(_Timed):
    """Progress, time left, reward so far and bytes of the cap, redrawn in place."""

    def __init__(self, stop: StopRequest, live: Live, title: str) -> None:
        super().__init__(stop, FRAME_SECONDS)
        self.live, self.title = live, title

    def draw(self, progress: Progress, elapsed: float) -> None:
        self.live.update(panel(progress, self.title, elapsed, stopping=self.stop.asked), refresh=True)


def panel(progress: Progress, title: str, elapsed: float, *, stopping: bool = False) -> Group:
    """The drawing itself, apart from the terminal so that it can be looked at in a test."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold", justify="right", no_wrap=True)
    rows.add_column(width=32)
    rows.add_column(no_wrap=True)
    rows.add_row(
        "episodes",
        ProgressBar(total=progress.episodes, completed=progress.done, width=32, complete_style="cyan"),
        f"{progress.done:,} of {progress.episodes:,}{turn(progress)}, {clock(eta(progress, elapsed))} left",
    )
    used, budget = int(progress.agent.bytes_used().max()), progress.agent.budget_bytes
    gauge = ProgressBar(
        total=budget or max(used, 1),
        completed=used if budget else 0,
        width=32,
        complete_style="yellow",
        finished_style="yellow",
    )
    rows.add_row("memory", gauge, memory(progress))
    rows.add_row("reward", reward_so_far(progress), "  ".join(counters(progress)))
    ending = Text("ending after this episode; Ctrl-C again to drop everything", style="yellow")
    return Group(Text(title, style="bold cyan"), rows, *([ending] if stopping else []))


def eta(progress: Progress, elapsed: float) -> float:
    before, learners = progress.turn
    done, total = before * progress.episodes + progress.done, learners * progress.episodes
    return elapsed / done * (total - done) if done else 0.0


def turn(progress: Progress) -> str:
    """Which of the learners that take turns this is."""
    before, learners = progress.turn
    return f", seed {before + 1} of {learners}" if learners > 1 else ""


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


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


def table(result: RunResult) -> Table:
    """Every figure with its interval over the seeds; counters are means over the seeds."""
    rows = Table(
        title=run_title(result.problem, result.agent, result.core, result.budget_bytes),
        title_justify="left",
        title_style="bold",
        show_header=False,
    )
    rows.add_column("", style="cyan", no_wrap=True)
    rows.add_column("")
    for label, text in lines(result):
        rows.add_row(label, Text(text))
    return rows


def lines(result: RunResult) -> list[tuple[str, str]]:
    """The rows of the table."""
    share, recent_share, regret = result.share(), result.share(LAST), result.regret()
    last = min(LAST, result.episodes)
    rows = [
        ("reward per episode", str(result.reward())),
        (f"last {last} episodes", str(result.reward(LAST))),
    ]
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
        ("time per step", f"{_time(result.microseconds_per_step())} (environment {_time(environment)} apart)")
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
