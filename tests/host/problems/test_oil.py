"""The oil problems follow the paper's formulas, as corrected, and the literal text where asked."""

import math

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.problem import make_problem


def one_step(name, x, a, h=0, **params):
    """Reward and next state of one step h from state x."""
    problem = make_problem(name, [0], instance="paper", params={"start": x, **params})
    problem.begin_episode()
    for earlier in range(h):
        problem.step(earlier, np.atleast_2d(x))
    rewards, states = problem.step(h, np.atleast_2d(a))
    return rewards[0], states[0]


def test_quadratic_survey_pays_less_the_farther_and_charges_travel():
    reward, following = one_step("oil-quadratic", 0.5, 0.6)
    assert reward == pytest.approx(1 - 0.25**2 - 0.1) and following[0] == 0.6


@pytest.mark.parametrize("lam", [1, 10, 50])
def test_laplace_survey_is_best_at_the_deposit(lam):
    assert one_step("oil-laplace", 0.75, 0.75, lam=lam)[0] == 1.0
    assert one_step("oil-laplace", 0.7, 0.7, lam=lam)[0] == pytest.approx(math.exp(-lam * 0.05))


def test_the_literal_text_makes_the_deposit_the_worst_spot():
    assert one_step("oil-laplace", 0.75, 0.75, survey="text")[0] == 0.0
    assert one_step("oil-laplace", 0.25, 0.25, survey="text")[0] == pytest.approx(1 - math.exp(-5))


@pytest.mark.parametrize("h, c", list(enumerate([0.5, 0.25, 0.5, 0.75, 1.0])))
def test_sparse_survey_moves_with_the_step(h, c):
    x = 0.4
    quiet = {"sigma": 0}
    near = math.exp(-10 * abs(x - c))
    assert one_step("oil-sparse", x, x, h, **quiet)[0] == pytest.approx(near / (h + 1))
    assert one_step("oil-sparse", x, x, h, survey="text", **quiet)[0] == pytest.approx((1 - near) / (h + 1))


AUTHORS_STEPS = [(0, 0.0, 1.0), (1, 0.2, 0.5), (2, 0.4, 0.25), (3, 0.6, 0.5), (4, 0.8, 0.75)]
"""Their step, counted from 0, with its weight and its deposit; the weight 0 makes the first deposit idle."""


@pytest.mark.parametrize("h, weight, c", AUTHORS_STEPS)
def test_sparse_survey_of_the_authors_pays_a_step_late_and_never_for_the_last_deposit(h, weight, c):
    problem = make_problem("oil-sparse", [0], instance="paper", params={"survey": "authors"})
    for x in (0.4, c):
        place = np.array([[x]])
        reward, _ = problem.dynamics(h, place, place, np.zeros((2, 1)))
        assert reward[0] == pytest.approx(weight * math.exp(-10 * abs(x - c)))
    if h:
        assert problem.rules()["go"](h - 1, place).tolist() == [[c]]


@pytest.mark.parametrize("survey, c", [("meant", 0.75), ("authors", 0.75), ("text", 0.7)])
def test_the_deposit_of_the_quadratic_is_that_of_the_program_or_of_the_caption(survey, c):
    fixed = make_problem("oil-quadratic", [0], instance="paper", params={"survey": survey})
    assert fixed.c.tolist() == [[c]]
    drawn = make_problem("oil-quadratic", range(5), params={"survey": survey})
    assert (drawn.c == make_problem("oil-quadratic", range(5)).c).all(), "only the fixed instance differs"


def test_authors_noise_surveys_the_product_of_state_and_action():
    reward, _ = one_step("oil-authors-noise", 0.9, 0.8)
    assert reward == pytest.approx(math.exp(-10 * abs(0.72 - 0.7)) - 0.1)


def test_two_dimensions_use_the_largest_distance_and_half_the_travel():
    reward, following = one_step("oil-2d", (0.7, 0.35), (0.6, 0.3))
    assert reward == pytest.approx(math.exp(-5 * 0.1) - 0.5 * 0.15)
    assert following.tolist() == [0.6, 0.3]


def test_landing_scatter_and_reward_noise_have_the_stated_deviations():
    """Seeds 0..19999; four standard errors of a deviation are 4 / sqrt(2 * 20000) = 2 %."""
    n = 20000
    problem = make_problem("oil-noisy", range(n), params={"start": 0.5, "c": 0.55})
    problem.begin_episode()
    rewards, states = problem.step(0, np.full((n, 1), 0.6))
    assert states.std() == pytest.approx(0.025 * 1.1**2, rel=0.02)
    assert states.mean() == pytest.approx(0.6, abs=4 * 0.03 / math.sqrt(n))
    assert rewards.std() == pytest.approx(0.1, rel=0.02)
    assert rewards.mean() == pytest.approx(math.exp(-0.5) - 0.1, abs=4 * 0.1 / math.sqrt(n))


def test_random_instances_draw_deposits_from_the_stated_ranges():
    c = make_problem("oil-2d", range(500)).c
    assert 0.55 <= c[:, 0].min() < 0.57 and 0.93 < c[:, 0].max() <= 0.95
    assert 0.05 <= c[:, 1].min() < 0.07 and 0.43 < c[:, 1].max() <= 0.45


def test_starts_are_random_per_episode_per_instance_or_fixed():
    def starts(start):
        problem = make_problem("oil-laplace", range(100), params={"start": start})
        return np.hstack([problem.begin_episode() for _ in range(3)])

    random, instance, fixed = starts("random"), starts("instance"), starts("0.25")
    assert (random[:, 0] != random[:, 1]).all() and abs(random.mean() - 0.5) < 0.1
    assert (instance[:, 0] == instance[:, 1]).all() and len(set(instance[:, 0])) == 100
    assert (fixed == 0.25).all()


def test_a_fixed_start_leaves_the_noise_as_it_was():
    landings = []
    for start in ("random", 0.5):
        problem = make_problem("oil-noisy", range(5), params={"start": start})
        problem.begin_episode()
        landings.append(problem._episode_noise.copy())
    assert (landings[0] == landings[1]).all()


def test_drift_half_mirrors_the_deposit_once_in_the_middle():
    problem = make_problem("oil-laplace", range(3), episodes=10, drift="half")
    before, seen = problem.c.copy(), []
    for _ in range(10):
        problem.begin_episode()
        seen.append(problem.c.copy())
    assert all((c == before).all() for c in seen[:5]) and all((c == 1 - before).all() for c in seen[5:])


def test_drift_walk_moves_the_deposit_a_little_every_episode():
    problem = make_problem("oil-laplace", range(200), drift="walk")
    places = []
    for _ in range(101):
        problem.begin_episode()
        places.append(problem.c[:, 0].copy())
    steps = np.diff(places, axis=0)
    assert steps.std() == pytest.approx(0.002, rel=0.03) and np.min(places) >= 0 and np.max(places) <= 1


def test_sparse_survey_has_no_second_dimension():
    with pytest.raises(InputError, match="dims = 2"):
        make_problem("oil-sparse", [0], params={"dims": 2})
