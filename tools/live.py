"""A run while it runs: a panel on a terminal, a few plain lines elsewhere, and Ctrl-C that loses nothing."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from adamb.budgets.sizes import format_bytes

if TYPE_CHECKING:
    from adamb.host_sim.runner import Progress

RECENT = 100
FRAME_SECONDS = 0.1
LINE_SECONDS = 2.0
LONG_SECONDS = 30.0


class StopRequest:
    """Set by the first Ctrl-C; the run then ends after the current episode. A second one ends it at once."""

    def __init__(self) -> None:
        self.asked = False

    def _handle(self, signum: int, frame: Any) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def stop_on_interrupt() -> Iterator[StopRequest]:
    """Turn Ctrl-C into a request while a run is in progress."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    previous = signal.signal(signal.SIGINT, request._handle)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def watch(console: Console, title: str, stop: StopRequest, *, quiet: bool = False) -> Iterator[Watcher]:
    """What to pass to `simulate` as progress: it draws, and says when to stop."""
    if quiet:
        yield Watcher(stop)
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield Panel(stop, live, title)
    else:
        yield PlainLines(stop, console, title)


class Watcher:
    """Shows nothing; listens for Ctrl-C."""

    def __init__(self, stop: StopRequest) -> None:
        self.stop = stop

    def __call__(self, progress: Progress) -> bool:
        return self.stop.asked


class _Timed(Watcher):
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
            f"{self.title}: episode {progress.done} of {progress.episodes}",
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
        f"{progress.done:,} of {progress.episodes:,}, {clock(eta(progress, elapsed))} left",
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
    return elapsed / progress.done * (progress.episodes - progress.done) if progress.done else 0.0


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
