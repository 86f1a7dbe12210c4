"""The runner measures what it says it measures, checked on a problem whose answers are known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.agents import make_agent
from adamb.host_sim.agents.fixed import PolicyAgent, best_fixed_action
from adamb.host_sim.runner import Estimate, estimate, half_widths, record_points, simulate
from support.standin_problem import BEST, Standin
from support.standin_runs import SEEDS, Growing, play


def test_the_interval_is_students_t_over_the_seeds():
    assert estimate(np.array([3.0])).ci95 is None
    found = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    assert found.mean == 2.5
    deviation = np.sqrt(((np.array([1, 2, 3, 4]) - 2.5) ** 2).sum() / 3)
    assert found.ci95 == pytest.approx(3.182446305 * deviation / 2)
    assert half_widths(np.array([[1.0], [2.0], [3.0], [4.0]]))[0] == pytest.approx(found.ci95)


@pytest.mark.parametrize(
    ("mean", "ci95", "printed"),
    [(5134.2, 657.1, "5134 ± 657"), (1.5652, 0.334, "1.57 ± 0.33"), (4.1184, 0.0131, "4.118 ± 0.013"),
     (-1e-13, 1e-12, "0"), (3.14159, None, "3.142")],
)  # fmt: skip
def test_figures_are_printed_with_the_decimals_the_interval_leaves_meaningful(mean, ci95, printed):
    assert str(Estimate(mean, ci95)) == printed


def test_the_optimal_agent_has_no_regret_and_all_of_the_optimum():
    result = play("optimal")
    assert np.allclose(result.returns, BEST * 4)
    assert result.regret().mean == pytest.approx(0, abs=1e-9)
    assert result.share().mean == pytest.approx(1)


def test_the_optimal_agent_follows_a_drift():
    assert np.allclose(play("optimal", drift="half").returns, BEST * 4)
    assert np.allclose(play("optimal", drift="walk").returns, BEST * 4)


def test_regret_is_the_sum_of_what_each_episode_missed():
    result = play("centre")
    assert result.regret().mean == pytest.approx(np.mean([sum(BEST * 4 - r for r in row) for row in result.returns]))
    assert result.regret().mean > 1


def test_no_known_optimum_means_no_regret_rather_than_a_made_up_one():
    result = play(known=False)
    assert result.regret() is None and result.share() is None
    assert result.to_json()["optimal"] is None and result.to_json()["regret"] is None
    with pytest.raises(InputError, match="no exact optimum"):
        play("optimal", known=False)


def test_the_static_agent_plays_the_best_fixed_action():
    task = Standin(list(SEEDS), episodes=64)
    found = best_fixed_action(task, 64)
    assert found.shape == (len(SEEDS), 1)

    def returns(action):
        fixed = PolicyAgent(task, lambda h, states: action, "fixed")
        return simulate(Standin(list(SEEDS), episodes=64), fixed).returns.mean(axis=1)

    best = returns(found)
    for action in np.linspace(0, 1, 41):
        assert (best >= returns(np.full((len(SEEDS), 1), action)) - 1e-3).all(), action


def test_the_search_for_a_static_action_leaves_the_run_untouched():
    assert np.array_equal(play("static").optimal, play("random").optimal)
    task = Standin(list(SEEDS), episodes=5)
    make_agent("static", task, trials=3)
    assert task.episode == -1


def test_bytes_are_recorded_at_the_points_and_at_the_end(growing):
    result = play("growing", run={"record": [2, 10]})
    assert result.points.tolist() == [2, 10, 30]
    assert result.bytes[0].tolist() == [20, 100, 300]
    assert result.bytes_peak.tolist() == [300] * 6


@pytest.mark.parametrize("record", [0, -3, [0], [31]])
def test_points_outside_the_run_are_refused(record):
    with pytest.raises(InputError, match="record"):
        record_points(30, record)


def test_the_last_episodes_are_at_least_one():
    result = play()
    assert result.reward(last=100) == result.reward()
    for last in (0, -2, "a", 1.5):
        with pytest.raises(InputError, match=r"last = .*: must be a whole number from 1"):
            result.reward(last=last)


def test_a_cap_that_was_passed_is_noticed(growing):
    assert play("growing", budget_bytes=300).within_budget()
    assert not play("growing", budget_bytes=299).within_budget()


def test_a_stop_request_ends_the_run_with_what_was_done(growing):
    result = play("growing", run={"observers": [lambda progress: progress.done == 12], "record": [5, 20]})
    assert result.interrupted and result.episodes == 12
    assert result.returns.shape == result.optimal.shape == (6, 12)
    assert result.points.tolist() == [5, 12] and result.bytes[0].tolist() == [50, 120]
    assert result.to_json()["episodes"] == 12


def test_the_json_has_means_with_intervals_counters_and_times(growing):
    found = play("growing", budget_bytes=4096).to_json()
    assert set(found["reward_per_episode"]) == set(found["regret"]) == {"mean", "ci95"}
    assert set(found["seconds"]) == {"agent", "environment", "total"}
    assert (found["leaves"], found["reclaims"], found["refused_splits"]) == (2.5, 7.0, None)
    assert (found["seeds"], found["seed_base"], found["budget_bytes"]) == (6, 40, 4096)


def test_a_result_is_a_pandas_table_and_a_figure_in_a_notebook():
    result = play("adamb", episodes=6)
    frame = result.to_frame()
    assert list(frame.columns) == ["seed", "episode", "reward", "optimum", "regret"] and len(frame) == 6 * len(SEEDS)
    by_seed = frame.groupby("seed", sort=False)
    assert by_seed["reward"].mean().tolist() == pytest.approx(result.returns.mean(axis=1).tolist())
    assert by_seed["regret"].sum().mean() == pytest.approx(result.regret().mean)
    shown = result._repr_html_()
    assert str(result.reward()) in shown and result.share().percent() in shown


def test_agent_time_and_environment_time_are_kept_apart(growing, monkeypatch):
    now = [0]
    monkeypatch.setattr("time.perf_counter_ns", lambda: now[0])

    def spend(nanoseconds, call):
        def timed(self, *arguments):
            now[0] += nanoseconds
            return call(self, *arguments)

        return timed

    monkeypatch.setattr(Growing, "act", spend(2_000, Growing.act))
    monkeypatch.setattr(Growing, "observe", spend(3_000, Growing.observe))
    monkeypatch.setattr(Growing, "end_episode", spend(4_000, Growing.end_episode))
    monkeypatch.setattr(Standin, "step", spend(700, Standin.step))
    monkeypatch.setattr(Standin, "begin_episode", spend(90, Standin.begin_episode))
    result = play("growing", episodes=10)
    assert result.seconds["agent"] == pytest.approx(10 * (4 * 5_000 + 4_000) / 1e9)
    assert result.seconds["environment"] == pytest.approx(10 * (4 * 700 + 90) / 1e9)
    assert result.microseconds_per_step() == pytest.approx(24 / 4 / len(SEEDS))
