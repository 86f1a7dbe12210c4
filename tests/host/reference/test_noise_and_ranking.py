"""What the float64 tracking learner makes of noise, and which ball and action it prefers: numbers by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adamb.host_sim.agents.reference.measures import Measures
from adamb.host_sim.agents.reference.ranking import Ranked, choose
from adamb.host_sim.agents.reference.tracked import TrackedBall, is_finer
from support.reference_runs import leaf_at, track, visit


def sample(agent, state, action, reward):
    """Let the first learner believe that it played this in step 0, and saw nothing of note behind it."""
    learner = agent.learners[0]
    learner.played[0] = learner.point(state), action
    learner.observe(0, reward, [0.0] * len(state))
    return learner


# --- noise -------------------------------------------------------------------------------------------------


def test_a_mean_reward_looks_back_32_samples_and_takes_outliers_in_slowly():
    agent = track(horizon=1, phi=10_000)
    learner = agent.learners[0]
    for k in range(1, 41):
        visit(agent, 0, [0.3], 0.2 if k % 2 else 0.4, [0.0])
        if k == 32:
            assert learner.roots[0].reward == pytest.approx(0.3)
    ball, noise = learner.roots[0], learner.measures[0].noise
    before = ball.reward
    most = 4 * noise + 1 / 64
    visit(agent, 0, [0.3], before + most / 2, [0.0])
    assert ball.reward == pytest.approx(before + most / 2 / 32)
    before, most = ball.reward, 4 * learner.measures[0].noise + 1 / 64
    visit(agent, 0, [0.3], 1.0, [0.0])
    assert before + most < 1.0
    assert ball.reward == pytest.approx(before + most / 32 + (1.0 - before - most) / 42)


@pytest.mark.parametrize(("noise", "n"), [(0.25, 8), (0.3, 8), (0.5, 16), (0.6, 24), (1.5, 64)])
def test_a_ball_whose_mean_is_well_known_is_divided_early(noise, n):
    """Thresholds 64 and 256. A ball of level 1 is known if 4 * noise / sqrt(n) is at most the c of .5, asked
    at every eighth sample. The noise falls by a 64th before, and to 1 at least."""
    agent = track(horizon=1, bonus=0.5, phi=64)
    for _ in range(64):
        visit(agent, 0, [0.2], 0.3, [0.0])
    samples = 0
    while len(agent.leaves(0, 0)) == 4:
        agent.learners[0].measures[0].noise = noise
        sample(agent, [0.2], (0.25,), 0.3)
        samples += 1
    assert samples == n


@pytest.mark.parametrize(("noise", "n"), [(0.01, 8), (0.25, 63), (0.5, 249)])
def test_with_many_dimensions_noise_divides_no_ball_of_level_2(noise, n):
    """Thresholds 1, 4 and 16; a ball that is known may be divided at its eighth. 16 * noise / sqrt(n) is at
    most the c of .5. The noise falls by a 64th before."""
    agent = track(d_s=2, d_a=2, horizon=1, bonus=0.5, share="on")
    samples = 0
    while agent.stats()["deepest_level"] < [3]:
        agent.learners[0].measures[0].noise = noise
        sample(agent, [0.2, 0.2], (0.2, 0.2), 0.3)
        samples += agent.stats()["deepest_level"] >= [2]
    assert samples == n + 1, "and the one that divided the ball of level 1"


def test_a_bonus_is_at_most_what_the_size_of_the_ball_allows():
    """3 c / 2^level: at level 4 that is less than c / sqrt(n + 4), n = 1 and four of the parent's."""
    agent = track(horizon=1, bonus=0.1)
    ball = None
    while ball is None or ball.level < 4 or ball.n != 1:
        learner = sample(agent, [0.2], (0.2,), 0.3)
        ball = learner.ball_at(0, learner.point([0.2]), (0.2,))
    assert leaf_at(agent, 0, [0.2], [0.2]).q == pytest.approx(0.3 + 3 * 0.1 / 16)


@pytest.mark.parametrize(
    ("share", "expected"), [("on", [0.8, 0.6, 0.4, 0.5]), ("off", [0.1, 0.1375, 0.1453, 0.2271])]
)
def test_the_mean_of_the_rewards_starts_as_that_of_all(share, expected):
    """It moves by 2^-k from the 2^k-th on; the first of a step's own counts as the eighth."""
    agent = track(horizon=1, bonus="auto", share=share)
    means = []
    for reward in (0.8, 0.4, 0.2, 0.8):
        visit(agent, 0, [0.3], reward, [0.0])
        agent.end_episode()
        means.append(agent.learners[0].measures[0].mean_reward)
    assert means == pytest.approx(expected, abs=1e-4)


def test_no_ball_is_finer_than_the_core_can_name():
    """One dimension each: 7 thresholds of up to 8190 samples, and two levels of early division alone."""
    for dims, finest in ((1, 9), (2, 7), (3, 4)):
        assert track(d_s=dims, d_a=dims, bonus=0.5, phi=1).learners[0].finest == finest
    agent = track(horizon=1, bonus=100.0)
    for _ in range(400):
        sample(agent, [0.0], (0.001,), 0.3)
    assert agent.stats()["deepest_level"] == [9]
    assert track(split="own").learners[0].finest == 7


def test_the_noise_follows_the_median_of_what_balls_do_not_foretell():
    agent = track(horizon=1, phi=10_000)
    rng = np.random.default_rng(4)
    for _ in range(3000):
        visit(agent, 0, [0.3], 0.5 + rng.normal(0, 0.1), [0.0])
    assert agent.learners[0].measures[0].noise == pytest.approx(0.0674 * math.sqrt(1 + 1 / 64), rel=0.25)


# --- the best of several balls -----------------------------------------------------------------------------


def ranked(parent, n, reward, surplus, expected):
    ball = TrackedBall(parent, 1, 2, (0,))
    ball.n, ball.reward, ball.surplus = n, reward, surplus
    return Ranked(ball, expected)


def test_an_unvisited_ball_is_raised_by_what_the_ball_that_is_played_earns_more_than_those_above_it():
    measures, parent = Measures(), TrackedBall(None, 0, 1, (0,))
    lift = (0.6 - 0.3) * 3 / 4
    visited = ranked(parent, 9, 0.6, 0.9, 0.0)
    for surplus in (0.9 - lift - 0.01, 0.9 - lift + 0.01):
        unvisited = ranked(parent, 0, 0.0, surplus, 0.0)
        chosen = choose([visited, unvisited], measures, [0.3, 0.6], last=True)
        raised = surplus + lift
        assert chosen.ball is (unvisited if raised > 0.9 else visited).ball
        assert chosen.q == pytest.approx(max(raised, 0.9))
    unvisited = ranked(parent, 0, 0.0, 0.89, 0.0)
    for played in ([0.6], [0.6, 0.3], []):  # no record above it; one that earns more; no sample yet
        assert choose([unvisited, visited], measures, played, last=True).ball is visited.ball
    unvisited = ranked(parent, 0, 0.0, 0.9, 0.0)
    assert choose([unvisited, visited], measures, [], last=True).ball is visited.ball, "equal, but visited"


def test_the_way_that_a_state_plays_ends_at_its_last_visited_ball():
    agent = track(horizon=1, bonus=0.5, phi=1)
    for reward in (0.2, 0.8, 0.8, 0.8):
        sample(agent, [0.3], (0.3,), reward)
    knowledge = agent.learners[0]
    ball, way = knowledge.roots[0], []
    knowledge.cells[0].best = dict.fromkeys(knowledge.cells[0].best, (0.3,))
    for level in range(9):
        if not ball.n:
            break
        way.append(ball.reward)
        if ball.children is None:
            break
        bit = int(0.3 * 2 ** (level + 1)) & 1
        ball = ball.children[bit][1 - bit]
    assert knowledge.played_rewards(0, knowledge.point([0.3])) == way and len(way) > 1


def test_expectations_count_by_how_much_more_than_their_spread_actions_make_of_them():
    measures, parent = Measures(), TrackedBall(None, 0, 1, (0,))
    safe, promising = ranked(parent, 8, 0.5, 0.5, 0.2), ranked(parent, 8, 0.5, 0.4, 0.35)
    for spread, best in ((0.01, promising), (0.0199, safe), (0.1, safe)):  # .1 more now, .15 more to follow
        measures.effect, measures.spread = 0.04 if spread < 0.0199 else 0.03, spread
        chosen = choose([safe, promising], measures, [], last=False)
        assert chosen.ball is best.ball
        assert chosen.q == pytest.approx(best.ball.surplus + best.expected), "V counts all that follows"
    measures.effect, measures.spread = 0.0, 1.0
    assert choose([safe, promising], measures, [], last=True).ball is promising.ball
    assert measures.effect == 0.0, "nothing follows the last step"


def test_the_effect_of_actions_is_the_variance_of_what_follows_them():
    measures = Measures()
    assert (measures.effect, measures.spread) == (1.0, 0.0)
    measures.follow_effect([(4, 0.5), (12, 0.7)])
    variance = 4 * 12 / 16 * 0.2**2
    assert measures.effect == pytest.approx(1 + (variance - 1) / 256)
    before = measures.effect
    measures.follow_effect([(4, 0.5)])
    assert measures.effect == before, "one ball has nothing to compare with"


@pytest.mark.parametrize(
    ("action", "centre", "finer"),
    [
        ((0.3125,), (0.25,), True),
        ((0.4375,), (0.25,), True),
        ((0.25,), (0.25,), False),
        ((0.5,), (0.25,), False),
        ((0.625,), (0.25,), False),
        ((0.375, 0.125), (0.25, 0.25), True),
        ((0.375, 0.625), (0.25, 0.25), False),
    ],
)
def test_an_action_is_finer_than_a_centre_in_whose_cell_it_names_a_smaller_one(action, centre, finer):
    assert is_finer(action, centre) is finer


def test_a_finer_action_played_elsewhere_is_tried_where_its_ball_is_played():
    agent = track(horizon=1, bonus=0.0, phi=16)
    for _ in range(16):
        sample(agent, [0.1], (0.5,), 0.75)
    learner = agent.learners[0]
    learner.last[0] = (0.3125,)
    sample(agent, [0.8], (0.25,), 0.75)
    assert learner.act(0, [0.8]) == [0.3125]
    learner.last[0] = (0.6875,)  # of another ball
    sample(agent, [0.8], (0.25,), 0.75)
    assert learner.act(0, [0.8]) == [0.3125]
    learner._refresh(0, learner.point([0.8]))
    assert learner.act(0, [0.8]) == [0.3125], "a search that finds the ball leaves the finer action"
    for _ in range(3):
        sample(agent, [0.8], (0.3125,), 0.0)
    assert learner.act(0, [0.8]) == [0.75], "one that finds another ball does not"


def test_a_best_q_that_rises_is_stored_without_a_search():
    agent = track(horizon=1, bonus=0.0, phi=1000)
    visit(agent, 0, [0.3], 0.5, [0.0])
    learner, scans = agent.learners[0], []
    original = learner.scan
    learner.scan = lambda h, point: (scans.append(point), original(h, point))[1]
    visit(agent, 0, [0.3], 0.7, [0.0])
    assert (agent.value(0, 0, [0.3]), scans) == (pytest.approx(0.6), [])
    visit(agent, 0, [0.3], 0.0, [0.0])
    assert (agent.value(0, 0, [0.3]), len(scans)) == (pytest.approx(0.4), 1)
