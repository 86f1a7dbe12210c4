"""The optimum is exact to 1e-3: refined grids and an independent program agree."""

import numpy as np
import pytest
from scipy.stats import norm

from adamb.host_sim import solvers as dynamic_programming
from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.oil import optimum as oil_optimum
from adamb.host_sim.problems.oil.optimum import NoisyOptimum
from adamb.host_sim.solvers import cached, solution_key

pytestmark = pytest.mark.usefixtures("empty_cache")


def optimum_of(name, **options):
    return make_problem(name, [0], instance="paper", **options).optimal()


def test_the_optimum_of_the_quadratic_as_in_the_caption_stops_an_eighth_before_the_deposit():
    """At .5 with c = .7: a move to distance 1/8 costs .075, then four steps pay 1 - 1/64 each."""
    optimum = optimum_of("oil-quadratic", params={"survey": "text", "start": "0.5"})
    assert optimum.mean[0] == pytest.approx(1 - 0.2**2 - 0.075 + 4 * (1 - 1 / 64), abs=1e-4)


def brute_force(points, surveys, deviation, reward_noise):
    """Grid and V* of the first step by the simplest program: points and probabilities of cells around them.

    `surveys` are (weight, deposit) of every step.
    """
    grid = np.linspace(0, 1, points)
    x, a = np.meshgrid(grid, grid, indexing="ij")
    noise = reward_noise * norm.ppf((np.arange(200) + 0.5) / 200) if reward_noise else [0.0]
    edges = np.concatenate([[-np.inf], (grid[1:] + grid[:-1]) / 2, [np.inf]])
    spread = np.maximum(deviation(x + a), 1e-9)
    chances = np.diff(norm.cdf((edges - a[..., None]) / spread[..., None]), axis=-1)
    values = np.zeros(points)
    for weight, c in reversed(surveys):
        mean = weight * np.exp(-10 * np.abs(x - c)) - np.abs(x - a)
        rewards = np.mean([np.clip(mean + e, 0, 1) for e in noise], axis=0)
        values = (rewards + chances @ values).max(axis=1)
    return grid, values


def test_the_optimum_with_noise_agrees_with_an_independent_program():
    ours = optimum_of("oil-noisy", params={"start": "random"}).mean[0]
    assert ours == pytest.approx(2.7907, abs=3e-4)
    grid, values = brute_force(161, [(1, 0.75)] * 5, lambda reach: 0.025 * reach**2, 0.1)
    assert ours == pytest.approx(np.trapezoid(values, grid), abs=3e-3)


def test_the_optimum_of_the_authors_sparse_survey_follows_its_late_steps():
    """The weights and deposits that their program pays for; a survey one step early is worth another V*."""
    late = [(0, 1), (0.2, 0.5), (0.4, 0.25), (0.6, 0.5), (0.8, 0.75)]
    early = [(0.2, 0.5), (0.4, 0.25), (0.6, 0.5), (0.8, 0.75), (1, 1)]
    optimum = optimum_of("oil-sparse", params={"survey": "authors"})
    (grid, due), (_, wrong) = (brute_force(161, each, lambda reach: 0.05**0.5 * reach, 0) for each in (late, early))
    ours = np.array([optimum.value(0, np.array([[x]]))[0] for x in grid])
    assert np.abs(ours - due).max() < 5e-3
    assert np.abs(ours - wrong).max() > 0.1


NOISELESS = [
    ("oil-laplace", {}), ("oil-laplace", {"lam": 50}), ("oil-laplace", {"survey": "text"}),
    ("oil-quadratic", {"lam": 5, "alpha": 0.3}), ("oil-sparse", {"sigma": 0}), ("oil-2d", {}),
    ("oil-2d", {"shape": "quadratic"}),
]  # fmt: skip


@pytest.mark.parametrize("name, params", NOISELESS)
def test_refining_the_grid_moves_random_instances_by_less_than_1e3(name, params):
    problem = make_problem(name, range(5), params=params)
    finer = problem.solve_without_noise({1: 4097, 2: 161}[problem.d_s])
    assert np.abs(problem.optimal().mean - finer.mean).max() < 1e-3
    starts = np.random.default_rng(0).random((5, 200, problem.d_s))
    assert np.abs(problem.optimal().values_at(0, starts) - finer.values_at(0, starts)).max() < 2e-3


@pytest.mark.parametrize("name", ["oil-noisy", "oil-sparse", "oil-authors-noise"])
def test_refining_the_grid_moves_random_noisy_instances_by_less_than_1e3(name, monkeypatch):
    problem = make_problem(name, range(3))
    ours = problem.optimal()
    monkeypatch.setattr(oil_optimum, "CHEBYSHEV_POINTS", 36)
    finer = NoisyOptimum(problem, problem.c, nodes=897)
    assert np.abs(ours.mean - finer.mean).max() < 3e-4
    starts = np.random.default_rng(0).random((300, 3, 1))
    assert max(np.abs(ours.value(0, x) - finer.value(0, x)).max() for x in starts) < 2e-3


@pytest.mark.parametrize("name", ["oil-laplace", "oil-2d", "oil-noisy", "oil-sparse", "oil-authors-noise"])
def test_the_optimal_value_is_the_largest_q(name):
    problem = make_problem(name, [3])
    optimum = problem.optimal()
    for h in range(problem.horizon):
        table = optimum.q(0, h)
        count, d = table.shape[0], problem.d_s
        best = table.reshape(*[count] * d, -1).max(axis=-1)
        for index in np.ndindex(best.shape):
            state = np.array([index]) / (count - 1)
            due = optimum.value(h, state)[0]
            assert best[index] <= due + 2e-3, (h, state)
            assert best[index] >= due - 0.5 * d / (count - 1) * 10, (h, state)


@pytest.mark.parametrize("name", ["oil-noisy", "oil-authors-noise"])
def test_under_drift_walk_the_table_agrees_with_solving_each_deposit(name):
    problem = make_problem(name, range(4), drift="walk")
    for _ in range(30):
        problem.begin_episode()
    tabled, direct = problem.optimal(), NoisyOptimum(problem, problem.c.copy())
    for x in np.random.default_rng(1).random((50, 4, 1)):
        assert np.abs(tabled.value(0, x) - direct.value(0, x)).max() < 2e-3
    assert np.abs(tabled.mean - direct.mean).max() < 1e-3


def test_a_solution_is_read_back_from_disk_and_a_damaged_file_is_solved_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAMB_CACHE", str(tmp_path))
    calls = []

    def compute():
        calls.append(1)
        return {"values": np.arange(3.0)}

    key = solution_key("test", 1.5, np.arange(4))
    for _ in range(3):
        dynamic_programming._recent.clear()
        assert cached(key, compute)["values"].tolist() == [0, 1, 2]
    assert len(calls) == 1
    (file,) = tmp_path.glob("*.npz")
    file.write_bytes(file.read_bytes()[:40])
    dynamic_programming._recent.clear()
    assert cached(key, compute)["values"].tolist() == [0, 1, 2] and len(calls) == 2


def test_an_unwritable_cache_costs_only_time(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("ADAMB_CACHE", str(blocked / "below"))
    assert cached(solution_key("x"), lambda: {"a": np.ones(1)})["a"].tolist() == [1.0]
