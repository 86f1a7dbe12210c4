"""Every switch of the float64 reference does what it names, and the contract of an agent is kept."""

from __future__ import annotations

import gc
import re
import sys

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.agents.reference.settings import DEVIATIONS, make_settings
from support.paths import ROOT
from support.reference_runs import drive, make, visit


def test_a_border_state_is_in_both_halves_only_when_cells_are_closed():
    for cells, expected in (("half-open", [0.75]), ("closed", [0.25])):
        agent = make(horizon=1, bonus=0.0, gamma=2, phi=1, cells=cells)
        visit(agent, 0, [0.5], 0.4, [0.0])
        for row, favourite in zip(agent.learners[0].roots[0].children, (0, 1), strict=True):
            for ball in row:
                ball.q = (0.9 if favourite == 0 else 0.8) if ball.action_index == (favourite,) else 0.1
        assert agent.act(0, np.array([[0.5]]))[0].tolist() == expected


@pytest.mark.parametrize(("ties", "expected"), [("low", 0.25), ("high", 0.75)])
def test_equal_balls_go_to_the_named_end(ties, expected):
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
        ball = learner.played[0][0]
        low, high = ([(i + side) * 0.5**ball.level for i in ball.action_index] for side in (0, 1))
        assert all(a <= x < b for a, x, b in zip(low, action, high, strict=True))
        seen.add(action[0] == (low[0] + high[0]) / 2)
    assert seen == {False}


def test_the_authors_preset_is_every_deviation_and_leaves_c_free():
    authors, listed = (
        make_settings(1, 1, 5, 2000, {"deviations": named, "bonus": 1.5}) for named in ("authors", list(DEVIATIONS))
    )
    assert authors == listed and authors.bonus == 1.5


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"mode": "papers"}, "mode"),
        ({"bonus": -1}, "bonus"),
        ({"gamma": 0.5}, "gamma"),
        ({"delta": 2}, "delta"),
        ({"action": "center"}, "action"),
        ({"share": "on"}, "option of agent adamb (reference)"),
        ({"deviations": "author"}, "deviations"),
        ({"deviations": "authors", "bonus": "theory"}, "bonus"),
        ({"deviations": "gamma-2", "gamma": 3}, "gamma"),
        ({"budget_bytes": 4096}, "budget"),
    ],
)
def test_bad_options_name_the_field(options, field):
    with pytest.raises(InputError) as caught:
        make(**options)
    assert caught.value.field == field


def test_observe_needs_an_act_of_the_same_step():
    agent = make()
    with pytest.raises(InputError, match="needs an act"):
        agent.observe(0, np.array([0.5]), np.array([[0.5]]))


def test_bytes_are_those_of_the_python_objects():
    agent = make(bonus=0.3, envelope=True, gamma=2, phi=1)
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


def test_the_page_about_the_paper_explains_every_deviation():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\| `([\w-]+)` \|", page.split("| deviation |")[1]) == list(DEVIATIONS)
