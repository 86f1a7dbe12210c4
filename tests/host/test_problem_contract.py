"""Promises every problem keeps: the seed decides everything, an instance alone is one among many, an optimum is one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.parameter import Parameter, parse_parameters
from adamb.host_sim.problem import Problem, make_problem, problem_class, problem_names, with_seeds

NAMES = problem_names()
SEEDS = [3, 11, 3, 1000003]
"""Of which one is a copy of another: agents that are compared play copies."""
pytestmark = pytest.mark.usefixtures("own_cache")
SOLVED = [name for name in NAMES if problem_class(name)[0].solve is not Problem.solve]
"""Those that promise an exact optimum."""

DRIFTING = [name for name in NAMES if make_problem(name, SEEDS[:1]).drift_width]
KINDS = [(name, "none") for name in NAMES]
KINDS += [(name, drift) for name in DRIFTING for drift in ("half", "walk")]


def play(problem, rows=None, episodes=3, draw=0):
    """A run with pseudo-random actions, other ones in every row; gives every number that came back."""
    rows, seen = range(problem.n) if rows is None else rows, []
    for _ in range(episodes):
        seen.append(problem.begin_episode())
        for h in range(problem.horizon):
            streams = [np.random.default_rng([draw, row, h]) for row in rows]
            actions = np.array([rng.uniform(-0.1, 1.1, problem.d_a) for rng in streams])
            rewards, states = problem.step(h, actions)
            seen += [rewards[:, None], states]
    return np.concatenate(seen, axis=1)


@pytest.mark.parametrize(("name", "drift"), KINDS)
def test_one_instance_alone_repeats_itself_among_many_bit_for_bit(name, drift):
    many = make_problem(name, SEEDS, episodes=4, drift=drift)
    seen = play(many)
    assert (seen[0] != seen[2]).any(), "copies act differently"
    for i, seed in enumerate(SEEDS):
        alone = play(with_seeds(many, [seed]), rows=[i])
        assert alone.tobytes() == seen[i : i + 1].tobytes(), f"{name} seed {seed}"


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_give_equal_trajectories_and_other_seeds_give_others(name):
    first, again = (play(make_problem(name, [7, 7, 8]), rows=[0, 0, 0]) for _ in range(2))
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
def test_every_rule_plays_a_whole_episode(name):
    problem = make_problem(name, SEEDS)
    for label, policy in problem.rules().items():
        states = problem.begin_episode()
        for h in range(problem.horizon):
            actions = policy(h, states)
            assert actions.shape == (len(SEEDS), problem.d_a), label
            assert np.isfinite(actions).all() and actions.min() >= 0 and actions.max() <= 1, label
            _, states = problem.step(h, actions)
    assert "random" in problem.rules()


# ---- the optimum ---------------------------------------------------------------------------------------


def test_the_optimum_is_known_where_it_is_said_to_be():
    assert [name for name in NAMES if make_problem(name, [1], horizon=1).optimal() is not None] == SOLVED


@pytest.mark.parametrize(
    ("name", "params", "value"),
    [
        ("oil-laplace", {"start": "0.5"}, 4.0),
        ("oil-laplace", {"start": "random"}, 4.1346),
        ("oil-quadratic", {"start": "0.5"}, 4.75),
        ("oil-quadratic", {"start": "random"}, 4.6118),
        ("oil-noisy", {"start": "random"}, 2.7907),
        ("ambulance-1", {}, 4.370),
        ("ambulance-2", {}, 4.6525),
        ("ambulance-3", {}, 4.7503),
        ("allocation-2x1", {}, 4.280),
        ("dram-lite", {}, 3.2567),
        ("dram-drain", {}, 4.593),
        ("dram-refresh", {}, 4.894),
        ("cache-lite", {}, 2.798),
    ],
)
def test_the_optimum_has_the_known_value(name, params, value):
    problem = make_problem(name, range(500 if name == "dram-lite" else 1), instance="paper", params=params)
    assert problem.optimal().mean[0] == pytest.approx(value, abs=1e-3)


VARIANTS = [(name, "none", {}) for name in SOLVED]
VARIANTS += [(name, drift, {}) for name in SOLVED if name in DRIFTING for drift in ("half", "walk")]
VARIANTS.remove(("oil-sparse", "walk", {}))  # no table is made of five drifting deposits
VARIANTS += [("allocation-2x1", "none", {"service": service}) for service in ("erlang", "budget")]
VARIANTS += [("oil-sparse", "none", {"survey": "authors"})]


def earned_above_the_optimum(problem, rule, episodes):
    """Of a rule, or of optimal play if it is None: the mean, and four standard errors and what tables are coarse."""
    policy = problem.rules()[rule] if rule else lambda h, states: problem.optimal().policy(h, states)
    excess = []
    for _ in range(episodes):
        states = problem.begin_episode()
        total = -problem.optimal().value(0, states)
        for h in range(problem.horizon):
            rewards, states = problem.step(h, policy(h, states))
            total += rewards
        excess.append(total)
    return np.mean(excess), 4 * np.std(excess) / np.sqrt(np.size(excess)) + 4e-3


@pytest.mark.parametrize(("name", "drift", "params"), VARIANTS)
def test_optimal_play_earns_the_optimal_value(name, drift, params):
    problem = make_problem(name, range(60), episodes=60, drift=drift, params=params)
    if drift == "walk":
        move = problem.move
        problem.move = lambda steps: move(50 * steps)  # else a stale optimum would not show
    mean, slack = earned_above_the_optimum(problem, None, 60)
    assert abs(mean) < slack, f"{mean:.5f}, slack {slack:.5f}"


@pytest.mark.parametrize("name", [name for name in SOLVED if name in DRIFTING])
def test_after_a_jump_the_optimal_policy_is_another(name):
    problem = make_problem(name, range(50), episodes=2, drift="half")
    states, played = np.random.default_rng(0).random((50, problem.d_s)), []
    for _ in range(2):
        problem.begin_episode()
        played.append(problem.optimal().policy(0, states))
        for h in range(problem.horizon):
            problem.step(h, np.full((50, problem.d_a), 0.5))
    assert np.abs(played[1] - played[0]).max() > 0.01


@pytest.mark.parametrize("name", SOLVED)
def test_no_rule_earns_more_than_the_optimal_value(name):
    for rule in make_problem(name, [0]).rules():
        mean, slack = earned_above_the_optimum(make_problem(name, range(60), episodes=5), rule, 5)
        assert mean < slack, f"{rule}: {mean:.5f}, slack {slack:.5f}"


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
        ({"episodes": 0}, "episodes = 0: must be a whole number from 1 to 10000000"),
        ({"episodes": "x"}, "episodes = 'x': must be"),
        ({"horizon": 2.5}, "horizon = 2.5: must be a whole number from 1 to 1000"),
        ({"seeds": []}, "at least one"),
        ({"seeds": [-1]}, "seed = -1"),
        ({"seeds": 5}, r"seeds = 5: must be several numbers, such as range\(5\)"),
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


class Echo(Problem):
    def dynamics(self, h, states, actions, noise):
        return actions[:, 0], states.copy()


@pytest.mark.parametrize("name, value", [("horizon", "six"), ("horizon", 0), ("d_s", 1.5), ("d_a", None)])
def test_sizes_that_a_class_declares_are_checked_by_name(name, value):
    with pytest.raises(InputError, match=f"{name} = {value!r}: must be a whole number from 1 to"):
        type("Odd", (Echo,), {name: value})([0])


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


def test_noise_has_its_instances_first_like_states():
    """Two numbers for each of three instances had come as (2, 3) beside states of (3, 1)."""
    seen = []

    class Noisy(Problem):
        def draw_noise(self, generator, episodes):
            return generator.random((episodes, self.horizon, 2))

        def dynamics(self, h, states, actions, noise):
            seen.append(noise.copy())
            return noise[:, 0], noise[:, 1:]

    problem = Noisy(seeds=[1, 2, 3], horizon=2)
    problem.begin_episode()
    rewards, states = problem.step(0, np.zeros((3, 1)))
    assert seen[0].shape == (3, 2) and (rewards == seen[0][:, 0]).all() and (states == seen[0][:, 1:]).all()
    alone = Noisy(seeds=[2], horizon=2)
    alone.begin_episode()
    assert (alone.step(0, np.zeros((1, 1)))[0] == rewards[1]).all()
