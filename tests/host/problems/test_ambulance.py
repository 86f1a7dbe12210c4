"""The ambulance problems follow the paper, and their optimum is what closed forms and plain programs say."""

import numpy as np
import pytest
from scipy.stats import beta

from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.ambulance.optimum import AmbulanceOptimum

pytestmark = pytest.mark.usefixtures("empty_cache")


def one_step(k, start, action, **params):
    given = {"start": ",".join(map(str, start)), **params}
    problem = make_problem(f"ambulance-{k}", [5], params=given)
    problem.begin_episode()
    rewards, states = problem.step(0, np.array([action]))
    return rewards[0], states[0], problem.info()["request"][0]


@pytest.mark.parametrize("alpha", [0, 0.25, 1])
def test_one_ambulance_pays_for_the_move_and_for_the_request(alpha):
    reward, following, p = one_step(1, [0.5], [0.8], alpha=alpha)
    assert reward == pytest.approx(1 - (alpha * 0.3 + (1 - alpha) * abs(0.8 - p))) and following[0] == p


def test_the_nearest_of_three_ambulances_serves_and_stays_there():
    for fleet in ([0.2, 0.5, 0.9], [0.9, 0.1, 0.6]):
        reward, following, p = one_step(3, [0.5, 0.5, 0.5], fleet, alpha=0.25)
        gaps = np.abs(np.array(fleet) - p)
        expected = np.array(fleet)
        expected[gaps.argmin()] = p
        assert following.tolist() == expected.tolist()
        travel = np.abs(np.array(fleet) - 0.5).sum()
        assert reward == pytest.approx(1 - (0.25 / 3 * travel + 0.75 * gaps.min()))


def requests(arrivals, h, seeds=2000, **options):
    problem = make_problem("ambulance-1", range(seeds), params={"arrivals": arrivals}, **options)
    states = problem.begin_episode()
    for step in range(h + 1):
        _, states = problem.step(step, states)
    return problem.info()["request"]


def test_requests_follow_the_stated_distributions():
    """2000 seeds; two standard errors of the widest mean are .013."""
    seen = requests("beta", 0)
    assert seen.mean() == pytest.approx(5 / 7, abs=0.02)
    assert seen.std() == pytest.approx(beta(5, 2).std(), abs=0.01)
    assert requests("uniform", 2).mean() == pytest.approx(0.5, abs=0.02)
    for h, (low, high) in enumerate([(0, 0.25), (0.25, 0.3), (0.3, 0.5), (0.5, 0.6), (0.6, 0.65)]):
        seen = requests("shifting", h, seeds=500)
        assert low <= seen.min() < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < seen.max() <= high


@pytest.mark.parametrize("shift", [0.0, 0.13, -0.4])
@pytest.mark.parametrize("arrivals", ["beta", "uniform", "shifting"])
def test_the_distribution_function_is_that_of_the_requests(arrivals, shift):
    problem = make_problem("ambulance-1", range(4000), drift="walk", params={"arrivals": arrivals})
    problem.shift[:] = shift
    problem.begin_episode()
    problem.step(0, np.full((4000, 1), 0.5))
    seen = problem.info()["request"]
    for at in (0.1, 0.3, 0.5, 0.9):
        assert problem.arrival_cdf(0, np.array(at), shift) == pytest.approx((seen <= at).mean(), abs=0.03)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_free_moves_under_uniform_requests_cost_a_quarter_of_a_share(k):
    problem = make_problem(f"ambulance-{k}", [0], params={"alpha": 0, "arrivals": "uniform"})
    assert problem.optimal().mean[0] == pytest.approx(5 * (1 - 1 / (4 * k)), abs=1e-3)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.4])
def test_one_ambulance_moves_only_to_the_nearer_quantile(alpha):
    """With slope alpha of travel against (1-alpha)(2F-1) of reach, the best station is x clamped."""
    problem = make_problem("ambulance-1", range(101), params={"alpha": alpha})
    states = np.linspace(0, 1, 101)[:, None]
    edge = alpha / (2 * (1 - alpha))
    low, high = beta(5, 2).ppf([0.5 - edge, 0.5 + edge])
    played = problem.optimal().policy(0, states)
    assert np.abs(played - np.clip(states, low, high)).max() < 2.5e-3


def plain_program(points, alpha, horizon):
    """Two ambulances, uniform requests on grid points, every pair of fleets compared."""
    grid = np.linspace(0, 1, points)
    fleets = np.array([(a, b) for a in range(points) for b in range(points)])
    values = np.zeros((points, points))
    chance = np.full(points, 1.0 / (points - 1))
    chance[[0, -1]] /= 2
    for _ in range(horizon):
        worth = np.zeros(len(fleets))
        for j, (a, b) in enumerate(fleets):
            for p in range(points):
                first = abs(grid[a] - grid[p]) <= abs(grid[b] - grid[p])
                after = values[p, b] if first else values[a, p]
                reach = min(abs(grid[a] - grid[p]), abs(grid[b] - grid[p]))
                worth[j] += chance[p] * (after - (1 - alpha) * reach)
        travel = np.abs(grid[fleets][:, None, :] - grid[fleets][None, :, :]).sum(axis=2)
        values = (1 - alpha / 2 * travel + worth[None, :]).max(axis=1).reshape(points, points)
    return values


def test_two_ambulances_agree_with_a_plain_program():
    problem = make_problem("ambulance-2", [0], horizon=2, params={"arrivals": "uniform"})
    ours = AmbulanceOptimum(problem, 241)
    grid = np.linspace(0, 1, 17)
    states = np.array([(a, b) for a in grid for b in grid])
    plain = plain_program(17, 0.25, 2).reshape(-1)
    got = np.array([ours.value(0, state[None])[0] for state in states])
    assert np.abs(got - plain).max() < 6e-3


@pytest.mark.parametrize("arrivals", ["beta", "uniform", "shifting"])
@pytest.mark.parametrize("k, finer", [(1, 1001), (2, 401)])
def test_refining_the_grid_moves_the_optimum_by_less_than_1e3(k, finer, arrivals):
    problem = make_problem(f"ambulance-{k}", [0], params={"arrivals": arrivals})
    ours, reference = problem.optimal(), AmbulanceOptimum(problem, finer)
    states = np.random.default_rng(0).random((300, k))
    difference = [ours.value(0, x[None])[0] - reference.value(0, x[None])[0] for x in states]
    assert np.abs(difference).max() < 1e-3
