"""Whatever a user or a user's environment gets wrong is answered by one line that says what to change, exit
code 2, and the loss of nothing that was done before."""

from __future__ import annotations

import json
import pickle
from unittest import mock

import numpy as np
import pytest

from adamb.budgets import boards
from adamb.firmware_model.host import StaleCore
from adamb.firmware_model.host.errors import BudgetExceeded, InputError
from adamb.host_sim import make_agent, make_problem, simulate
from adamb.tools.device.extras import DeviceToolMissing
from support.command import adamb, refused

SMALL = ["--episodes", "10", "--seeds", "2", "--quiet"]

MISBEHAVING = """
import numpy as np
from adamb.host_sim import Problem

class Task(Problem):
    horizon = 3
    wrong_from = 30

    def dynamics(self, h, states, actions, noise):
        rewards = 1 - abs(states[:, 0] - actions[:, 0])
        following = actions.copy()
        if self.episode >= self.wrong_from and h == 1:
            {wrong}
        return rewards, following

class Early(Task):
    wrong_from = 0
"""
WRONGS = {
    "rewards[0] = np.nan": "reward = nan: step 1 of episode 30: must be from 0 to 1",
    "rewards[-1] = 1.5": "reward = 1.5: step 1 of episode 30: must be from 0 to 1",
    "following[0] = np.nan": "state = nan: step 1 of episode 30: must be from 0 to 1",
    "rewards = rewards[:1]": "shape = '(1,) and (2, 1)': step 1 of episode 30: must be (2,) and (2, 1)",
}


def task(tmp_path, wrong="rewards[0] = np.nan", name="Task"):
    path = tmp_path / "task.py"
    path.write_text(MISBEHAVING.format(wrong=wrong))
    return f"{path}:{name}"


@pytest.mark.parametrize(
    ("arguments", "explanation"),
    [
        (["run", "oil-laplace", "--agent", "adaql", "--agent-set", "gama=2"], "did you mean gamma"),
        (["run", "gym:Pendlum-v1"], "Pendulum-v1"),
        (["run", "task.py"], "name the class in it, too: task.py:Class"),
        (["run", "oil-laplace", "--agent", "mine.py"], "name the class in it, too: mine.py:Class"),
        (["run", "dram-1x1", "--set", "trace=/"], "file = '/': is not a file"),
        (["sweep", "papr"], "did you mean paper"),
        (["sweep", "equal-byte", "--quick"], "did you mean equal-bytes"),
    ],
)
def test_an_unknown_name_is_answered_by_the_nearest(capsys, arguments, explanation):
    assert explanation in refused(capsys, *arguments, *(SMALL if arguments[0] == "run" else []))


def test_a_class_that_is_not_in_the_file_is_answered_by_one_that_is(capsys, tmp_path):
    assert "Task" in refused(capsys, "run", task(tmp_path, name="Tsk"), *SMALL)


@pytest.mark.parametrize("wrong", WRONGS)
def test_nonsense_in_the_middle_of_a_run_ends_it_and_keeps_what_was_done(capsys, tmp_path, wrong):
    out = tmp_path / "out"
    command = ["run", task(tmp_path, wrong), "--episodes", 50, "--seeds", 2, "--out", out, "--quiet"]
    code, shown, error = adamb(capsys, *command)
    assert code == 2 and error.count("\n") == 1 and "30 of 3 steps" in shown
    assert WRONGS[wrong] in error and error.endswith("what was done before is saved\n"), error
    kept = json.loads((out / "run.json").read_text())
    assert kept["episodes"] == 30 and np.isfinite(kept["reward_per_episode"]["mean"])
    assert len((out / "curves.csv").read_text().splitlines()) == 1 + 30


def test_nonsense_in_the_first_episode_leaves_nothing_behind(capsys, tmp_path):
    out = tmp_path / "out"
    assert "episode 0" in refused(capsys, "run", task(tmp_path, name="Early"), *SMALL, "--out", out)
    assert not out.exists()


def test_the_error_of_a_simulation_carries_what_was_measured(tmp_path):
    problem = make_problem(task(tmp_path), [1, 2], episodes=50)
    with pytest.raises(Exception, match="episode 30") as caught:
        simulate(problem, make_agent("random", problem))
    assert caught.value.partial.returns.shape == (2, 30)


@pytest.mark.parametrize(
    "error",
    [InputError("seeds", 0, "must be at least 1"), BudgetExceeded(528, 1, "the header"), DeviceToolMissing("node")],
)
def test_an_error_of_a_worker_process_arrives_as_it_was(error):
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error) and str(arrived) == str(error) and vars(arrived) == vars(error)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ImportError("libscipy_openblas.so: failed to map segment from shared object"), "not enough memory"),
        (StaleCore("different specifications; make .venv/.installed builds it again"), "make .venv/.installed"),
        (ImportError("cannot import name 'x'"), None),
    ],
)
def test_what_keeps_a_library_from_loading_is_one_line_unless_it_is_our_error(capsys, monkeypatch, error, line):
    monkeypatch.setattr(boards, "board_names", mock.Mock(side_effect=error))
    if line is None:
        with pytest.raises(ImportError):
            adamb(capsys, "list", "boards")
    else:
        assert line in refused(capsys, "list", "boards")


@pytest.mark.parametrize("command", ["run", "profile", "latency"])
def test_an_episode_that_is_too_long_is_refused_with_the_options_that_play_a_part(capsys, command):
    message = refused(capsys, command, "gym:Pendulum-v1")
    assert "horizon = 200: adamb plans at most 31 steps ahead; --set horizon=31 " in message
    assert "with --set continuing=yes the next episode starts where it ended" in message


def test_a_plan_of_an_episode_that_is_too_long_is_refused_with_the_option_that_certifies_a_part(capsys):
    message = refused(capsys, "plan", "gym:Pendulum-v1")
    assert "horizon = 200: adamb plans at most 31 steps ahead; --horizon 31 certifies" in message
    code, out, _ = adamb(capsys, "plan", "gym:Pendulum-v1", "--horizon", 31, "--no-costs", "--json", "-")
    assert code == 0 and '"horizon": 31' in out
