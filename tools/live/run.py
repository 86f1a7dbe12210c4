"""The page of a run in progress: what it has learnt so far, drawn again twice a second."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim.results.run import reward_curve
from adamb.tools.live.server import HTML, JSON, serving

if TYPE_CHECKING:
    from adamb.host_sim.agents import Progress

INTERVAL = 0.25
"""Seconds between two looks at the run; without a browser that asks, none is taken."""
ASKING = 2.0
"""A browser that has asked in the last so many seconds is still there."""
POINTS = 200
LIVE_COUNTERS = ("leaves", "refused_splits", "reclaims", "restarts")


class LiveRun:
    """What the page shows. The run's own thread looks at the agent, as nobody else may while it plays."""

    def __init__(self, title: str) -> None:
        self.began = time.monotonic()
        self.looked = self.asked = -1e9
        self.state: dict[str, Any] = {"title": title, "ended": "", "done": 0}
        self.memory: list[tuple[int, int]] = []
        self.last: Progress | None = None
        self.seen = threading.Event()

    def __call__(self, progress: Progress) -> None:
        """An observer of the run."""
        self.last = progress
        self._note_bytes(progress)
        now = time.monotonic()
        if now - self.looked >= INTERVAL and now - self.asked < ASKING:
            self.look(now)

    def _note_bytes(self, progress: Progress) -> None:
        """At a few hundred points of the run, whether somebody looks or not."""
        if progress.done % max(1, progress.episodes // POINTS) == 0 or not self.memory:
            self.memory = [*self.memory, (progress.done, int(np.max(progress.agent.bytes_used())))]

    def look(self, now: float) -> None:
        self.looked = now
        if self.last is not None:
            self.state = {**self.state, **self._numbers(self.last, now - self.began)}

    def _numbers(self, progress: Progress, elapsed: float) -> dict[str, Any]:
        done, agent = progress.done, progress.agent
        optimal = None if progress.optimal is None else progress.optimal[:, :done]
        used = int(np.max(agent.bytes_used()))
        stats = agent.stats()
        return {
            "done": done,
            "episodes": progress.episodes,
            "seeds": len(progress.returns),
            "elapsed": round(elapsed, 1),
            "left": round(elapsed / done * (progress.episodes - done), 1),
            "cap": agent.budget_bytes,
            "used": used,
            "peak": int(np.max(agent.bytes_peak())),
            "counters": {name: float(np.mean(stats[name])) for name in LIVE_COUNTERS if name in stats},
            "curve": vars(reward_curve(progress.returns[:, :done], optimal)),
            "memory": [*self.memory, (done, used)],
        }

    def content(self) -> bytes:
        """For the server's thread: the last look, and a note that somebody asked."""
        self.asked = time.monotonic()
        ended = bool(self.state["ended"])
        text = json.dumps(self.state, allow_nan=False).encode()
        if ended:
            self.seen.set()
        return text

    def end(self) -> None:
        """The last look; then wait until a browser that is there has it."""
        self.look(time.monotonic())
        whole = self.last is not None and self.last.done == self.last.episodes
        self.state = {**self.state, "ended": "finished" if whole else "stopped", "left": 0.0}
        if time.monotonic() - self.asked < ASKING:
            self.seen.wait(ASKING)


@contextmanager
def live_run(port: int, title: str) -> Iterator[list[LiveRun]]:
    """The observers of a run that a page follows."""
    import_module("scipy.stats")  # intervals need it; in the middle of the run it would stop it for a second
    live = LiveRun(title)
    page = page_html(title)

    def opened() -> bytes:
        live.asked = time.monotonic()  # its first question may come after a short run
        return page

    with serving(port, {"/": (HTML, opened), "/state.json": (JSON, live.content)}) as address:
        print(f"live page: {address} (for browsers on this computer only)", file=sys.stderr, flush=True)
        try:
            yield [live]
        finally:
            live.end()


def page_html(title: str) -> bytes:
    """One file that asks only this server, and only for the state."""
    report, own = resources.files("adamb.tools.report"), resources.files("adamb.tools.live")
    text = own.joinpath("run.html").read_text(encoding="utf-8")
    for name, value in {
        "title": escape(title),
        "style": report.joinpath("style.css").read_text(encoding="utf-8"),
        "script": report.joinpath("charts.js").read_text(encoding="utf-8")
        + own.joinpath("run.js").read_text(encoding="utf-8"),
    }.items():
        text = text.replace(f"<!--{{{name}}}-->", value, 1).replace(f"/*{{{name}}}*/", value, 1)
    return text.encode()
