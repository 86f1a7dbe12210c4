"""A mistake in an environment ends a command with one line; an environment of one's own needs no id."""

import pytest

from adamb.host_sim.experiments.cell import Cell
from support.command import adamb, refused

ENVIRONMENTS = """
import gymnasium
import numpy as np


class Right(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float64)
    action_space = gymnasium.spaces.Box(0, 1, (1,), np.float64)
    answer = np.array([0.5]), 0.5, False, False, {}

    def __init__(self, scale=1):
        self.scale = 1 / scale

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.array([0.5]), {}

    def step(self, action):
        return self.answer


class Divides(Right):
    def step(self, action):
        return 1 / 0


class Fails(Right):
    def reset(self, *, seed=None, options=None):
        raise RuntimeError("no sensor")


class Old(Right):
    answer = np.array([0.5]), 0.5, False, {}

    def reset(self, *, seed=None, options=None):
        return np.array([0.5])


class Short(Right):
    answer = np.array([0.5]), 0.5, False, {}


class Text(Right):
    answer = np.array([0.5]), "much", False, False, {}


class Wide(Right):
    answer = np.array([0.5, 0.6]), 0.5, False, False, {}


class Words(Right):
    answer = "left", 0.5, False, False, {}


class Bare(Right):
    action_space = None
"""
PLAY = ["--set", "horizon=5", "--episodes", 3, "--seeds", 2, "--quiet"]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "own.py").write_text(ENVIRONMENTS)
    return f"gym:{tmp_path / 'own.py'}"


@pytest.mark.parametrize("name, line", [
    ("Divides", "own.py, line 24, step: ZeroDivisionError: division by zero"),
    ("Fails", "own.py, line 29, reset: RuntimeError: no sensor"),
    ("Old", "must return observation, info"),
    ("Short", "must return observation, reward, terminated, truncated, info"),
    ("Text", "reward = 'much': step of"),
    ("Wide", "observation = (2,): must have the shape (1,) of its space"),
    ("Words", "observation = 'left': must be a value of Box"),
    ("Bare", "action_space = None:"),
    ("Nobody", "class = 'Nobody': is not an Env in"),
])  # fmt: skip
def test_a_mistake_in_an_environment_is_one_line_with_its_place(capsys, file, name, line):
    assert line in refused(capsys, "run", f"{file}:{name}", *PLAY)


@pytest.mark.parametrize("name, make, line", [
    ("gym:Pendulum-v1", '{"g": "x"}', "gym:Pendulum-v1, step: TypeError: unsupported operand"),
    ("gym:FrozenLake-v1", '{"map_name": "x"}', "gym:FrozenLake-v1, make: KeyError: 'x'"),
])  # fmt: skip
def test_keyword_arguments_that_an_environment_cannot_take_are_one_line(capsys, name, make, line):
    error = refused(capsys, "run", name, *PLAY, "--set", f"make={make}")
    assert line in error and ".py, line " in error


def test_an_environment_from_a_file_is_played_with_its_keyword_arguments(capsys, file):
    run = ["run", f"{file}:Right", *PLAY, "--set", "reward_low=0", "--set", "reward_high=0.4"]
    code, out, error = adamb(capsys, *run, "--set", 'make={"scale": 2}')
    assert code == 0 and "in its own units" in out, error
    assert "--set reward_high=0.5 takes them all" in error, "what left its bounds is played on and told"
    assert "line 12, __init__: ZeroDivisionError" in refused(capsys, *run, "--set", 'make={"scale": 0}')


@pytest.mark.parametrize("place", ["environment", "wrapper"])
def test_a_sweep_plays_again_after_the_file_of_an_environment_or_a_wrapper_changed(tmp_path, file, place):
    own = f"{file}:Right"
    name, params = (own, ()) if place == "environment" else ("gym:Pendulum-v1", (("wrapper", own[4:]),))
    job = Cell(name, name, params, "random", "random", (), None, None, (0,), 5, 5, "random", "none", False)
    before = job.key()
    assert job.key() == before
    (tmp_path / "own.py").write_text(ENVIRONMENTS + "# another version\n")
    assert job.key() != before
