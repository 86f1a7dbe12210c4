"""Lessons: the controller learns from actions of somebody else (`adamb_given`), then goes on by itself."""

from array import array

import numpy as np
import pytest

from adamb.firmware_model.host import binding
from adamb.firmware_model.host.options import block_words, make_config, new_block
from adamb.host_sim import make_problem

SEEDS, LESSONS, EPISODES = range(680_000, 680_006), 200, 800
LOOPS = {"plant-heater": "pi", "plant-motor": "pi", "plant-light": "line"}


def word(value):
    return min(int(value * 65536), 65535)


def returns(name, teacher, lessons=LESSONS, episodes=EPISODES):
    """Of `lessons` episodes in which the teacher plays, and of the controller's own after them."""
    problem = make_problem(name, SEEDS, episodes=episodes)
    learners = []
    for seed in SEEDS:
        config = make_config(1, 1, problem.horizon, seed=seed)
        learners.append(binding.init(config, new_block(block_words(config, 4096))))
    found, action = np.zeros((problem.n, episodes)), array("H", [0])
    for k in range(episodes):
        states = problem.begin_episode()
        for h in range(problem.horizon):
            actions = teacher(problem, h, states) if k < lessons else np.zeros((problem.n, 1))
            for i, learner in enumerate(learners):
                if k < lessons:
                    assert learner.given(h, [word(states[i, 0])], [word(actions[i, 0])]) == 0
                else:
                    assert learner.act(h, [word(states[i, 0])], action) == 0
                    actions[i, 0] = action[0] / 65536
            rewards, states = problem.step(h, actions)
            found[:, k] += rewards
            for i, learner in enumerate(learners):
                assert learner.observe(h, word(rewards[i]), [word(states[i, 0])]) == 0
        assert all(learner.end_episode() == 0 for learner in learners)
    assert all(learner.check() == 0 for learner in learners)
    return found


def loop(name):
    """One loop for all lessons: it keeps its integral."""
    made = []

    def play(problem, h, states):
        made[:] = made or [problem.rules()[LOOPS[name]]]
        return made[0](h, states)

    return play


@pytest.fixture(scope="module", params=LOOPS)
def played(request):
    """Of a plant: the loop alone, taught by it, and without lessons."""
    name = request.param
    alone = returns(name, loop(name), EPISODES)[:, 100:]
    return name, alone.mean(), returns(name, loop(name)), returns(name, None, 0)


def test_after_the_lessons_of_a_loop_it_begins_near_the_loop_and_goes_on_from_there(played):
    name, alone, taught, untaught = played
    first = taught[:, LESSONS : LESSONS + 20].mean()
    assert alone - first < 0.6 * (alone - untaught[:, :20].mean()), (name, alone, first)
    assert taught[:, LESSONS + 100 :].mean() > alone
    assert taught[:, -200:].mean() > 0.97 * untaught[:, -200:].mean()


def test_lessons_of_a_teacher_who_draws_actions_cost_nothing_in_the_end(played):
    name, _, _, untaught = played
    rng = np.random.default_rng(5)
    found = returns(name, lambda problem, h, states: rng.random((problem.n, 1)))
    assert found[:, -200:].mean() > 0.97 * untaught[:, -200:].mean()
