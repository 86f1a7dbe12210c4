"""Promises every problem keeps: the seed decides everything, one instance alone is one among many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets.errors import InputError
from adamb.host_sim.parameter import Parameter, parse_parameters
from adamb.host_sim.problem import Problem, make_problem, problem_class, problem_names

NAMES = problem_names()
SEEDS = [3, 11, 4, 1000003]
pytestmark = pytest.mark.usefixtures("own_cache")
SOLVED = [name for name in NAMES if problem_class(name)[0].solve is not Problem.solve]
"""Those that promise an exact optimum."""

DRIFTING = [name for name in NAMES if make_problem(name, SEEDS[:1]).drift_width]
KINDS = [(name, "none") for name in NAMES]
KINDS += [(name, drift) for name in DRIFTING for drift in ("half", "walk")]


def play(problem, episodes=3, draw=0):
    """A run with fixed pseudo-random actions; gives every number that came back."""
    seen = []
    for _ in range(episodes):
        seen.append(problem.begin_episode())
        for h in range(problem.horizon):
            streams = [np.random.default_rng([draw, seed, h]) for seed in problem.seeds]
            actions = np.array([rng.uniform(-0.1, 1.1, problem.d_a) for rng in streams])
            rewards, states = problem.step(h, actions)
            seen += [rewards[:, None], states]
    return np.concatenate(seen, axis=1)


@pytest.mark.parametrize(("name", "drift"), KINDS)
def test_one_instance_alone_repeats_itself_among_many_bit_for_bit(name, drift):
    many = play(make_problem(name, SEEDS, episodes=4, drift=drift))
    for i, seed in enumerate(SEEDS):
        alone = play(make_problem(name, [seed], episodes=4, drift=drift))
        assert alone.tobytes() == many[i : i + 1].tobytes(), f"{name} seed {seed}"


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_give_equal_trajectories_and_other_seeds_give_others(name):
    first, again = play(make_problem(name, [7, 7, 8])), play(make_problem(name, [7, 7, 8]))
    assert first.tobytes() == again.tobytes()
    assert (first[0] == first[1]).all()
    assert (first[0] != first[2]).any()


@pytest.mark.parametrize("continuing", [False, True])
@pytest.mark.parametrize("instance", ["random", "paper"])
@pytest.mark.parametrize("name", NAMES)
def test_states_and_rewards_stay_in_the_unit_cube(name, instance, continuing):
    seen = play(make_problem(name, range(10), instance=instance, continuing=continuing), episodes=20)
    assert np.isfinite(seen).all() and seen.min() >= 0 and seen.max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_noise_does_not_depend_on_the_actions(name):
    starts = []
    for draw in (0, 1):
        problem = make_problem(name, SEEDS)
        play(problem, draw=draw)
        starts.append(problem.begin_episode())
    assert (starts[0] == starts[1]).all()


@pytest.mark.parametrize("name", NAMES)
def test_actions_outside_the_cube_are_clipped_and_counted_per_coordinate(name):
    problem, twin = make_problem(name, [1, 2]), make_problem(name, [1, 2])
    problem.begin_episode()
    twin.begin_episode()
    outside = np.full((2, problem.d_a), 0.5)
    outside[1] = -3.0
    got = problem.step(0, outside)
    expected = twin.step(0, np.clip(outside, 0, 1))
    assert problem.clipped.tolist() == [0, problem.d_a] and twin.clipped.tolist() == [0, 0]
    assert all((a == b).all() for a, b in zip(got, expected, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_continuing_carries_the_last_state_into_the_next_episode(name):
    problem = make_problem(name, SEEDS, continuing=True)
    last = problem.begin_episode()
    for _ in range(3):
        for h in range(problem.horizon):
            _, last = problem.step(h, np.full((len(SEEDS), problem.d_a), 0.3))
        assert (problem.begin_episode() == last).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_baseline_plays_a_whole_episode(name):
    problem = make_problem(name, SEEDS)
    for label, policy in problem.baselines().items():
        states = problem.begin_episode()
        for h in range(problem.horizon):
            actions = policy(h, states)
            assert actions.shape == (len(SEEDS), problem.d_a), label
            assert np.isfinite(actions).all() and actions.min() >= 0 and actions.max() <= 1, label
            _, states = problem.step(h, actions)
    assert "random" in problem.baselines()


def test_the_optimum_is_known_where_it_is_said_to_be():
    assert [name for name in NAMES if make_problem(name, [1], horizon=1).optimal() is not None] == SOLVED
    assert len(SOLVED) > 10


@pytest.mark.parametrize("name", SOLVED)
def test_with_one_step_to_go_the_myopic_baseline_is_optimal(name):
    fixed = {"start": "instance"} if "start" in problem_class(name)[0].parameters else {}
    problem = make_problem(name, range(50), horizon=1, params=fixed)
    optimum = problem.optimal()
    earned, due = np.zeros(50), np.zeros(50)
    for _ in range(200):
        states = problem.begin_episode()
        due += optimum.value(0, states)
        earned += problem.step(0, problem.baselines()["myopic"](0, states))[0]
    assert np.mean(earned - due) / 200 == pytest.approx(0, abs=4e-3)


@pytest.mark.parametrize("name", NAMES)
def test_a_description_is_plain_data_and_names_every_seed(name):
    import json

    described = make_problem(name, SEEDS).describe()
    assert json.loads(json.dumps(described)) == described
    assert [row["seed"] for row in described["instances"]] == SEEDS


def test_returned_states_are_the_callers_to_change():
    problem = make_problem("oil-laplace", [1])
    states = problem.begin_episode()
    before = states.copy()
    states[:] = 9.0
    assert (problem.state == before).all()
    _, states = problem.step(0, np.array([[0.25]]))
    states[:] = 9.0
    assert problem.state[0, 0] == 0.25


def test_steps_out_of_order_are_refused():
    problem = make_problem("oil-laplace", [1])
    with pytest.raises(InputError, match="begin_episode comes next"):
        problem.step(0, np.zeros((1, 1)))
    problem.begin_episode()
    with pytest.raises(InputError, match="step 0 comes next"):
        problem.step(1, np.zeros((1, 1)))


def test_an_action_that_is_not_a_number_names_the_step():
    problem = make_problem("oil-laplace", [1])
    problem.begin_episode()
    with pytest.raises(InputError, match="step 0 of episode 0"):
        problem.step(0, np.array([[np.nan]]))


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"name": "oil-laplac"}, "did you mean oil-laplace"),
        ({"params": {"lamb": "3"}}, "did you mean lam"),
        ({"params": {"lam": "three"}}, "lam = 'three': must be a number"),
        ({"params": {"lam": "nan"}}, "lam = 'nan': must be a number from 0 to 1000"),
        ({"params": {"c": "0.1,0.2"}}, "must be 1 or 1 numbers"),
        ({"params": {"start": "1.5"}}, "numbers separated by commas from 0 to 1 or one of random, instance"),
        ({"params": {"survey": "txt"}}, "did you mean text"),
        ({"instance": "papper"}, "did you mean paper"),
        ({"drift": "hlf"}, "did you mean half"),
        ({"episodes": 0}, "episodes = 0"),
        ({"horizon": 0}, "horizon = 0"),
        ({"seeds": []}, "at least one"),
        ({"seeds": [-1]}, "seed = -1"),
    ],
)
def test_bad_input_names_field_value_and_limit(wrong, message):
    arguments = {"name": "oil-laplace", "seeds": [1], **wrong}
    with pytest.raises(InputError, match=message):
        make_problem(arguments.pop("name"), arguments.pop("seeds"), **arguments)


@given(st.floats(0, 1), st.integers(-5, 5), st.booleans())
@settings(deadline=None, print_blob=True)
def test_parameters_read_from_text_equal_typed_ones(number, whole, flag):
    known = {
        "number": Parameter(0.0, "float", "", 0, 1),
        "whole": Parameter(0, "int", "", -5, 5),
        "flag": Parameter(False, "bool", ""),
        "several": Parameter(None, "floats", "", 0, 1),
    }
    typed = {"number": number, "whole": whole, "flag": flag, "several": (number, 0.5)}
    text = {"number": repr(number), "whole": str(whole), "flag": str(flag), "several": f"{number!r},0.5"}
    assert parse_parameters(known, text) == parse_parameters(known, typed) == typed


def test_a_problem_of_ones_own_is_loaded_from_a_file(tmp_path):
    source = tmp_path / "mine.py"
    source.write_text(
        "from adamb.host_sim.problem import Problem\n"
        "class Mine(Problem):\n"
        "    horizon = 3\n"
        "    def dynamics(self, h, states, actions, noise):\n"
        "        return 1.0 - abs(states - actions)[:, 0], actions.copy()\n"
    )
    problem = make_problem(f"{source}:Mine", [1, 2])
    states = problem.begin_episode()
    rewards, _ = problem.step(0, states)
    assert rewards.tolist() == [1.0, 1.0] and problem.optimal() is None
    with pytest.raises(InputError, match="did you mean Mine"):
        make_problem(f"{source}:Mime", [1])
    with pytest.raises(InputError, match="no such file"):
        make_problem(f"{tmp_path}/other.py:Mine", [1])
    source.write_text("import nothing_like_this\n")
    with pytest.raises(InputError, match="does not load: line 1: ModuleNotFoundError"):
        make_problem(f"{source}:Mine", [1])


def test_a_file_with_rewards_outside_the_range_is_refused_naming_step_and_value(tmp_path):
    source = tmp_path / "loud.py"
    source.write_text(
        "import numpy as np\n"
        "from adamb.host_sim.problem import Problem\n"
        "class Loud(Problem):\n"
        "    def dynamics(self, h, states, actions, noise):\n"
        "        return np.where(h == 2, self.loudness, 0.5) * np.ones(self.n), actions.copy()\n"
        "class Nan(Loud):\n"
        "    loudness = float('nan')\n"
        "class Two(Loud):\n"
        "    loudness = 2.0\n"
    )
    for name, shown in (("Nan", "nan"), ("Two", "2.0")):
        problem = make_problem(f"{source}:{name}", [1, 2])
        problem.begin_episode()
        for h in (0, 1):
            problem.step(h, np.zeros((2, 1)))
        with pytest.raises(InputError, match=rf"reward = {shown}.*step 2 of episode 0"):
            problem.step(2, np.zeros((2, 1)))


def test_a_number_in_place_of_seeds_is_told_what_to_write():
    with pytest.raises(InputError, match=r"seeds = 5: must be several numbers, such as range\(5\)"):
        make_problem("oil-laplace", seeds=5)
