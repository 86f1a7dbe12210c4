"""Long lives with power cuts, pools that end, and wrong calls under the sanitizers.

`make campaigns ONLY=soak` is a million episodes.
"""

from __future__ import annotations

import pytest

from adamb.firmware_model.host.binding import ffi, lib
from support import soak
from support.used_blocks import CONFIGS, config_of, play


def test_a_controller_of_1_kib_runs_a_million_steps():
    """And goes on after power cuts as if there had been none; no word beside its block changes."""
    found = soak.lives("1+1, 1 KiB", 200_000, seed=1)
    assert found["episodes"] == 200_000 and found["reclaims"] > 100
    assert min(found[each] for each in ("cuts", "saves", "restarts")) > 0


@pytest.mark.parametrize("name", [name for name in soak.KINDS if name != "1+1, 1 KiB"])
def test_a_life_with_cuts_is_the_life_without(name):
    found = soak.lives(name, 20_000, seed=1)
    assert min(found[each] for each in ("cuts", "saves", "reclaims")) > 0, "each must happen"


@pytest.mark.parametrize("name", CONFIGS)
def test_a_pool_that_ends_at_any_unit_leaves_a_sound_block(name):
    """Whichever request for a unit is the first to be refused."""
    config = config_of(name)
    for units in range(60):
        words = lib.adamb_required_words(config) + 4 * units
        block = ffi.new("uint16_t[]", words)
        assert lib.adamb_init(config, block, words) == 0
        for episode in range(30):
            play(block, config, config.horizon, seed=episode)
            assert lib.adamb_check(block, words) == 0, (units, episode)


def test_the_calls_that_no_run_makes_are_answered_as_documented(build):
    assert "answers as documented" in build("edges")()
