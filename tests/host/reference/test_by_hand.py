"""The float64 reference, update by update, against numbers computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adamb.host_sim.agents.reference import view_leaf
from support.reference_runs import drive, leaf_at, make, visit

# --- hand-computed updates --------------------------------------------------------------------------------


def test_paper_updates_agree_with_numbers_computed_by_hand():
    agent = make(bonus=1.0, gamma=3, phi=1)
    assert visit(agent, 0, [0.3], 0.4, [0.6]) == [0.5]
    # Root: n_+ = 1, so it splits at once. Q = .4 + 1/sqrt(1) + V_1(root) = .4 + 1 + 1; V~ = min(2, 2.4).
    assert [leaf.q for leaf in agent.leaves(0, 0)] == [2.4] * 4
    assert [cell.value for cell in agent.state_cells(0, 0)] == [2.0, 2.0]
    visit(agent, 1, [0.6], 0.2, [0.0])
    # Last step: no value follows. Q = .2 + 1, V~ = min(1, 1.2).
    assert [leaf.q for leaf in agent.leaves(0, 1)] == pytest.approx([1.2] * 4)
    # Ties go to the lower action; r-bar = (.4 + .8)/2, N = 2.
    assert visit(agent, 0, [0.3], 0.8, [0.9]) == [0.25]
    child = leaf_at(agent, 0, [0.3], [0.25])
    assert (child.own_n, child.n, child.ancestor_n) == (1, 2, (1,))
    assert child.reward == pytest.approx(0.6)
    assert child.q == pytest.approx(0.6 + 1 / math.sqrt(2) + 1)
    # The root's one sample is divided over the two halves, the child's own lies in the upper one.
    assert child.next_states == {((0.0,), (0.5,)): 0.25, ((0.5,), (1.0,)): 0.75}
    # 2.4 of the unvisited sibling is the larger Q at x = .3, so V~ stays at 2.
    assert [cell.value for cell in agent.state_cells(0, 0)] == [2.0, 2.0]


def test_value_falls_once_every_relevant_ball_has_fallen():
    agent = make(horizon=1, bonus=0.1, gamma=3, phi=1)
    visit(agent, 0, [0.3], 0.2, [0.0])
    assert [cell.value for cell in agent.state_cells(0, 0)] == pytest.approx([0.3, 0.3])
    visit(agent, 0, [0.3], 0.0, [0.0])
    assert agent.state_cells(0, 0)[0].value == pytest.approx(0.3)
    visit(agent, 0, [0.3], 0.0, [0.0])
    assert agent.state_cells(0, 0)[0].value == pytest.approx(0.1 + 0.1 / math.sqrt(2))
    assert agent.state_cells(0, 0)[1].value == pytest.approx(0.3)


@pytest.mark.parametrize("v_rule", ["decreasing", "free"])
def test_value_may_rise_again_only_where_it_is_free(v_rule):
    agent = make(horizon=1, bonus=0.1, v_rule=v_rule, gamma=2, phi=16, split="own")
    for reward in (0.2, 0.2, 0.2, 0.2):
        visit(agent, 0, [0.3], reward, [0.0])
    assert agent.value(0, 0, [0.3]) == pytest.approx(0.25)
    for reward in (1.0,) * 10:
        visit(agent, 0, [0.3], reward, [0.0])
    risen = (4 * 0.2 + 10) / 14 + 0.1 / math.sqrt(14)
    expected = 0.25 if v_rule == "decreasing" else risen
    assert agent.value(0, 0, [0.3]) == pytest.approx(expected)


@pytest.mark.parametrize("split", ["own", "inherited"])
@pytest.mark.parametrize(("gamma", "phi"), [(2, 1), (3, 1), (2, 3.5), (2.5, 2)])
def test_a_ball_splits_at_the_sample_its_rule_names(split, gamma, phi):
    agent = make(horizon=1, bonus=0.0, gamma=gamma, phi=phi, split=split)
    drive(agent, 600)
    thresholds = [math.ceil(phi * 2 ** (gamma * level)) for level in range(8)]
    costs = [max(1, n - 1) for n in thresholds]
    if split == "inherited":
        costs = [n - before for n, before in zip(thresholds, [0, *thresholds], strict=False)]
    leaves = agent.leaves(0, 0)
    assert max(leaf.level for leaf in leaves) >= 2
    for leaf in leaves:
        assert list(leaf.ancestor_n) == costs[: leaf.level]
        assert leaf.own_n < costs[leaf.level]


def test_samples_held_back_above_do_not_release_a_cascade_of_splits():
    agent = make(horizon=1, bonus=1.0, gamma=2, phi=1, split="inherited")
    root = agent.learners[0].roots[0]
    root.n = 500  # as if the pool had been full for 500 samples
    visit(agent, 0, [0.1], 0.5, [0.0])
    assert agent.stats()["leaves"] == [4]
    for _ in range(2):
        visit(agent, 0, [0.1], 0.5, [0.0])
    assert agent.stats()["leaves"] == [4]


# --- bonuses ----------------------------------------------------------------------------------------------


def test_theoretical_bonuses_are_those_of_the_paper():
    agent = make(horizon=2, episodes=10, bonus="theory", delta=0.1, L_r=0.5, L_T=2, L_V=3, c_T=7)
    learner = agent.learners[0]
    reward_part = math.sqrt(8 * math.log(2 * 2 * 100 / 0.1) / 16) + 4 * 0.5 / 4
    assert learner.bonus(1, 2, 16) == pytest.approx(reward_part)
    concentration = 4 * math.sqrt(math.log(2 * 100 / 0.1) / 16)
    shallow = 3 * ((5 * 2 + 6) / 4 + concentration + 7 * math.sqrt(4 / 16))
    assert learner.bonus(0, 2, 16) == pytest.approx(reward_part + shallow)
    wide = make(horizon=2, episodes=10, d_s=3, bonus="theory", delta=0.1, L_r=0.5, L_T=2, L_V=3, c_T=7)
    deep = 3 * ((5 * 2 + 4) / 4 + concentration + 7 * 16 ** (-1 / 3))
    assert wide.learners[0].bonus(0, 2, 16) == pytest.approx(reward_part + deep)


def test_self_tuning_bonus_shrinks_as_rewards_grow():
    agent = make(horizon=1, bonus="auto", phi=100)
    visit(agent, 0, [0.3], 0.8, [0.0])
    assert agent.leaves(0, 0)[0].q == pytest.approx(0.8 + 0.5 * (1 - 0.8))


# --- planning and the envelope ----------------------------------------------------------------------------


def test_full_planning_leaves_no_ball_behind_and_one_step_only_the_played():
    full = make(horizon=3, planning="full", bonus=0.3, gamma=2, phi=1)
    drive(full, 60)
    learner = full.learners[0]
    for h in range(3):
        for ball in learner.roots[h].walk():
            if ball.children is None:
                assert ball.q == pytest.approx(learner.estimate(h, ball))
    one_step = make(horizon=3, bonus=0.3, gamma=2, phi=1)
    drive(one_step, 60)
    before = [leaf.q for leaf in one_step.leaves(0, 1)]
    visit(one_step, 1, [0.2], 0.1, [0.5])
    after = [leaf.q for leaf in one_step.leaves(0, 1)]
    assert len(after) > len(before) or sum(a != b for a, b in zip(before, after, strict=True)) <= 1


def test_full_planning_sees_what_the_next_step_learned_in_the_same_episode():
    first_values = {}
    for planning in ("one-step", "full"):
        agent = make(horizon=2, planning=planning, bonus=0.0, phi=100)
        visit(agent, 0, [0.3], 0.5, [0.6])
        visit(agent, 1, [0.6], 0.1, [0.0])
        agent.end_episode()
        first_values[planning] = agent.value(0, 0, [0.3])
    assert first_values == pytest.approx({"one-step": 1.5, "full": 0.6})


@pytest.mark.parametrize("envelope", [False, True])
def test_expectation_is_transition_estimate_times_value(envelope):
    agent = make(d_s=2, bonus=0.2, gamma=2, phi=1, envelope=envelope, L_V=0.3)
    drive(agent, 150)
    learner = agent.learners[0]
    cells = agent.state_cells(0, 1)
    for ball, leaf in [(ball, view_leaf(learner, ball)) for ball in learner.roots[0].walk() if ball.children is None]:
        expected = 0.0
        for (low, high), mass in leaf.next_states.items():
            centre = np.add(low, high) / 2
            if envelope:
                distances = [np.abs(centre - np.add(cell.low, cell.high) / 2).max() for cell in cells]
                value = min(c.value + 0.3 * gap for c, gap in zip(cells, distances, strict=True))
            else:
                value = mean_over(cells, np.array(low), np.array(high))
            expected += mass * value
        assert learner.estimate(0, ball) == pytest.approx(leaf.reward + 0.2 / math.sqrt(leaf.n) + expected)


def mean_over(cells, low, high):
    """Volume-weighted mean of V~ over a box, by geometry alone."""
    total = 0.0
    for cell in cells:
        sides = np.minimum(high, cell.high) - np.maximum(low, cell.low)
        if (sides > 0).all():
            total += cell.value * float(np.prod(sides))
    return total / float(np.prod(high - low))
