"""The core under the address and undefined-behaviour sanitizers: random runs, damage, a pool that refuses.

Every failure names the case; `driver runs CASE 1 STEPS` (or damage, refuse) replays it.
"""

from __future__ import annotations

import re

import pytest

from support.campaigns import few


def test_random_runs_stay_inside_the_block_and_account_for_every_unit(driver):
    out = driver("runs", 1, 400, 600)
    assert "400 runs, 240000 steps" in out


@pytest.mark.campaign
def test_many_and_long_random_runs_stay_inside_the_block_and_account_for_every_unit(driver, build_driver):
    driver("runs", 10_000, 2500, 1500)
    driver("runs", 20_000, 60, 40_000)
    build_driver("-DADAMB_HAS_DIVIDE")("runs", 30_000, 1000, 1500)


def test_the_check_ends_on_damaged_blocks_and_what_it_accepts_stays_inside_the_block(driver):
    out = driver("damage", 1, 120, 500)
    found, harmless = map(int, re.findall(r"\d+", out)[:2])
    assert found > 1000 and harmless > 1000, "both kinds must occur for the test to mean something"


@pytest.mark.campaign
def test_the_check_ends_on_many_damaged_blocks(driver):
    driver("damage", 40_000, 2000, 700)


@pytest.mark.parametrize("case", few(range(1, 13), 4))
def test_a_pool_that_refuses_any_one_request_leaves_a_consistent_state(driver, case):
    refused = int(re.search(r"every one of (\d+) requests", driver("refuse", case, 200))[1])
    assert refused > 0


@pytest.mark.campaign
def test_a_pool_that_refuses_any_one_request_leaves_a_consistent_state_in_many_configurations(driver):
    for case in range(100, 130):
        driver("refuse", case, 250)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_controller_of_1_kib_runs_a_million_steps(driver, seed):
    out = driver("long", seed, 1024, 1_000_000)
    assert "200000 episodes" in out
    assert int(re.search(r"(\d+) reclaims", out)[1]) > 100
