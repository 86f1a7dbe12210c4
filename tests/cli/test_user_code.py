"""A mistake in a user's own file is answered by one line with file, line and cause, and exit code 2: code 1
means a violated bound. In a sweep it costs its own cell only."""

from __future__ import annotations

import csv
import json

import pytest

from support.command import adamb, refused
from support.standin_problem import PROBLEM

SMALL = ["--episodes", 10, "--seeds", 2, "--quiet"]
HEAD = "from adamb.host_sim import Agent, Parameter, Problem\n\n\n"
TASK = """class Task(Problem):
    horizon = 3

    def dynamics(self, h, states, actions, noise):
        return 1 - abs(states - actions)[:, 0], actions.copy()
"""
STEP = "        return 1 - abs(states - actions)[:, 0], actions.copy()\n"
PROBLEMS = {
    "missing": (TASK.replace("dynamics", "dynamic"), "line 4, class Task: does not define dynamics"),
    "nothing": (TASK.replace(STEP, "        pass\n"), "must return rewards (2,) and next states (2, 1)"),
    "one": (TASK.replace(STEP, "        return states[:, 0]\n"), "line 7, dynamics"),
    "text": (TASK.replace(STEP, "        return 'ab', states\n"), "could not convert string to float"),
    "division": (TASK.replace(STEP, "        return 1 / 0\n"), "line 8, dynamics: ZeroDivisionError"),
    "name": (TASK.replace("horizon = 3", "horizon = three"), "line 5: NameError: name 'three'"),
    "script": (TASK + "\n\nraise SystemExit(1)\n", "line 11: SystemExit: 1"),
    "exit": (TASK.replace(STEP, "        raise SystemExit(0)\n"), "line 8, dynamics: SystemExit: 0"),
    "syntax": (TASK.replace("horizon = 3", "horizon ="), "SyntaxError: invalid syntax"),
    "parameters": (
        TASK.replace("horizon = 3", "parameters = {'want': .5}"), "parameters['want'] = 0.5: must be a Par"
    ),
    "listed": (TASK.replace("horizon = 3", "parameters = ['want']"), "parameters = ['want']: must be a dict"),
    "noise": (
        TASK + "\n    def draw_noise(self, draws, k):\n        return None\n",
        "draw_noise = (): must return (episodes, H, ...) numbers of one instance, for 1 episode here (1, 3)",
    ),
    "noise's shape": (
        TASK.replace("states - actions", "states - noise")
        + "\n    def draw_noise(self, draws, k):\n        return draws.random((k, self.horizon, 3))[:, :, :, None]\n",
        "instances first: states (2, 1), actions (2, 1), noise (2, 3, 1)",
    ),
    "setup": (TASK + "\n    def setup(self, generators):\n        generators[7]\n", "line 11, setup: Index"),
    "solve": (TASK + "\n    def solve(self):\n        return self.model\n", "line 11, solve: Attribute"),
    "optimum": (TASK + "\n    def solve(self):\n        return 'best'\n", "solve = 'str': must return None"),
    "complex": (TASK.replace(STEP, "        return states[:, 0] * 1j, states\n"), "must be real numbers"),
    "draws": (
        TASK + "\n    def draw_starts(self, generator, episodes):\n        return generator.random(3)\n",
        "draw_starts = (3,): must return (episodes, ...) numbers of one instance, for 1 episode here (1,)",
    ),
    "starts": (
        TASK + "\n    def draw_starts(self, draws, episodes):\n        return draws.random((episodes, 2))\n",
        "start states = (2, 2): must have the shape (2, 1)",
    ),
}  # fmt: skip
MINE = """class Mine(Agent):
    def act(self, h, states):
        return states.copy()
"""
AGENTS = {
    "missing": (MINE.replace("act", "acts"), "line 4, class Mine: does not define act"),
    "list": (MINE.replace("states.copy()", "[0.5]"), "action = 'list': step 0: act must return an array"),
    "shape": (MINE.replace("states.copy()", "states[0]"), "action = (1,): step 0: act must return an array"),
    "key": (MINE.replace("states.copy()", "{}['a']"), "line 6, act: KeyError: 'a'"),
    "init": (MINE + "\n    def __init__(self, shape, **options):\n        pass\n", "must call super()"),
    "option": (MINE + "\n    def __init__(self, shape):\n        super().__init__(shape)\n", "budget_bytes"),
    "stats": (MINE + "\n    def stats(self):\n        return {'a': 1 / 0}\n", "line 9, stats: Zero"),
    "other": (TASK.replace("Task", "Mine"), "is not an Agent in"),
    "observe": (
        MINE + "\n    def observe(self, h, rewards):\n        pass\n",
        "observe = '(self, h, rewards)': must take (self, h, rewards, next_states)",
    ),
    "no bytes": (MINE + "\n    def bytes_used(self):\n        pass\n", "bytes_used = None: must be 2 num"),
    "one size": (MINE + "\n    def bytes_used(self):\n        return 3\n", "bytes_used = 3: must be 2 num"),
    "negative": (MINE + "\n    def bytes_used(self):\n        return [-3, 4]\n", "bytes_used = [-3, 4]:"),
    "nan": (MINE + "\n    def bytes_used(self):\n        return [1, float('nan')]\n", "[1, nan]: must be 2"),
    "peak": (MINE + "\n    def bytes_peak(self):\n        return 'ab'\n", "bytes_peak = 'ab': must be 2"),
    "counter": (MINE + "\n    def stats(self):\n        return 3\n", "stats = 'int': must return numb"),
    "leaves": (MINE + "\n    def stats(self):\n        return {'leaves': 1}\n", "stats['leaves'] = 1: must"),
}


def written(folder, text, name="mine.py"):
    (folder / name).write_text(HEAD + text)
    return folder / name


@pytest.mark.parametrize("kind", PROBLEMS)
def test_a_mistake_in_a_problem_names_file_line_and_cause(capsys, tmp_path, kind):
    text, cause = PROBLEMS[kind]
    file = written(tmp_path, text)
    error = refused(capsys, "run", f"{file}:Task", *SMALL)
    assert str(file) in error and cause in error and "line " in error


@pytest.mark.parametrize("kind", AGENTS)
def test_a_mistake_in_an_agent_names_file_line_and_cause(capsys, tmp_path, kind):
    text, cause = AGENTS[kind]
    file = written(tmp_path, text)
    code, _, error = adamb(capsys, "run", PROBLEM, "--agent", f"{file}:Mine", *SMALL)
    assert code == 2 and error.count("\n") == 1 and str(file) in error and cause in error, error


@pytest.mark.parametrize("command", [("compare", "--episodes", 5), ("compare", "--lookahead")])
def test_the_other_commands_answer_alike(capsys, tmp_path, command):
    file = written(tmp_path, PROBLEMS["division"][0])
    error = refused(capsys, command[0], f"{file}:Task", *command[1:], "--seeds", 2, "--quiet")
    assert f"{file}, line 8, dynamics: ZeroDivisionError: division by zero" in error


def test_an_exception_in_the_middle_of_a_run_keeps_what_was_done(capsys, tmp_path):
    text = TASK.replace(STEP, "        self.episode < 30 or 1 / 0\n" + STEP)
    out = tmp_path / "out"
    command = ["run", f"{written(tmp_path, text)}:Task", "--episodes", 50, "--seeds", 2, "--out", out]
    code, _, error = adamb(capsys, *command, "--quiet")
    assert code == 2 and "line 8, dynamics: ZeroDivisionError" in error
    assert json.loads((out / "run.json").read_text())["episodes"] == 30


def test_an_exception_in_a_sweep_costs_only_its_own_cells(capsys, tmp_path):
    file = written(tmp_path, TASK.replace(STEP, "        self.episode < 30 or 1 / 0\n" + STEP))
    spec, out = tmp_path / "mixed.toml", tmp_path / "out"
    tuned = "{ name = 'adaql', tune = { bonus = [0.1, 0.5] } }"
    shared = "episodes = 40\nseeds = 2\ntune_seeds = 2\n"
    spec.write_text(f"problems = ['{file}:Task', '{PROBLEM}']\nagents = ['random', {tuned}]\n{shared}")
    error = refused(capsys, "sweep", spec, "--out", out, "--jobs", 1, "--quiet")
    assert f"{file}, line 8, dynamics: ZeroDivisionError" in error
    assert f" finished cells are saved in {out}, their means in summary.csv there" in error
    with open(out / "summary.csv", newline="") as table:
        rows = [(row["problem"], row["agent"], row["seeds"]) for row in csv.DictReader(table)]
    assert rows == [(PROBLEM, "random", "2"), (PROBLEM, "adaql", "2")]
    assert json.loads((out / "meta.json").read_text())["finished"] is False


def test_an_error_of_our_own_is_never_blamed_on_a_user(monkeypatch, capsys):
    def broken(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr("adamb.host_sim.problems.problem_class", broken)
    with pytest.raises(ZeroDivisionError):
        adamb(capsys, "run", PROBLEM, *SMALL)
