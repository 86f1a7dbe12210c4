"""Baselines cost the bytes they claim, keep a budget, and refuse by name what they cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.firmware_model.host.errors import BudgetExceeded, InputError
from adamb.host_sim.baselines.action_zoom import ActionZooming
from adamb.host_sim.baselines.bandit import ArmBandit
from adamb.host_sim.baselines.cmac import TileSarsa
from adamb.host_sim.baselines.grid import NetQLearning
from adamb.host_sim.baselines.model import GridUCBVI, KernelUCBVI
from adamb.host_sim.baselines.tree import AdaptiveQLearning, ContextualZooming
from support.baselines import BASELINES, build, play


@pytest.mark.parametrize(
    ("cls", "arguments", "expected"),
    [
        # header 16 + 5 roots of 4 bytes; the root of step 0 divides into 4 children of 4 bytes.
        (AdaptiveQLearning, {"horizon": 5}, 16 + 4 * (5 + 4)),
        # shared: one root, five values and a count in each of 1 + 4 nodes.
        (AdaptiveQLearning, {"horizon": 5, "share": "on"}, 16 + 12 * (1 + 4)),
        # lazy: four parts of the state side only.
        (AdaptiveQLearning, {"horizon": 5, "d_s": 2, "d_a": 2}, 16 + 4 * (5 + 4)),
        (ContextualZooming, {"horizon": 5}, 16 + 4 * (1 + 4)),
        (NetQLearning, {"horizon": 5, "size": 6}, 16 + 5 * 36 * 4),
        (NetQLearning, {"horizon": 5, "size": 6, "share": "on"}, 16 + 36 * 12),
        (GridUCBVI, {"horizon": 5, "size": 6}, 16 + 5 * 36 * 6 + 4 * 36 * 6),
        (GridUCBVI, {"horizon": 5, "size": 6, "counts": "sparse"}, 16 + 5 * 36 * 6 + 4 * 36 * 4),
        (GridUCBVI, {"horizon": 5, "size": 6, "share": "on"}, 16 + 36 * (5 * 2 + 4 + 6)),
        (KernelUCBVI, {"horizon": 5, "size": 6}, 16 + 6 * 2 + 5 * 36 * 6 + 4 * 36 * 6),
        (TileSarsa, {"horizon": 5, "size": 4, "tilings": 8}, 16 + 5 * 8 * 25 * 2),
        (TileSarsa, {"horizon": 5, "budget": 1024}, 16 + 5 * 4 * 25 * 2),
        (TileSarsa, {"horizon": 5, "size": 4, "tilings": 8, "share": "on"}, 16 + 8 * 25 * 2),
        (ArmBandit, {"horizon": 5}, 12 + 22 * 4),
        (ActionZooming, {"horizon": 1}, 16 + 4 * (1 + 2)),
        (ActionZooming, {"horizon": 1, "d_a": 3}, 16 + 4 * (1 + 8)),
        (ArmBandit, {"horizon": 5, "size": 5, "d_a": 2}, 12 + 25 * 4),
    ],
)
def test_bytes_after_one_sample_are_the_sum_of_the_layout(cls, arguments, expected):
    agent = build(cls, **arguments)
    agent.act(0, np.full((1, agent.d_s), 0.3))
    agent.observe(0, np.array([0.5]), np.full((1, agent.d_s), 0.3))
    assert agent.bytes_used().tolist() == [expected]
    assert agent.bytes_peak().tolist() == [expected]


@pytest.mark.parametrize("cls", [NetQLearning, GridUCBVI, KernelUCBVI, ArmBandit])
def test_without_a_size_the_largest_that_fits_is_taken(cls):
    agent = build(cls, horizon=5, budget=700)
    assert agent.table_bytes(agent.size) <= 700 < agent.table_bytes(agent.size + 1)


OPTIONS = {
    AdaptiveQLearning: {
        "when_full": ["freeze", "reclaim"], "share": ["on", "off", "stepless"], "layout": ["eager", "lazy"],
        "phi": [0.1, 1], "size": [None, 40],
    },
    ContextualZooming: {"when_full": ["freeze", "reclaim"], "share": ["on", "off"], "phi": [0.1, 1]},
    NetQLearning: {"share": ["on", "off"], "actions": [None, 3]},
    GridUCBVI: {"share": ["on", "off"], "counts": ["dense", "sparse"], "planning": ["full", "one-step"]},
    KernelUCBVI: {"share": ["on", "off"], "counts": ["dense", "sparse"], "planning": ["full", "one-step"]},
    TileSarsa: {"tilings": [1, 4, 8], "size": [2, 8], "share": ["on", "off"]},
    ArmBandit: {"share": ["on", "off"], "hold": ["step", "episode"]},
    ActionZooming: {"when_full": ["freeze", "reclaim"], "phi": [0.1, 1]},
}  # fmt: skip


@st.composite
def capped_agents(draw):
    cls = draw(st.sampled_from(BASELINES))
    options = {name: draw(st.sampled_from(values)) for name, values in OPTIONS[cls].items()}
    options = {name: value for name, value in options.items() if value is not None}
    shape = {"d_s": draw(st.integers(1, 3)), "d_a": draw(st.integers(1, 3)), "horizon": draw(st.integers(1, 6))}
    return cls, shape, draw(st.integers(1, 6000)), options


@settings(max_examples=400, deadline=None)
@given(capped_agents(), st.integers(0, 2**32 - 1))
def test_a_budget_is_never_exceeded(case, seed):
    cls, shape, budget, options = case
    try:
        agent = build(cls, seeds=(seed, seed + 1), budget=budget, **shape, **options)
    except BudgetExceeded as error:
        assert error.required > error.available == budget
        return
    for _h, _states, actions, _rewards, _following in play(agent, 25, seed):
        assert ((actions >= 0) & (actions <= 1)).all()
        assert (agent.bytes_used() <= budget).all()
    assert (agent.bytes_used() <= agent.bytes_peak()).all() and (agent.bytes_peak() <= budget).all()


@pytest.mark.parametrize("layout", ["eager", "lazy"])
def test_adaql_reclaims_when_full_and_freezes_when_told(layout):
    counters = {}
    for when_full in ("freeze", "reclaim"):
        agent = build(AdaptiveQLearning, budget=250, when_full=when_full, layout=layout, bonus=0.5)
        for _ in play(agent, 800):
            pass
        counters[when_full] = {name: int(value[0]) for name, value in agent.stats().items()}
    assert counters["freeze"]["reclaims"] == 0 < counters["freeze"]["refused_splits"]
    assert counters["reclaim"]["reclaims"] > 0


@pytest.mark.parametrize("cls", BASELINES)
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"bonus": -1}, "bonus"),
        ({"bonus": "much"}, "bonus"),
        ({"bonus": float("nan")}, "bonus"),
        ({"size": 0}, "size"),
        ({"size": 2.5}, "size"),
        ({"d_s": 4}, "d_s"),
        ({"d_a": 0}, "d_a"),
        ({"budget": 0}, "budget_bytes"),
        ({"bnous": 1}, "bnous"),
    ],
)
def test_bad_options_are_refused_by_name(cls, arguments, field):
    with pytest.raises(InputError) as caught:
        build(cls, **arguments)
    assert field in str(caught.value)


def test_without_size_and_budget_the_net_is_the_papers():
    assert build(NetQLearning, horizon=5, episodes=2000).size == 10
    assert build(GridUCBVI, horizon=5, episodes=2000, d_s=2, d_a=2).size == 5
