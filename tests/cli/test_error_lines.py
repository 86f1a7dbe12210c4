"""Whatever a user or a user's environment gets wrong is answered by one line that says what to change, exit
code 2, and the loss of nothing that was done before."""

from __future__ import annotations

import json
import pickle

import gymnasium
import numpy as np
import pytest

from adamb.budgets import boards
from adamb.budgets.errors import BudgetExceeded, InputError
from adamb.firmware_model.host import StaleCore
from adamb.host_sim import make_agent, make_problem, simulate
from adamb.host_sim.sweep.reader import read_spec
from adamb.host_sim.sweep.run import CellFiles
from adamb.tools.device.extras import DeviceToolMissing
from support.command import adamb, refused
from support.standin_problem import PROBLEM

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
    "rewards[0] = np.inf": "reward = inf: step 1 of episode 30: must be from 0 to 1",
    "rewards[-1] = 1.5": "reward = 1.5: step 1 of episode 30: must be from 0 to 1",
    "rewards[0] = -1e-6": "reward = -1e-06: step 1 of episode 30: must be from 0 to 1",
    "following[0] = np.nan": "state = nan: step 1 of episode 30: must be from 0 to 1",
    "following[0] = 2.0": "state = 2.0: step 1 of episode 30: must be from 0 to 1",
    "rewards = rewards[:1]": "shape = '(1,) and (2, 1)': step 1 of episode 30: must be (2,) and (2, 1)",
}


def task(tmp_path, wrong="rewards[0] = np.nan", name="Task"):
    path = tmp_path / "task.py"
    path.write_text(MISBEHAVING.format(wrong=wrong))
    return f"{path}:{name}"


@pytest.mark.parametrize(
    ("arguments", "explanation"),
    [
        (["run", "oil-lapalce"], "did you mean oil-laplace"),
        (["run", "oil-laplace", "--agent", "adaqll"], "did you mean adaql"),
        (["run", "oil-laplace", "--core", "cc"], "core = 'cc'"),
        (["run", "oil-laplace", "--mode", "papers"], "mode = 'papers': must be one of tracking, paper"),
        (["run", "oil-laplace", "--instance", "papr"], "paper"),
        (["run", "oil-laplace", "--drift", "hlaf"], "half"),
        (["run", "oil-laplace", "--set", "lambda=3"], "lam"),
        (["run", "oil-laplace", "--agent", "adaql", "--agent-set", "gama=2"], "did you mean gamma"),
        (["run", "oil-laplace", "--board", "rp2041"], "rp2040"),
        (["run", "gym:Pendlum-v1"], "Pendulum-v1"),
        (["run", "missing.py:Task"], "there is no such file"),
        (["run", "task.py"], "name the class in it, too: task.py:Class"),
        (["run", "oil-laplace", "--agent", "mine.py"], "name the class in it, too: mine.py:Class"),
        (["run", "dram-1x1", "--trace", "/"], "file = '/': is not a file"),
        (["run", "oil-laplace", "--seedz", "3"], "--seeds"),
        (["rum", "oil-laplace"], "rum"),
        (["sweep", "papr"], "did you mean paper"),
        (["sweep", "equal-byte", "--quick"], "did you mean equal-bytes"),
    ],
)
def test_an_unknown_name_is_answered_by_the_nearest(capsys, arguments, explanation):
    extra = SMALL if arguments[0] == "run" and "--seedz" not in arguments else []
    assert explanation in refused(capsys, *arguments, *extra)


@pytest.mark.parametrize("arguments, line", [
    (["run", PROBLEM, "--episodes", "1e3"], "episodes = '1e3': must be a whole number (see adamb run"),
    (["run", PROBLEM, "--seeds=5..2"], "seeds = '5..2': must be a whole number"),
    (["theory", "--epsilon", "half"], "epsilon = 'half': must be a number"),
])  # fmt: skip
def test_a_word_in_place_of_a_number_is_named_with_its_option(capsys, arguments, line):
    assert line in refused(capsys, *arguments)


def test_a_class_that_is_not_in_the_file_is_answered_by_one_that_is(capsys, tmp_path):
    assert "Task" in refused(capsys, "run", task(tmp_path, name="Tsk"), *SMALL)


@pytest.mark.parametrize(
    ("budget", "explanation"),
    [
        ("0", "budget"),
        ("-4KiB", "size"),
        ("banana", "not a size"),
        ("10B", "bytes required, 10 available; the largest part is"),
        ("1GiB", "a block has at most"),
    ],
)
def test_an_impossible_budget_says_what_would_be_possible(capsys, tmp_path, budget, explanation):
    out = tmp_path / "out"
    assert explanation in refused(capsys, "run", PROBLEM, "--budget", budget, "--out", out, *SMALL)
    assert not out.exists()


@pytest.mark.parametrize("agent", ["adaql", "epsql", "epsmb", "kernel-ucbvi", "cmac"])
def test_a_rival_that_does_not_fit_says_what_it_needs(capsys, agent):
    error = refused(capsys, "run", PROBLEM, "--agent", agent, "--budget", "8B", *SMALL)
    assert "bytes required, 8 available" in error


@pytest.mark.parametrize(
    ("text", "explanation"),
    [
        ("problems = [", "not TOML"),
        ("problems = ['oil-laplace']\nagents = ['adamb'\nseeds = 3", "not TOML"),
        ("problems = 'oil-laplace'\nagents = ['adamb']", "line 1, problems"),
        ("problems = ['oil-laplace']\nagents = ['adamb']\nseeds = 'ten'", "line 3, seeds = 'ten'"),
        ("problems = ['oil-laplace']\nagents = ['adamb']\nbudgets = ['4 XB']", "line 3, budgets[0]"),
        ("problems = ['oil-laplace']\nagents = [{ name = 'adaql', tune = 3 }]", "agents[0].tune = 3"),
        ("problems = ['oil-laplace']\nagents = [{ name = 'adaql', tune = { bonus = 1 } }]", "tune.bonus = 1"),
        ("problems = ['oil-laplace']\nagents = [{ name = 'adaql', tune = 'bonus' }]", "bonus_grid"),
        ("problems = ['oil-laplace']\nagents = ['adamb']\nanalysis = 'papers'", "line 3, analysis"),
        ("problems = ['oil-laplace']\nagents = [{ name = 'adaql', tune = { gama = [1] } }]", "gamma"),
    ],
)
def test_a_malformed_sweep_names_the_line_and_what_was_expected(capsys, tmp_path, text, explanation):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    error = refused(capsys, "sweep", file, "--out", tmp_path / "out")
    assert explanation in error and "wrong.toml" in error
    assert not (tmp_path / "out").exists()


def test_a_sweep_without_a_short_version_says_so(capsys, tmp_path):
    file = tmp_path / "long.toml"
    file.write_text("problems = ['oil-laplace']\nagents = ['random']")
    assert "has no table named quick" in refused(capsys, "sweep", file, "--quick")


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


def test_nonsense_in_one_cell_of_a_sweep_costs_only_that_cell(capsys, tmp_path):
    file = tmp_path / "mixed.toml"
    wrong = task(tmp_path)
    text = f"problems = ['{wrong}', '{PROBLEM}']\nagents = ['random']\nepisodes = 50\nseeds = 2\n"
    file.write_text(text)
    out = tmp_path / "out"
    error = refused(capsys, "sweep", file, "--out", out, "--jobs", 1, "--quiet")
    assert "reward = nan: step 1 of episode 30" in error and "1 finished cells are saved" in error
    spec, store = read_spec(file), CellFiles(out)
    assert [store.get(cell) is not None for cell in spec.cells] == [False, True]


class Liar(gymnasium.Env):
    """Promises rewards of 0 to 1 by its first episodes, then pays 5."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,))
    action_space = gymnasium.spaces.Box(0.0, 1.0, (1,))

    def __init__(self):
        self.episodes = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episodes += 1
        return np.array([0.5], dtype=np.float32), {}

    def step(self, action):
        reward = 5.0 if self.episodes > 25 else float(action[0])
        return np.array([0.5], dtype=np.float32), reward, False, False, {}


def test_a_gymnasium_environment_that_leaves_its_reward_bounds_is_played_on_and_told(capsys, tmp_path):
    if "LiarTest-v0" not in gymnasium.registry:
        gymnasium.register("LiarTest-v0", Liar, max_episode_steps=4)
    out = tmp_path / "out"
    command = ["run", "gym:LiarTest-v0", "--episodes", 40, "--seeds", 2, "--out", out, "--quiet"]
    bounds = ["--set", "reward_low=0", "--set", "reward_high=1"]
    code, printed, error = adamb(capsys, *command, *bounds)
    assert code == 0 and "120 rewards" in error and "--set reward_high=5 takes them all" in error, error
    assert "clipped rewards" in printed and "in its own units" in printed
    kept, details = (json.loads((out / name).read_text()) for name in ("run.json", "details.json"))
    assert kept["episodes"] == 40 and kept["figures"]["clipped_rewards"] == 60
    assert details["problem"]["reward_bounds"] == [0, 1]
    assert details["problem"]["parameters"]["reward_high"] == 1


@pytest.mark.parametrize(
    "error",
    [
        InputError("seeds", 0, "must be at least 1"),
        BudgetExceeded(528, 1, "the header"),
        DeviceToolMissing("node"),
    ],
)
def test_an_error_of_a_worker_process_arrives_as_it_was(error):
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error) and str(arrived) == str(error) and vars(arrived) == vars(error)


def test_a_library_that_a_limit_on_memory_keeps_out_is_one_line(capsys, monkeypatch):
    def unmapped():
        raise ImportError("libscipy_openblas.so: failed to map segment from shared object")

    monkeypatch.setattr(boards, "board_names", unmapped)
    assert "not enough memory" in refused(capsys, "boards")


def test_a_core_built_of_older_files_is_one_line_in_every_command(capsys, monkeypatch):
    def stale():
        raise StaleCore("come from different specifications; make .venv/.installed builds it again")

    monkeypatch.setattr(boards, "board_names", stale)
    assert "make .venv/.installed" in refused(capsys, "boards")


def test_an_import_that_fails_for_another_reason_is_not_called_a_lack_of_memory(capsys, monkeypatch):
    def missing():
        raise ImportError("cannot import name 'x'")

    monkeypatch.setattr(boards, "board_names", missing)
    with pytest.raises(ImportError):
        adamb(capsys, "boards")


@pytest.mark.parametrize("command", ["run", "profile", "speed", "latency"])
def test_an_episode_that_is_too_long_is_refused_with_the_options_that_play_a_part(capsys, command):
    message = refused(capsys, command, "gym:Pendulum-v1")
    assert "horizon = 200: adamb plans at most 31 steps ahead; --horizon 31 " in message
    assert "with --continuing the next episode starts where it ended" in message


@pytest.mark.parametrize("command", ["profile", "speed"])
def test_with_these_options_it_is_measured(capsys, command):
    many = ["--seeds", 1, "--budget", "4KiB"] if command == "profile" else ["--controllers", 1, "--only", "c"]
    part = ["--horizon", 31, "--continuing", "--episodes", 10, *many, "--json", "-"]
    code, out, _ = adamb(capsys, command, "gym:Pendulum-v1", *part)
    assert code == 0 and '"horizon": 31' in out


def test_a_plan_of_an_episode_that_is_too_long_is_refused_with_the_option_that_certifies_a_part(capsys):
    message = refused(capsys, "plan", "gym:Pendulum-v1")
    assert "horizon = 200: adamb plans at most 31 steps ahead; --horizon 31 certifies" in message
    code, out, _ = adamb(capsys, "plan", "gym:Pendulum-v1", "--horizon", 31, "--no-costs", "--json", "-")
    assert code == 0 and '"horizon": 31' in out
