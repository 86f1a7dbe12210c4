"""Ctrl-C and SIGTERM: every long command shows and saves what it has measured, and says so."""

from __future__ import annotations

import json
import os
import re
import signal

import pytest

from adamb.host_sim.problems.oil import Oil
from adamb.tools import stopping
from adamb.tools.device.latency import meters
from support.command import adamb, finish, start

KEPT = re.compile(r"adamb: stopped after (\d+) of (\d+) (\w+).*; what was (measured is kept|done is saved)\n")


def after(monkeypatch, where, name, calls, sent):
    """The signal comes in the middle of the work: at the call of a method with this number."""
    real, seen = getattr(where, name), []

    def counted(self, *arguments, **options):
        seen.append(name)
        if len(seen) == calls:
            signal.raise_signal(sent)
        return real(self, *arguments, **options)

    monkeypatch.setattr(where, name, counted)


def stopped(capsys, *arguments):
    """How far the command came, of how much."""
    code, out, error = adamb(capsys, *arguments)
    found = KEPT.search(error)
    assert code == 130 and found, (code, error)
    assert out, "what was measured is shown"
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("sent", stopping.SIGNALS, ids=lambda sent: sent.name)
def test_run_keeps_the_episodes_that_were_played(sent, capsys, tmp_path, monkeypatch):
    after(monkeypatch, Oil, "begin_episode", 30, sent)
    command = ["run", "oil-laplace", "--episodes", 200, "--quiet", "--seeds", 1, "--out", tmp_path]
    done, of = stopped(capsys, *command)
    assert 30 <= done <= 60 and of == 200, "the next time that somebody looks"
    assert json.loads((tmp_path / "run.json").read_text())["episodes"] == done


def test_a_signal_while_the_references_play_leaves_them_out_and_keeps_the_run(capsys, tmp_path, monkeypatch):
    after(monkeypatch, Oil, "begin_episode", 50, signal.SIGTERM)
    command = ["run", "oil-laplace", "--episodes", 40, "--quiet", "--seeds", 1, "--out", tmp_path]
    assert adamb(capsys, *command)[0] == 0
    assert json.loads((tmp_path / "run.json").read_text())["episodes"] == 40
    assert json.loads((tmp_path / "lines.json").read_text())["references"] == {}


def test_profile_keeps_the_points_that_were_measured(capsys, tmp_path, monkeypatch):
    after(monkeypatch, Oil, "begin_episode", 30, signal.SIGTERM)
    command = ["profile", "oil-laplace", "--agent-set", "mode=paper", "--episodes", 200, "--quiet", "--seeds", 2]
    assert stopped(capsys, *command, "--out", tmp_path) == (30, 200)
    content = json.loads((tmp_path / "profile.json").read_text())
    assert content["interrupted"] and content["episodes"] == 30
    reached = [point["episode"] for point in content["points"] if point["run"] == "capped"]
    assert reached[-2:] == [21, 30], "the last points of the scale and where it stopped"
    assert (tmp_path / "profile.png").exists()


def test_compare_keeps_the_agents_that_have_played(capsys, tmp_path, monkeypatch):
    after(monkeypatch, Oil, "begin_episode", 45, signal.SIGTERM)
    command = ["compare", "oil-laplace", "--episodes", 20, "--seeds", 2, "--budgets", "1KiB,2KiB", "--quiet"]
    done, of = stopped(capsys, *command, "--json", tmp_path / "compare.json")
    rows = json.loads((tmp_path / "compare.json").read_text())["rows"]
    assert done == len(rows) == 2 < of
    assert [row["budget_bytes"] for row in rows] == [1024, 2048]


def test_lookahead_keeps_the_problems_that_were_played(capsys, tmp_path, monkeypatch):
    after(monkeypatch, Oil, "begin_episode", 2, signal.SIGTERM)
    command = ["compare", "--lookahead", "ambulance-1", "oil-laplace", "--episodes", 2, "--seeds", 2, "--quiet"]
    assert stopped(capsys, *command, "--json", tmp_path / "rows.json") == (1, 2)
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [row["problem"] for row in rows] == ["ambulance-1"]


def test_latency_keeps_the_episodes_that_were_replayed(capsys, tmp_path, monkeypatch):
    after(monkeypatch, meters._Metered, "end_episode", 9, signal.SIGTERM)
    command = ["latency", "oil-laplace", "--target", "cortex-m0", "--out", tmp_path]
    assert stopped(capsys, *command) == (9, 2000)
    assert json.loads((tmp_path / "latency.json").read_text())["episodes"] == 9
    assert len((tmp_path / "latency.csv").read_text().splitlines()) == 10


def test_a_sweep_says_what_is_saved(capsys, tmp_path, monkeypatch):
    after(monkeypatch, Oil, "begin_episode", 15, signal.SIGTERM)
    file = tmp_path / "two.toml"
    file.write_text('problems = ["oil-laplace"]\nagents = ["random", "centre"]\nepisodes = 10\nseeds = 1\n')
    command = ["sweep", file, "--out", tmp_path / "out", "--jobs", 1, "--quiet"]
    code, _, error = adamb(capsys, *command)
    assert code == 130 and "stopped; 1 of 2 cells are saved" in error
    assert adamb(capsys, *command)[0] == 0, "the same command resumes"


def test_before_anything_is_measured_there_is_nothing_to_keep(capsys, monkeypatch):
    after(monkeypatch, Oil, "begin_episode", 1, signal.SIGTERM)
    code, out, error = adamb(capsys, "compare", "oil-laplace", "--episodes", 20, "--quiet")
    assert (code, out, error) == (130, "", "adamb: stopped\n")


def test_the_handlers_of_before_are_back():
    before = [signal.getsignal(each) for each in stopping.SIGNALS]
    with stopping.sigterm_as_interrupt(), stopping.stop_on_interrupt():
        assert [signal.getsignal(each) for each in stopping.SIGNALS] != before
    assert [signal.getsignal(each) for each in stopping.SIGNALS] == before


def test_ctrl_c_on_a_terminal_reaches_all_processes_of_a_profile_and_loses_nothing(tmp_path):
    """A terminal sends it to the whole group, and each mode has a process of its own."""
    process = start(
        "profile", "oil-laplace", "--episodes", 400_000, "--seeds", 1, "--out", tmp_path,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background jobs start deaf
    )  # fmt: skip
    assert "episode" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    code, _, error = finish(process)
    assert code == 130 and KEPT.search(error), error
    content = json.loads((tmp_path / "profile.json").read_text())
    assert {point["mode"] for point in content["points"]} == {"tracking", "paper"}


def test_latency_keeps_whole_replays(capsys, tmp_path, monkeypatch):
    real, seen = meters._host_replay, []

    def second_is_stopped(*arguments):
        seen.append(1)
        if len(seen) == 2:
            signal.raise_signal(signal.SIGTERM)
        return real(*arguments)

    monkeypatch.setattr(meters, "_host_replay", second_is_stopped)
    assert stopped(capsys, "latency", "oil-laplace", "--target", "host", "--out", tmp_path) == (1, 3)
    assert "least of 1 replays" in json.loads((tmp_path / "latency.json").read_text())["note"]
