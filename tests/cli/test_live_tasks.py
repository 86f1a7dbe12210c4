"""Tasks in other processes are followed while they run, and cost nothing when nobody looks."""

from __future__ import annotations

import io
import pickle
import signal

from joblib import Parallel, delayed
from rich.console import Console

from adamb.tools.terminal import live_tasks
from support.command import wait_until


def count_up(meter, episodes):
    for done in range(1, episodes + 1):
        meter(done)
    return episodes


def test_meters_of_other_processes_are_read(monkeypatch):
    monkeypatch.setattr(live_tasks, "LINE_SECONDS", 0.05)
    text = io.StringIO()
    with live_tasks.watch(Console(file=text, width=200), ["one", "two"], 50) as meters:
        assert Parallel(n_jobs=2)(delayed(count_up)(meter, 50) for meter in meters) == [50, 50]
        seen = [int(meter._shared[0]) if meter._shared is not None else None for meter in meters]
        shared = live_tasks.np.memmap(meters[0].path, dtype=live_tasks.np.int64, mode="r")
        assert shared.tolist() == [50, 50, 0] and seen == [None, None]
        wait_until(lambda: "one: episode 50 of 50; two: episode 50 of 50" in text.getvalue())


def test_ctrl_c_asks_every_task_to_stop():
    with live_tasks.watch(Console(), ["one", "two"], 50, quiet=True) as meters:
        assert [meter(1) for meter in meters] == [False, False]
        signal.raise_signal(signal.SIGINT)
        assert [meter(2) for meter in pickle.loads(pickle.dumps(meters))] == [True, True]


def test_a_terminal_gets_bars(monkeypatch):
    monkeypatch.setattr(live_tasks, "FRAME_SECONDS", 0.01)
    text = io.StringIO()
    with live_tasks.watch(Console(file=text, force_terminal=True, width=100), ["tracking"], 20) as (meter,):
        count_up(meter, 20)
        wait_until(lambda: "tracking" in text.getvalue() and "20/20" in text.getvalue())


def test_quiet_draws_nothing_and_still_measures():
    text = io.StringIO()
    with live_tasks.watch(Console(file=text), ["a"], 5, quiet=True) as (meter,):
        assert count_up(meter, 5) == 5
        assert pickle.loads(pickle.dumps(meter)).index == 0
    assert text.getvalue() == ""


def test_a_line_tells_the_time_left():
    text = live_tasks.line(["a", "b"], 200, [50, 0], 10.0)
    assert text == "a: episode 50 of 200, 0:30 left; b: episode 0 of 200"
