"""The promise of test_stores.py for the code that boards run: its compiler may order stores as it likes."""

from __future__ import annotations

from collections import Counter

import pytest

from adamb.tools.device.settings import DeviceSettings
from support.stores import MODES, SIZES
from support.stores_compiled import PERIOD, play

for package in ("ziglang", "unicorn", "elftools"):
    pytest.importorskip(package, reason="pip install adamb[device]")

STEPS = 4 * PERIOD
"""Of each controller: past the turn of the rewards, which comes after three steps an episode."""
SEED = 7


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}+{size[1]}")
def test_act_between_any_two_stores_of_the_compiled_code_finds_an_action(size: tuple) -> None:
    d_s, d_a, more_words = size
    events, stores, moved, walks = Counter(), 0, 0, 0
    for number, mode in enumerate(MODES):
        settings = DeviceSettings(d_s, d_a, 3, seed=number + 1, **mode)
        found, happened = play(
            settings, more_words, seed=SEED, steps=STEPS, target="cortex-m0", optimise="size"
        )
        assert found.refused == found.wrong == found.walks_wrong == 0, f"{mode}, seed {SEED}"
        assert found.acts == 4 * found.stores
        events += happened
        stores, moved, walks = stores + found.stores, moved + found.as_after, walks + found.walks
    assert stores > 10 * STEPS * len(MODES) and moved > 0 and walks > 1000
    assert events["restarts"] > 0 and events["reclaims"] > 0, f"seed {SEED}: {events}"
