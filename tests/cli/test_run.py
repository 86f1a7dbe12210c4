"""`adamb run` prints what it measured, keeps what it wrote, and answers every mistake with one line."""

from __future__ import annotations

import csv
import io
import json
import re
import signal

import numpy as np
import pytest

from adamb.host_sim import agents
from adamb.host_sim.agents import Progress, Shape
from adamb.host_sim.agents.fixed import RandomAgent
from adamb.tools import stopping
from adamb.tools.terminal import run_view
from support.command import adamb, finish, one_line, refused, start
from support.standin_problem import PROBLEM

QUICK = ["--agent", "random", "--episodes", "20", "--seeds", "3"]


# ---- the table and the files ---------------------------------------------------------------------------


def test_a_run_prints_reward_share_regret_memory_time_and_seeds(capsys):
    code, out, error = adamb(capsys, "run", PROBLEM, *QUICK[:4], "--seeds", "7..9", "--budget", "4KiB")
    assert code == 0 and error == ""
    for promised in (
        r"reward per episode .*\d\.\d+ ± \d",
        r"last 20 episodes .*±",
        r"share of the optimum .*±.* %",
        r"regret .*± .* over 20 episodes",
        r"memory, worst seed .*0 B of 4 KiB \(0 %\)",
        r"time per step .*µs \(environment: .*µs, not included\)",
        r"seeds .*7\.\.9",
    ):
        assert re.search(promised, out), promised


def test_json_on_stdout_is_nothing_but_json_and_repeats(capsys):
    command = ["run", PROBLEM, *QUICK, "--json", "-", "--set", "c=0.25"]
    first, second = (json.loads(adamb(capsys, *command)[1]) for _ in range(2))
    for run in (first, second):
        run.pop("seconds")
    assert first == second
    assert first["seeds"] == 3 and first["episodes"] == 20 and first["agent"] == "random"
    other = json.loads(adamb(capsys, *command, "--seeds", "3..5")[1])
    assert other["reward_per_episode"] != first["reward_per_episode"]


def test_the_folder_holds_result_curves_and_pictures(capsys, tmp_path):
    folder = tmp_path / "deep" / "run"
    code, _, error = adamb(capsys, "run", PROBLEM, *QUICK, "--out", folder, "--plot")
    assert code == 0, error
    names = {"bytes.png", "bytes.svg", "curves.csv", "details.json", "lines.json", "reward.png", "reward.svg"}
    assert {path.name for path in folder.iterdir()} == {*names, "run.json"}
    assert (folder / "reward.png").read_bytes().startswith(b"\x89PNG")
    assert b"reward per episode" in (folder / "reward.svg").read_bytes()
    rows = list(csv.DictReader(io.StringIO((folder / "curves.csv").read_text())))
    assert [int(row["episode"]) for row in rows] == list(range(1, 21))
    mean = np.mean([float(row["reward_mean"]) for row in rows])
    result = json.loads((folder / "run.json").read_text())
    assert result["reward_per_episode"]["mean"] == pytest.approx(mean)
    assert float(rows[-1]["regret_mean"]) == pytest.approx(result["regret"]["mean"])
    assert rows[-1]["bytes_max"] == "0"


def test_the_folder_holds_the_curve_of_every_seed_and_what_agents_earn_that_do_not_learn(capsys, tmp_path):
    code, _, error = adamb(capsys, "run", "oil-laplace", *QUICK, "--out", tmp_path / "a")
    assert code == 0, error
    lines = json.loads((tmp_path / "a" / "lines.json").read_text())
    assert lines["seeds"] == [0, 1, 2] and [len(row) for row in lines["reward"]] == [20] * 3
    found = json.loads((tmp_path / "a" / "run.json").read_text())
    assert lines["references"]["random"] == found["reward_per_episode"] and lines["reference_episodes"] == 20
    assert lines["references"]["static"]["mean"] > lines["references"]["random"]["mean"]


def test_what_a_run_has_written_is_not_replaced_by_a_second_one(capsys, tmp_path):
    command = ["run", PROBLEM, *QUICK, "--out", tmp_path / "run", "--json", tmp_path / "result.json"]
    assert adamb(capsys, *command)[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    error = refused(capsys, *command, "--episodes", 5)
    assert "choose another place or remove it" in error or "exists already" in error
    assert "exists already" in refused(capsys, "run", PROBLEM, *QUICK, "--json", tmp_path / "result.json")
    assert {path: path.read_bytes() for path in before} == before


# ---- mistakes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "explanation"),
    [
        (["--episodes", "0"], "episodes = 0: must be from 1"),
        (["--episodes", "many"], "episodes = 'many': must be a whole number"),
        (["--episodes", "10000000", "--seeds", "10000"], "at most 10000 fit"),
        (["--seeds", "-1"], "seeds = -1: must be from 1"),
        (["--seeds", "5..2"], "seeds = '5..2'"),
        (["--seeds", "two"], "write how many"),
        (["--budget", "banana"], "not a size"),
        (["--budget", "-4KiB"], "negative"),
        (["--budget", "10B"], "bytes required, 10 available; the largest part is"),
        (["--budget", "1GiB"], "a block has at most"),
        (["--budget", "4KiB", "--board", "microbit"], "--budget"),
        (["--board", "microbitt"], "did you mean microbit"),
        (["--set", "horizon=0"], "horizon = 0"),
        (["--set", "horizon=99"], "at most 31"),
        (["--set", "c"], "name=value"),
        (["--set", "c=0.1", "--set", "c=0.2"], "set twice"),
        (["--set", "c=7"], "c = '7'"),
        (["--set", "cc=0.5"], "did you mean c"),
        (["--agent", "randm"], "did you mean random"),
        (["--core", "referense"], "did you mean reference"),
        (["--set", "drift=hlaf"], "did you mean half"),
        (["--bugdet", "4KiB"], "--budget"),
        (["--agent-set", "gamma=x"], "gamma = 'x': must be a number above 0 and at most 16"),
        (["extra"], "extra"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, arguments, explanation):
    code, out, error = adamb(capsys, "run", PROBLEM, *arguments)
    assert code == 2 and out == ""
    lines = [line for line in error.splitlines(keepends=True) if not line.startswith("adamb: note: ")]
    assert explanation in one_line("".join(lines))


@pytest.mark.parametrize(
    ("arguments", "explanation"),
    [
        (["run"], "problem"),
        (["run", "oil-lapace"], "did you mean oil-laplace"),
        (["run", "no/such/file.py:Class"], "no such file"),
        (["rnu"], "run"),
        (["--colour"], "--colour"),
    ],
)
def test_a_wrong_name_suggests_the_nearest(capsys, arguments, explanation):
    assert explanation in refused(capsys, *arguments).replace("PROBLEM", "problem")


def test_the_version_is_printed(capsys):
    assert re.fullmatch(r"adamb \d+\.\d+\.\d+\n", adamb(capsys, "--version")[1])


def test_a_budget_that_was_passed_is_exit_code_1(capsys, monkeypatch):
    class Glutton(RandomAgent):
        def bytes_used(self):
            return np.full(self.n, 5000)

    monkeypatch.setitem(agents._factories, "glutton", Glutton)
    quick = ["--agent", "glutton", *QUICK[2:], "--budget", "4KiB"]
    code, out, error = adamb(capsys, "run", PROBLEM, *quick)
    assert code == 1 and "reward per episode" in out
    assert "budget violated" in error and "5000 bytes" in error and error.count("\n") == 1


def test_options_reach_the_agent_with_their_type(capsys, monkeypatch):
    seen = {}

    def spy(problem, *, budget_bytes, **options):
        seen.update(options, budget_bytes=budget_bytes)
        return agents.make_agent("random", problem)

    monkeypatch.setitem(agents._factories, "spy", spy)
    given = "--agent spy --budget 2k --agent-set mode=paper,share=on,when-full=freeze,bonus=0.25,gamma=2.5,phi=1"
    more = "--agent-set split=own,planning=full --agent-set action=random,cells=6,a-word=b"
    assert adamb(capsys, "run", PROBLEM, *QUICK[2:], *given.split(), *more.split())[0] == 0
    assert seen == {
        "mode": "paper", "share": "on", "when_full": "freeze", "bonus": 0.25, "gamma": 2.5, "phi": 1,
        "split": "own", "planning": "full", "action": "random", "budget_bytes": 2048, "cells": 6,
        "a_word": "b",
    }  # fmt: skip


def test_a_missing_core_is_an_error_and_nothing_runs_in_its_place(capsys, monkeypatch):
    monkeypatch.setitem(agents.CORES, "c", agents.CoreLocation("adamb.host_sim.no_such_module", "CoreAgent"))
    assert "not available here" in refused(capsys, "run", PROBLEM, "--episodes", 20, "--seeds", 2)


# ---- while it runs -------------------------------------------------------------------------------------


def _progress(budget_bytes=4096):
    task = agents.Agent.__new__(RandomAgent)
    RandomAgent.__init__(task, Shape(1, 1, 4, [0, 1], 100), budget_bytes=budget_bytes)
    task.bytes_used = lambda: np.array([1024, 2048])
    task.stats = lambda: {"leaves": np.array([10, 20]), "reclaims": np.array([3, 5])}
    returns = np.full((2, 100), 2.0)
    return Progress(task, 100, returns, returns * 1.25, done=40)


def test_progress_tells_episodes_reward_memory_and_reclaims():
    text = run_view.so_far(_progress(), "standin", stopping=True)
    for shown in ("standin: episode 40 of 100", "2.000 (80.0 % of the optimum)", "2 KiB of 4 KiB",
                  "leaves 15", "reclaims 4", "ending after this episode"):  # fmt: skip
        assert shown in text, shown
    assert "2 KiB, no cap" in run_view.so_far(_progress(budget_bytes=None), "standin")


def test_ctrl_c_ends_cleanly_and_saves_what_was_done(tmp_path):
    task = ["--agent", "random", "--episodes", 2_000_000, "--seeds", 1]
    process = start("run", PROBLEM, *task, "--out", tmp_path)
    first = process.stderr.readline()
    assert re.match(r".*Standin · random · no cap: episode \d+ of 2000000, reward .*, \d+:\d\d left", first)
    process.send_signal(signal.SIGINT)
    code, out, error = finish(process)
    assert code == 130 and "Traceback" not in error, error
    assert re.search(r"adamb: stopped after \d+ of 2000000 episodes; what was done is saved", error)
    saved = json.loads((tmp_path / "run.json").read_text())
    assert 0 < saved["episodes"] < 2_000_000 and "reward per episode" in out


def test_a_second_ctrl_c_does_not_wait_for_the_episode():
    with stopping.stop_on_interrupt() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_pictures_have_a_place_when_none_is_given(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert adamb(capsys, "run", PROBLEM, *QUICK, "--plot")[0] == 0
    assert (tmp_path / "runs" / "standin_problem.py-Standin-random" / "reward.png").is_file()


def test_a_board_gives_the_cap(capsys):
    from adamb.budgets.boards import load_board

    _, out, _ = adamb(capsys, "run", PROBLEM, *QUICK, "--board", "nrf51", "--json", "-")
    assert json.loads(out)["budget_bytes"] == load_board("nrf51").available_bytes()
