"""The bounds against the compiled core: never exceeded, and reached by an adversary to nine tenths."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets.bounds.layout import Layout
from adamb.budgets.bounds.units import OBJECTIVES, ControllerBound, TreeUnits, reclaim_mark
from adamb.budgets.planner import PlannedJob
from support.bounds import RealCore, attack, attack_held, schedule


def measured(core: RealCore) -> dict[str, int]:
    ledger = core.ledger()
    kinds = {"records": "records", "blocks": "routing", "counts": "counts", "values": "values"}
    found = {kind: ledger.bytes[owner] // 8 for kind, owner in kinds.items()}
    return {**found, "units": ledger.pool_units, "entries": ledger.entries, "leaves": ledger.leaves}


def exceeded(core: RealCore, bound: ControllerBound, episodes: int) -> list[str]:
    """Every quantity above its bound, in words."""
    found = measured(core)
    limits = {kind: bound.most(kind, episodes) for kind in OBJECTIVES}
    limits["leaves"] = bound.forest.leaves(episodes)
    return [f"{kind}: {found[kind]} > {limits[kind]}" for kind in limits if found[kind] > limits[kind]]


ATTACKS = [
    (1, 1, 3, 1, "own", 2000),
    (1, 1, 3, 5, "own", 2000),
    (1, 1, 2, 1, "inherited", 2000),
    (1, 1, 2, 1, "inherited", 300),
    (1, 2, 2, 1, "inherited", 1000),
    (2, 1, 2, 1, "inherited", 1000),
    (2, 2, 2, 1, "inherited", 1000),
]


@pytest.mark.parametrize("mode", ["tracking", "paper"])
@pytest.mark.parametrize(("d_s", "d_a", "gamma", "phi", "split", "episodes"), ATTACKS)
def test_an_adversary_reaches_nine_tenths_of_the_bounds_on_leaves_and_units_and_no_more_than_all(
    d_s, d_a, gamma, phi, split, episodes, mode
):
    layout = Layout(d_s, d_a, 1, mode)
    rule = layout.rule(gamma, phi, split)
    bound = ControllerBound(layout, rule, "off")
    for for_leaves in (True, False):
        core = RealCore(layout, rule, "off", freeze=True, bonus=4096)
        played = attack(core, schedule(TreeUnits(layout, rule, 1), episodes, for_leaves=for_leaves))
        assert played <= episodes
        assert exceeded(core, bound, episodes) == []
        found = measured(core)
        if for_leaves:
            assert found["leaves"] >= 0.9 * bound.forest.leaves(episodes)
        else:
            # Beyond 1+1 dimensions the attack does not use the blocks of cheap early splits to the full.
            least = 0.6 if layout.d > 2 and rule.rule == "early" else 0.9
            assert found["units"] >= least * bound.units(episodes)


@pytest.mark.parametrize("share", ["on", "auto"])
@pytest.mark.parametrize(("gamma", "split"), [(2, "inherited"), (3, "own")])
@pytest.mark.parametrize("d_a", [1, 2, 3])
def test_an_adversary_reaches_nine_tenths_of_the_bound_on_the_held_step_and_no_more_than_all(d_a, gamma, split, share):
    layout, episodes = Layout(2, d_a, 3), 400
    rule = layout.rule(gamma, 1, split)
    held = TreeUnits(layout.held, rule.held(d_a), 0)
    core = RealCore(layout, rule, share, freeze=True, bonus=4096)
    assert attack_held(core, schedule(held, episodes, for_leaves=False)) <= episodes
    used = core.ledger().bytes["held partition"] // 8
    assert 0.9 * held.bound(episodes) <= used <= held.bound(episodes)
    assert exceeded(core, ControllerBound(layout, rule, share), episodes) == []


def play_and_check(d_s, d_a, gamma, phi, split, share, mode, spread, seed):
    """States anywhere or in a corner, random rewards; the controller chooses its actions."""
    layout = Layout(d_s, d_a, 3, mode)
    rule = layout.rule(gamma, phi, split)
    core, bound = RealCore(layout, rule, share), ControllerBound(layout, rule, share)
    draw = random.Random(seed)
    for episode in range(1, 201):
        state = [draw.getrandbits(16) >> spread for _ in range(d_s)]
        for h in range(3):
            core.act(h, state)
            state = [draw.getrandbits(16) >> spread for _ in range(d_s)]
            core.observe(h, draw.getrandbits(16), state)
        core.end_episode()
        if episode in (1, 2, 5, 20, 200):
            assert exceeded(core, bound, episode) == [], f"seed {seed}, episode {episode}"
            ledger = core.ledger()
            assert ledger.total == 2 * len(core.words)
            assert ledger.bytes["unclaimed"] == 0, f"seed {seed}, episode {episode}"


CONFIGURATIONS = {
    "d_s": st.integers(1, 3),
    "d_a": st.integers(1, 3),
    "gamma": st.sampled_from([1, 1.5, 2, 3]),
    "phi": st.sampled_from([0.7, 1, 2.5, 5]),
    "split": st.sampled_from(["own", "inherited"]),
    "share": st.sampled_from(["off", "on", "auto"]),
    "mode": st.sampled_from(["tracking", "paper"]),
    "spread": st.sampled_from([0, 12, 15]),
    "seed": st.integers(0, 2**31),
}


@given(**CONFIGURATIONS)
@settings(max_examples=5, deadline=None)
def test_no_run_of_the_core_exceeds_any_bound(**values):
    play_and_check(**values)


def test_the_first_visit_behind_a_routing_block_counts_as_one_sample():
    """1+2, two samples: 3 units for the split root, 2 for its first child with its block; 4 was certified."""
    layout = Layout(1, 2, 1)
    assert TreeUnits(layout, layout.rule(2, 1, "own"), 1).bound(2) == 5


@pytest.mark.parametrize("mode", ["tracking", "paper"])
@pytest.mark.parametrize("share", ["off", "on", "auto"])
def test_a_block_of_the_certified_size_never_reclaims_under_attack(mode, share):
    layout = Layout(1, 1, 3, mode)
    rule = layout.rule(3, 1, "own")
    bound = ControllerBound(layout, rule, share)
    episodes = 600
    core = RealCore(layout, rule, share, words=bound.block_bytes(episodes) // 2)
    attack(core, schedule(TreeUnits(layout, rule, 1), episodes, for_leaves=False))
    assert [core.header(name) for name in ("refused", "no_room", "reclaims")] == [0, 0, 0]


@pytest.mark.parametrize("split", ["own", "inherited"])
def test_the_cap_can_bind_where_the_planner_says_and_not_before(split):
    """Attacks just long enough to fill a block eat into its reserve; those the planner calls safe do not."""
    layout = Layout(1, 1, 1)
    rule = layout.rule(2, 1, split)
    bound = ControllerBound(layout, rule, "off")
    budget = 2048
    first = bound.first_binding_episode(budget)
    assert first is not None
    for episodes, binds in ((first - 1, False), (int(first * 1.2) + 2, True)):
        core = RealCore(layout, rule, "off", words=budget // 2)
        attack(core, schedule(TreeUnits(layout, rule, 1), episodes, for_leaves=False))
        room = core.header("units") - core.header("fresh") + core.header("free_n")
        assert (room < reclaim_mark(core.header("units"))) == binds


@pytest.mark.parametrize("mode", ["tracking", "paper"])
@pytest.mark.parametrize("share", ["off", "on", "auto"])
@pytest.mark.parametrize(("d_s", "d_a", "horizon"), [(1, 1, 1), (1, 1, 5), (2, 2, 5), (3, 3, 31), (1, 3, 7)])
def test_the_planner_knows_what_init_asks_for(d_s, d_a, horizon, share, mode):
    job = PlannedJob(d_s, d_a, horizon, 100, mode, share)
    core = RealCore(job.bound.layout, job.bound.rule, share)
    assert job.minimum_bytes == core.required_bytes
    assert core.header("pool_at") == job.bound.header_units
    assert core.header("scale") >> 8 == job.bound.rule.finest
