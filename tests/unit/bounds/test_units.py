"""Units and bytes: never above the certificate, and the certificate not far above what can happen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets.bounds.layout import Layout
from adamb.budgets.bounds.thresholds import from_thresholds
from adamb.budgets.bounds.units import OBJECTIVES, ControllerBound, TreeUnits, reclaim_mark
from adamb.firmware_model.host.errors import InputError
from support.bounds import balls_of, reachable


def units_of(tree, d_s: int, value_trees: int, mode: str) -> dict[str, int]:
    """Units of a 1+1 controller in the worst arrangement of next states, counted from the layout's
    description."""
    records = blocks = counts = entries = values = 0
    splits: dict[int, int] = {}
    for level, own, split in balls_of(tree):
        cells = 2 ** (d_s * level) if level else 0
        here = min(own, cells) if mode == "paper" else min(own, cells, 4)
        records += own > 0
        blocks += split
        entries += here
        if here > 1:
            counts += (here + 2) // 3 if mode == "paper" else 1
        if split:
            splits[level] = splits.get(level, 0) + 1
    for level, number in splits.items():
        values += (2**d_s - 1) * min(number, 2 ** (d_s * level)) * value_trees
    units = records + blocks + counts + values
    return {
        "units": units, "records": records, "blocks": blocks,
        "counts": counts, "entries": entries, "values": values,
    }  # fmt: skip


@pytest.mark.parametrize("mode", ["tracking", "paper"])
@pytest.mark.parametrize("value_trees", [1, 5])
@pytest.mark.parametrize(
    ("thresholds", "rule", "samples"),
    [
        ((1, 4, 16), "inherited", 13),
        ((1, 4, 16), "early", 11),
        ((2, 10, 50), "early", 12),
        ((1, 8, 64), "own", 15),
        ((2, 4, 8), "own", 12),
        ((5, 20), "own", 16),
    ],
)
def test_no_sequence_of_samples_exceeds_the_certificate_and_the_best_comes_close(
    thresholds, rule, samples, value_trees, mode
):
    layout = Layout(1, 1, 5, mode)
    split_rule = from_thresholds(2, thresholds, rule)
    for k, trees in enumerate(reachable(2, thresholds, rule, samples)):
        found = [units_of(tree, 1, value_trees, mode) for tree in trees]
        for objective in OBJECTIVES:
            most = max(each[objective] for each in found)
            bound = TreeUnits(layout, split_rule, value_trees, objective).bound(k)
            assert most <= bound, f"{objective} after {k} samples"
            one_split = 5 + 3 * value_trees  # the bound allows a fraction of a split
            assert bound <= most * 1.2 + one_split, f"{objective} after {k} samples is too loose"


@pytest.mark.parametrize("d_a", [1, 2])
@pytest.mark.parametrize(("thresholds", "samples"), [((1, 4, 16), 9), ((2, 10), 11)])
def test_no_sequence_of_held_episodes_exceeds_the_certificate_and_the_best_comes_close(thresholds, samples, d_a):
    layout = Layout(3, d_a, 5)
    rule = from_thresholds(layout.d, thresholds, "early").held(d_a)
    for k, trees in enumerate(reachable(d_a, thresholds, "held", samples)):
        found = [units_of(tree, 0, 0, "tracking") for tree in trees]
        for objective in ("units", "records", "blocks"):
            most = max(each[objective] for each in found)
            bound = TreeUnits(layout.held, rule, 0, objective).bound(k)
            assert most <= bound <= most + 2, f"{objective} after {k} samples"
        assert all(TreeUnits(layout.held, rule, 0, kind).bound(k) == 0 for kind in ("counts", "entries", "values"))


@given(
    d_s=st.integers(1, 3),
    d_a=st.integers(1, 3),
    gamma=st.sampled_from([1, 2, 2.5, 3]),
    phi=st.sampled_from([1, 2.5, 5, 20]),
    split=st.sampled_from(["own", "inherited"]),
    share=st.sampled_from(["off", "on", "auto"]),
    mode=st.sampled_from(["tracking", "paper"]),
    episodes=st.integers(0, 5000),
)
@settings(max_examples=15, deadline=None)
def test_bounds_grow_with_episodes_and_units_are_at_most_the_sum_of_their_parts(
    d_s, d_a, gamma, phi, split, share, mode, episodes
):
    layout = Layout(d_s, d_a, 5, mode)
    bound = ControllerBound(layout, layout.rule(gamma, phi, split), share)
    units = bound.units(episodes)
    assert units <= bound.units(episodes + 1)
    parts = sum(bound.most(kind, episodes) for kind in ("records", "blocks", "counts", "values"))
    rounding = 4 * 5  # every part of every tree is rounded down
    assert units <= parts + rounding + (16 if share == "auto" else 0)
    assert bound.most("entries", episodes) <= episodes * 5


@pytest.mark.parametrize("share", ["off", "on", "auto"])
def test_first_binding_episode_is_the_first_at_which_the_certificate_exceeds_the_block(share):
    layout = Layout(1, 1, 5)
    bound = ControllerBound(layout, layout.rule(2, 1, "inherited"), share)
    for budget in (1024, 4096, 10_048):
        first = bound.first_binding_episode(budget)
        assert first is not None
        assert bound.block_bytes(first - 1) <= budget < bound.block_bytes(first)


def test_a_block_of_the_certified_size_stays_above_the_reclaim_mark():
    layout = Layout(1, 1, 5)
    bound = ControllerBound(layout, layout.rule(3, 5, "own"), "off")
    for pool in range(1, 3000, 7):
        total = bound.block_units(pool)
        assert total - bound.header_units - pool >= reclaim_mark(total)
        assert bound.pool_units(total * 8) >= pool


def test_a_job_whose_levels_end_never_binds_a_block_that_holds_them_all():
    layout = Layout(1, 1, 1)
    bound = ControllerBound(layout, layout.rule(13, 1, "own"), "off")
    assert bound.rule.finest == 1
    assert bound.first_binding_episode(4096) is None


def test_routing_blocks_come_with_the_first_visit_behind_them():
    assert Layout(1, 1, 5).child_groups == [(4, 0)]
    assert Layout(2, 2, 5).child_groups == [(4, 1), (12, 0)]
    assert Layout(3, 3, 5).child_groups == [(4, 2), (12, 1), (48, 0)]
    for d_s in (1, 2, 3):
        for d_a in (1, 2, 3):
            groups = Layout(d_s, d_a, 5).child_groups
            assert sum(size for size, _ in groups) == 2 ** (d_s + d_a)
            assert 1 + sum(size * blocks for size, blocks in groups) == sum(4**i for i in range((d_s + d_a + 1) // 2))


@pytest.mark.parametrize(
    ("dims", "field"), [((0, 1, 5), "d_s"), ((1, 4, 5), "d_a"), ((1, 1, 0), "horizon"), ((1, 1, 32), "horizon")]
)
def test_dimensions_outside_the_layout_are_refused(dims, field):
    with pytest.raises(InputError) as caught:
        Layout(*dims)
    assert caught.value.field == field


def test_unknown_objectives_and_negative_samples_are_refused():
    layout = Layout(1, 1, 5)
    bound = ControllerBound(layout, layout.rule(2, 1, "own"))
    with pytest.raises(InputError, match="objective"):
        bound.most("bytes", 10)
    with pytest.raises(InputError, match="samples"):
        TreeUnits(layout, bound.rule, 1).bound(-1)
