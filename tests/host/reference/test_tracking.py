"""The float64 tracking learner: numbers computed by hand, and what must hold after any run."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from adamb.firmware_model import _spec
from adamb.host_sim.agents.reference.tracked import RefreshJob, TrackedBall, inherited_weight
from support.reference_runs import (
    RUNS,
    assert_tiles_the_unit_cube,
    drive,
    finished_runs,
    leaf_at,
    level_filling,
    track,
    visit,
)

# --- by hand ----------------------------------------------------------------------------------------------


def test_updates_agree_with_numbers_computed_by_hand():
    agent = track(bonus=0.5)
    assert visit(agent, 0, [0.3], 0.4, [0.6]) == [0.5]
    # Root, n = 1: Q = .4 + .5 + V_1 = 1.9 with V_1 = 1 everywhere; it splits, its children have surplus .9.
    assert [leaf.q for leaf in agent.leaves(0, 0)] == pytest.approx([1.9] * 4)
    visit(agent, 1, [0.6], 0.2, [0.0])
    # Last step: Q = .2 + .5, in the visited cell and, as the first of those under the split, in the other.
    assert [leaf.q for leaf in agent.leaves(0, 1)] == pytest.approx([0.7] * 4)
    assert [cell.value for cell in agent.state_cells(0, 1)] == pytest.approx([0.7] * 2)
    # News about step 1 reaches the balls of step 0 at once.
    assert [leaf.q for leaf in agent.leaves(0, 0)] == pytest.approx([0.9 + 0.7] * 4)
    # The lower action wins the tie. Its own sample says .8 + .7, the root's quarter of a sample .4 + .7.
    assert visit(agent, 0, [0.3], 0.8, [0.9]) == [0.25]
    child = leaf_at(agent, 0, [0.3], [0.25])
    assert (child.own_n, child.n, child.ancestor_n, child.reward) == (1, 1.25, (1,), 0.8)
    assert child.next_states == {((0.5,), (1.0,)): 1.0}
    assert child.q == pytest.approx((1.5 + 0.25 * 1.1) / 1.25 + 0.5 / math.sqrt(1.25))


def test_q_is_clipped_to_what_can_still_be_earned():
    agent = track(horizon=2, bonus=5.0, phi=9)
    visit(agent, 0, [0.2], 0.9, [0.1])
    visit(agent, 1, [0.2], 0.9, [0.1])
    assert [agent.leaves(0, h)[0].q for h in (0, 1)] == [2.0, 1.0]


@pytest.mark.parametrize("phi", [1, 24])
def test_a_ball_counts_a_quarter_of_its_parent_up_to_four_and_until_it_has_sixteen(phi):
    agent = track(phi=phi, bonus=0.2)
    drive(agent, 1500)
    capped = dropped = 0
    for h in range(2):
        for leaf in agent.leaves(0, h):
            parent = leaf.ancestor_n[-1] if leaf.level else 0
            weight = min(parent / 4, 4.0) if leaf.own_n < 16 else 0.0
            assert leaf.n == pytest.approx(weight + leaf.own_n)
            capped, dropped = capped + (weight == 4), dropped + (leaf.own_n >= 16)
    assert capped > 0
    assert dropped > 0 or phi == 1, "with small thresholds most balls are divided before"


def test_a_fifth_next_state_counts_for_the_nearest_of_four():
    ball = TrackedBall(None, 3, 8, (0,))
    for key in (8, 10, 13, 15, 14, 9, 11):
        ball.count_next(key)
    # 14 lies between 15, which came fourth and is met first, and 13; 9 between 8 and 10; 11 next to 10.
    assert sorted(map(tuple, ball.next_counts)) == [(8, 2), (10, 2), (13, 1), (15, 2)]


def test_small_moves_of_the_best_q_leave_v_alone_and_add_up():
    agent = track(horizon=1, bonus=0.0, phi=1000)
    visit(agent, 0, [0.3], 0.5, [0.0])
    assert agent.value(0, 0, [0.3]) == 0.5
    rewards = [0.5]
    for _ in range(40):
        rewards.append(0.52)
        visit(agent, 0, [0.3], rewards[-1], [0.0])
        moved = abs(float(np.mean(rewards)) - 0.5)
        assert agent.value(0, 0, [0.3]) == pytest.approx(0.5 if moved < 1 / 64 else 0.5 + 1 / 64, abs=1e-3)
    assert moved > 1 / 64


def test_after_a_split_every_cell_under_the_ball_follows_one_per_sample():
    agent = track(horizon=1, bonus=0.0)
    visit(agent, 0, [0.1], 0.9, [0.0])
    assert [cell.value for cell in agent.state_cells(0, 0)] == [0.9, 1.0]
    visit(agent, 0, [0.1], 0.9, [0.0])
    assert [cell.value for cell in agent.state_cells(0, 0)] == pytest.approx([0.9, 0.9])
    assert agent.learners[0].jobs == [None]


def test_jobs_join_in_the_smallest_cell_that_holds_both():
    depth = 10
    first = RefreshJob(0b1010, depth)
    assert first.point == 0b1010 << 7
    joined = first.joined(0b10111)
    assert (joined.cell, joined.point) == (0b101, 0b101 << 8)
    assert joined.advance(0b1010) and joined.point == 0b1011 << 7
    assert not joined.advance(0b1011)
    assert not RefreshJob(1, depth).advance(0b111)  # the very last cell


def test_a_shared_tree_learns_from_every_step_and_keeps_values_apart():
    agent = track(horizon=3, share="on", bonus=0.0, phi=100)
    visit(agent, 2, [0.3], 0.6, [0.4])
    learner = agent.learners[0]
    assert learner.roots[0] is learner.roots[2]
    q = [leaf.q for h in range(3) for leaf in agent.leaves(0, h)]
    assert q == pytest.approx([0.6 + 2, 0.6 + 0.6, 0.6])
    assert agent.stats()["leaves"] == [1]


def refreshed(dims, episodes=128):
    """Step and point of every cell other than the visited one that 2000 visits refresh; the learner."""
    agent = track(d_s=dims, d_a=dims, horizon=4, share="on", bonus=0.0, phi=10_000, seeds=(9,))
    learner = agent.learners[0]
    for _ in range(episodes):
        agent.end_episode()
    others = []
    original = learner._refresh
    learner._refresh = lambda h, point, **how: (others.append((h, point)), original(h, point, **how))[1]
    for _ in range(2000):
        visit(agent, 1, [0.3] * dims, 0.6, [0.4] * dims)
    return [(h, point) for h, point in others if (h, point) != (1, learner.point([0.3] * dims))], learner


@pytest.mark.parametrize(
    ("dims", "episodes", "share"), [(1, 0, 1), (1, 127, 1), (1, 128, 1 / 16), (2, 128, 1)]
)
def test_the_cell_played_next_is_refreshed_always_but_seldom_where_it_matters_less(dims, episodes, share):
    others, learner = refreshed(dims, episodes)
    ahead = [point for h, point in others if h == 2]
    assert set(ahead) == {learner.point([0.4] * dims)} and not any(h == 3 for h, _ in others)
    assert len(ahead) / 2000 == pytest.approx(share, abs=0.02)


def test_with_more_dimensions_any_cell_of_this_step_or_the_first_is_refreshed():
    assert {h for h, _ in refreshed(1)[0]} == {2}
    others, _ = refreshed(2)
    for h in (0, 1):
        points = [point for step, point in others if step == h]
        assert len(points) == pytest.approx(1000, abs=100)
        assert len(set(points)) > 900


def test_the_rule_of_own_samples_divides_no_ball_early():
    agent = track(horizon=1, bonus=0.0, phi=16, split="own")
    for k in range(15 + 62):
        visit(agent, 0, [0.2], 0.1 if k < 15 else 0.9, [0.0])
        assert len(agent.leaves(0, 0)) == (1 if k < 14 else 4)


def test_random_actions_stay_inside_the_ball():
    agent = track(horizon=1, d_a=2, action="random", bonus=0.2)
    drive(agent, 100)
    learner = agent.learners[0]
    for state in np.linspace(0, 1, 21):
        centre = learner.cells[0].best[learner.cells[0].cell_of(learner.point([state]))]
        action = learner.act(0, [state])
        half = 1 / max(x.as_integer_ratio()[1] for x in centre)
        assert all(c - half <= a < c + half for a, c in zip(action, centre, strict=True))
        assert tuple(action) != centre


# --- after any run ----------------------------------------------------------------------------------------


VALUES = {
    "mode": ["tracking"],
    "split": ["own", "inherited"],
    "gamma": [1.0, 1.5, 2.0, 3.0],
    "phi": [0.5, 1.0, 5.0],
    "bonus": [0.0, 0.3, "auto"],
    "share": ["off", "on"],
    "action": ["centre", "random"],
}
runs = finished_runs(VALUES, most_d_s=3)


@RUNS
@given(runs)
def test_balls_and_cells_tile_and_every_sample_is_counted_once(run):
    agent, episodes = run
    learner, shared = agent.learners[0], agent.settings.share == "on"
    for h in range(2):
        leaves = agent.leaves(0, h)
        assert_tiles_the_unit_cube(
            [(leaf.state_low + leaf.action_low, leaf.state_high + leaf.action_high) for leaf in leaves]
        )
        assert_tiles_the_unit_cube([(cell.low, cell.high) for cell in agent.state_cells(0, h)])
        assert sum(ball.n for ball in learner.roots[h].walk()) == episodes * (2 if shared else 1)
        for ball in learner.roots[h].walk():
            assert sum(count for _, count in ball.next_counts) == ball.n
            assert len(ball.next_counts) <= 4
            assert 0 <= ball.reward <= 1 + 1e-12
        for leaf in leaves:
            assert math.fsum(leaf.next_states.values()) == pytest.approx(1)
    assert agent.stats()["leaves"][0] == sum(len(agent.leaves(0, h)) for h in range(1 if shared else 2))


@RUNS
@given(runs)
def test_values_are_means_within_range_and_actions_are_centres(run):
    agent, _ = run
    learner = agent.learners[0]
    for h in range(2):
        values = learner.cells[h]
        for key, value in values.mean.items():
            assert 0 <= value <= 2 - h
            if key << 1 in values.mean:
                assert value == pytest.approx((values.mean[key << 1] + values.mean[key << 1 | 1]) / 2)
            else:
                inner = {ball.centre() for ball in learner.roots[h].walk()}
                assert values.best[key] in inner


@RUNS
@given(runs)
def test_leaves_stay_within_the_exact_bound(run):
    agent, episodes = run
    s = agent.settings
    costs = [max(1, n - 1) for n in s.thresholds]
    if s.split == "inherited":
        costs = [max(1, n - m) for m, n in pairwise([0, *s.thresholds])]
        costs[1:] = [min(cost, _spec.EARLY_MASK + 1) for cost in costs[1:]]  # a well-known ball splits early
        costs = costs[: agent.learners[0].finest]
    samples = episodes * (2 if s.share == "on" else 1)
    for h in range(2):
        assert len(agent.leaves(0, h)) <= level_filling(samples, s.d_s + s.d_a, costs)


@RUNS
@given(runs)
def test_an_unvisited_ball_is_worth_what_its_parent_was(run):
    agent, _ = run
    learner = agent.learners[0]
    for h in range(2):
        for ball in learner.roots[h].walk():
            if ball.parent is not None and ball.n == 0:
                assert ball.surplus == ball.parent.surplus
                assert learner.q(h, ball) == ball.surplus + learner.expected(h, ball.parent)
                assert inherited_weight(ball) > 0
