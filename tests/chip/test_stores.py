"""What an interrupt handler may expect that acts in the middle of observe; docs/chip.md says it in words."""

from __future__ import annotations

import pytest

from adamb.tools.device.settings import DeviceSettings
from support.stores import BOTH, MODES, SIZES, play

pytest.importorskip("ziglang", reason="pip install adamb[device]")

STEPS = 2800
"""Of each controller: 100,800 calls of observe in all."""
SEED = 7


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}+{size[1]}")
def test_act_between_any_two_stores_ends_with_an_action_and_is_never_refused(size: tuple) -> None:
    d_s, d_a, more_words = size
    stores = acts = wrong = moved = walks = walks_wrong = 0
    for number, mode in enumerate(MODES):
        settings = DeviceSettings(d_s, d_a, 3, seed=number + 1, **mode)
        found = play(settings, more_words, seed=SEED, steps=STEPS, which=BOTH)
        assert found.refused == 0, f"{mode}, seed {SEED}"
        told = found.as_before + found.as_after + found.in_a_tree + found.passing + found.wrong
        assert told == found.acts == 4 * found.stores
        stores, acts = stores + found.stores, acts + found.acts
        wrong, moved = wrong + found.wrong, moved + found.as_after
        walks, walks_wrong = walks + found.walks, walks_wrong + found.walks_wrong
    assert wrong == 0, f"seed {SEED}: {wrong} of {acts}"
    assert walks_wrong == 0 and walks > 1000, f"seed {SEED}: {walks_wrong} of {walks}"
    assert stores > 10 * STEPS * len(MODES) and moved > 0
