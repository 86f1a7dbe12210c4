"""The float64 reference, update by update: hand-computed numbers, every switch, and the agent contract."""

from __future__ import annotations

import gc
import math
import sys

import numpy as np
import pytest

from adamb.budgets.errors import InputError
from adamb.host_sim.reference import ReferenceAgent
from adamb.host_sim.reference_settings import DEVIATIONS, make_settings
from adamb.host_sim.reference_views import view_leaf


def make(horizon=2, d_s=1, d_a=1, seeds=(0,), episodes=100, mode="paper", **options):
    sizes = {"d_s": d_s, "d_a": d_a, "horizon": horizon, "episodes": episodes}
    return ReferenceAgent(**sizes, seeds=list(seeds), mode=mode, **options)


def visit(agent, h, state, reward, next_state):
    action = agent.act(h, np.array([state], dtype=float))
    agent.observe(h, np.array([reward], dtype=float), np.array([next_state], dtype=float))
    return action[0].tolist()


def leaf_at(agent, h, state, action):
    (found,) = [
        leaf
        for leaf in agent.leaves(0, h)
        if all(a <= x < b for a, x, b in zip(leaf.state_low, state, leaf.state_high, strict=True))
        and all(a <= x < b for a, x, b in zip(leaf.action_low, action, leaf.action_high, strict=True))
    ]
    return found


def drive(agent, episodes, seed=0):
    """Any run will do: rewards fall with the distance of action and state, next states are noisy."""
    rng = np.random.default_rng(seed)
    for _ in range(episodes):
        states = rng.random((agent.n, agent.d_s))
        for h in range(agent.horizon):
            actions = agent.act(h, states)
            rewards = np.clip(1 - np.abs(actions[:, :1] - states[:, :1])[:, 0], 0, 1)
            states = np.clip(
                np.resize(actions, (agent.n, agent.d_s)) + rng.normal(0, 0.1, (agent.n, agent.d_s)), 0, 1
            )
            agent.observe(h, rewards, states)
        agent.end_episode()


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


@pytest.mark.parametrize("mode", ["paper", "tracking"])
def test_value_may_rise_again_only_in_tracking(mode):
    agent = make(horizon=1, bonus=0.1, mode=mode, gamma=2, phi=16, split="own")
    for reward in (0.2, 0.2, 0.2, 0.2):
        visit(agent, 0, [0.3], reward, [0.0])
    assert agent.value(0, 0, [0.3]) == pytest.approx(0.25)
    for reward in (1.0,) * 10:
        visit(agent, 0, [0.3], reward, [0.0])
    risen = (4 * 0.2 + 10) / 14 + 0.1 / math.sqrt(14)
    expected = 0.25 if mode == "paper" else risen
    assert agent.value(0, 0, [0.3]) == pytest.approx(expected, abs=1 / 64)  # less is not worth a refresh


@pytest.mark.parametrize("split", ["own", "inherited"])
@pytest.mark.parametrize(("gamma", "phi"), [(2, 1), (3, 1), (2, 3.5), (2.5, 2)])
def test_a_ball_splits_at_the_sample_its_rule_names(split, gamma, phi):
    agent = make(horizon=1, bonus=5.0, gamma=gamma, phi=phi, split=split, mode="tracking")  # no ball leads
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
    agent = make(horizon=1, bonus=1.0, mode="tracking")
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


def test_a_smaller_diameter_counts_as_soon_as_a_ball_is_split():
    agent = make(horizon=1, bonus="theory", gamma=3, phi=1, L_r=1)
    visit(agent, 0, [0.3], 0.5, [0.0])
    expected = 0.5 + math.sqrt(8 * math.log(2 * 100**2 / 0.05)) + 4 / 2
    assert [leaf.q for leaf in agent.leaves(0, 0)] == pytest.approx([expected] * 4)


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
    for ball, leaf in [
        (ball, view_leaf(learner, 0, ball)) for ball in learner.roots[0].walk() if ball.children is None
    ]:
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


# --- the authors' deviations ------------------------------------------------------------------------------


def test_a_border_state_is_in_both_halves_only_when_cells_are_closed():
    for cells, expected in (("half-open", [0.75]), ("closed", [0.25])):
        agent = make(horizon=1, bonus=0.0, gamma=2, phi=1, cells=cells)
        visit(agent, 0, [0.5], 0.4, [0.0])
        for row, favourite in zip(agent.learners[0].roots[0].children, (0, 1), strict=True):
            for ball in row:
                ball.q = (0.9 if favourite == 0 else 0.8) if ball.action_index == (favourite,) else 0.1
        assert agent.act(0, np.array([[0.5]]))[0].tolist() == expected


def test_equal_balls_go_to_the_named_end():
    for ties, expected in (("low", 0.25), ("high", 0.75)):
        agent = make(horizon=1, bonus=0.0, gamma=2, phi=1, ties=ties)
        visit(agent, 0, [0.2], 0.4, [0.0])
        assert agent.act(0, np.array([[0.2]])).item() == expected


def test_first_values_are_the_steps_left_or_the_horizon():
    assert [make(horizon=3).value(0, h, [0.5]) for h in range(4)] == [3, 2, 1, 0]
    assert [make(horizon=3, initial="horizon").value(0, h, [0.5]) for h in range(3)] == [3, 3, 3]


def test_q_is_clipped_and_monotone_only_as_a_deviation():
    free, clipped = make(horizon=1, bonus=5.0, phi=9), make(horizon=1, bonus=5.0, phi=9, q_rule="decreasing")
    for agent in (free, clipped):
        visit(agent, 0, [0.2], 0.4, [0.0])
    assert (free.leaves(0, 0)[0].q, clipped.leaves(0, 0)[0].q) == (5.4, 1.0)


def test_a_next_state_is_counted_in_the_cell_the_switch_names():
    counted = {}
    for transitions in ("dyadic", "induced", "nearest"):
        agent = make(bonus=0.0, gamma=2, phi=1, transitions=transitions)
        learner = agent.learners[0]
        for key in (1, 3, 6):  # cells of step 1: [0,.5), [.5,.625), [.625,.75), [.75,1)
            learner.cells[1].split(key)
        learner.depth[1] = 3
        visit(agent, 0, [0.3], 0.4, [0.45])
        counted[transitions] = learner.roots[0].next_counts
    # The root counts on the grid of its own level; .45 is nearer to the centre .5625 than to .25.
    assert counted == {"dyadic": {1: 1}, "induced": {2: 1}, "nearest": {12: 1}}


def test_random_actions_stay_inside_the_ball_and_centre_ones_in_its_middle():
    agent = make(horizon=1, d_a=2, action="random", bonus=0.2, gamma=2, phi=1)
    drive(agent, 100)
    learner = agent.learners[0]
    seen = set()
    for state in np.linspace(0, 1, 21):
        action = learner.act(0, [state])
        low, high = learner.played[0][0].action_bounds()
        assert all(a <= x < b for a, x, b in zip(low, action, high, strict=True))
        seen.add(action[0] == (low[0] + high[0]) / 2)
    assert seen == {False}


def test_the_authors_preset_is_every_deviation_and_leaves_c_free():
    authors = make_settings(1, 1, 5, 2000, {"deviations": "authors", "bonus": 1.5})
    listed = make_settings(1, 1, 5, 2000, {"deviations": list(DEVIATIONS), "bonus": 1.5})
    assert authors == listed
    assert authors.bonus == 1.5
    changed = {name for names in DEVIATIONS.values() for name in names}
    for name in changed - {"bonus"}:
        assert any(getattr(authors, name) == values.get(name) for values in DEVIATIONS.values())


# --- options and the contract -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"mode": "papers"}, "mode"),
        ({"bonus": -1}, "bonus"),
        ({"bonus": "theoretical"}, "bonus"),
        ({"gamma": 0.5}, "gamma"),
        ({"phi": 0}, "phi"),
        ({"delta": 2}, "delta"),
        ({"L_V": "steep"}, "L_V"),
        ({"split": "both"}, "split"),
        ({"planning": "two-step"}, "planning"),
        ({"action": "center"}, "action"),
        ({"envelope": "maybe"}, "envelope"),
        ({"share": "on"}, "share"),
        ({"share": "auto", "mode": "tracking"}, "share"),
        ({"planning": "full", "mode": "tracking"}, "planning"),
        ({"bonus": "theory", "mode": "tracking"}, "bonus"),
        ({"deviations": "author"}, "deviations"),
        ({"deviations": 3}, "deviations"),
        ({"deviations": "authors", "mode": "tracking"}, "deviations"),
        ({"deviations": "authors", "bonus": "theory"}, "bonus"),
        ({"deviations": "gamma-2", "gamma": 3}, "gamma"),
        ({"d_s": 9}, "d_s"),
        ({"horizon": 0}, "horizon"),
        ({"budget_bytes": 4096}, "budget"),
        ({"when_full": "freeze"}, "option of agent adamb (reference)"),
    ],
)
def test_bad_options_name_the_field(options, field):
    with pytest.raises(InputError) as caught:
        make(**options)
    assert caught.value.field == field


def test_defaults_are_tracking_and_deviations_ask_for_the_paper():
    assert make(mode=None).settings.mode == "tracking"
    assert make(mode=None).settings.bonus == "auto"
    assert make(mode=None, deviations="authors").settings.mode == "paper"


def test_a_misspelt_option_suggests_the_right_one():
    with pytest.raises(InputError, match="did you mean gamma"):
        make(gama=2)


def test_observe_needs_an_act_of_the_same_step():
    agent = make()
    with pytest.raises(InputError, match="needs an act"):
        agent.observe(0, np.array([0.5]), np.array([[0.5]]))


@pytest.mark.parametrize("options", [{}, {"mode": "tracking"}, {"deviations": "authors"}])
def test_a_learner_does_the_same_alone_and_among_others(options):
    states = np.linspace(0.05, 0.95, 40)
    together, alone = make(seeds=(5, 6, 7), **options), make(seeds=(6,), **options)
    for state in states:
        for h in range(2):
            group = together.act(h, np.full((3, 1), state))
            single = alone.act(h, np.full((1, 1), state))
            assert group[1] == single[0]
            together.observe(h, 1 - group[:, 0] ** 2, group)
            alone.observe(h, 1 - single[:, 0] ** 2, single)
        together.end_episode()
        alone.end_episode()
    assert together.leaves(1, 0) == alone.leaves(0, 0)


@pytest.mark.parametrize("options", [{"mode": "tracking"}, {"envelope": True, "gamma": 2, "phi": 1}])
def test_bytes_are_those_of_the_python_objects(options):
    agent = make(bonus=0.3, **options)
    small = agent.bytes_used()[0]
    drive(agent, 200)
    estimated = int(agent.bytes_used()[0])
    assert estimated > 10 * small
    assert agent.bytes_peak()[0] == estimated
    learner = agent.learners[0]
    assert estimated == pytest.approx(measured_bytes([learner.roots, learner.cells]), rel=0.1)


def measured_bytes(start):
    """Everything reachable, by the garbage collector's own references, numbers included."""
    seen, stack, total = set(), list(start), 0
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, type) or thing is None:
            continue
        seen.add(id(thing))
        if isinstance(thing, int) and -5 <= thing <= 256:
            continue
        total += sys.getsizeof(thing)
        stack.extend(gc.get_referents(thing))
    return total
