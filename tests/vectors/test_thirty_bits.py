"""Every intermediate stays below 2^30, so that no MicroPython port allocates (SPEC 4.9)."""

from __future__ import annotations

import math
import random

import pytest

from adamb.firmware_model import _spec as spec
from support.exact import numbers as num
from support.exact.bounded import LIMIT, Bounded
from support.exact.model import Config, thresholds
from support.exact.plant import plant
from support.exact.reference import Exact, init, required_words

EXTREMES = [
    {"horizon": 7, "bonus": 32767},
    {"horizon": 7, "paper": 1, "own": 1, "bonus": 32767},
    {"horizon": 31, "share": 1, "auto_bonus": 1},
    {"horizon": 2, "paper": 1, "d_s": 2, "d_a": 2, "bonus": 32767},
    {"horizon": 15, "share": 2, "detect": 1, "d_s": 3, "random_action": 1},
    {"horizon": 5, "share": 2, "detect": 1, "d_a": 3, "paper": 1},
]


def drive(controller: Exact, config: Config, seed: int, episodes: int) -> None:
    draw = random.Random(seed).random
    extreme = (0, 1, 32767, 32768, 65534, 65535)

    def coordinate() -> Bounded:
        return Bounded(extreme[int(draw() * 6)] if draw() < 0.5 else int(draw() * 65536))

    for episode in range(episodes):
        for h in range(config.horizon):
            controller.act(h, [coordinate() for _ in range(config.d_s)], [0] * config.d_a)
            controller.observe(h, coordinate(), [coordinate() for _ in range(config.d_s)])
        controller.end_episode()
        if episode % 8 == 7:
            plant(controller.m, draw)


@pytest.mark.parametrize("fields", EXTREMES, ids=lambda fields: "-".join(f"{k}{fields[k]}" for k in fields))
def test_no_intermediate_needs_more_than_30_bits(fields: dict[str, int]) -> None:
    config = Config(**fields, thresholds=thresholds(1, 1, 1))
    controller = init(config, required_words(config) + 4 * 150, Bounded)
    assert isinstance(controller, Exact)
    Bounded.largest = 0
    drive(controller, config, seed=12, episodes=160 // config.horizon + 32)
    print(f"largest intermediate: 2^{math.log2(Bounded.largest):.2f}")
    assert Bounded.largest > 1 << 27, "the limits were not reached: nothing was tested"


def test_the_largest_sum_of_counts_times_values_fits() -> None:
    """Distinct cells with full counts at the highest value: the first row of the table of bounds."""
    for depth in range(1, 15):
        cells, most = 1 << depth, (1 << (15 - depth)) - 1
        total = Bounded(0)
        for _ in range(cells):
            total = total + Bounded(most) * spec.VALUE_MAX
        assert 0 < total < LIMIT


def test_the_arithmetic_fits_over_its_whole_range() -> None:
    reciprocal = [Bounded(x) for x in num.RECIPROCAL]
    roots = [Bounded(x) for x in num.INVERSE_ROOT]
    for total in range(124, 256):
        assert num.mean(Bounded(total * spec.VALUE_MAX), total, reciprocal) <= spec.VALUE_MAX + 1
    for weight in range(1, 8 * spec.N_MAX + 1):
        num.bonus(Bounded(spec.BONUS_MAX), weight, roots)
    for f in (10, 11, 12):
        assert Bounded(65536) << f < LIMIT
    assert num.blend(Bounded(0), Bounded(65535), Bounded(spec.N_MAX), 2 * spec.N_MAX) <= 65535
    assert num.blend(Bounded(0), Bounded(32767), Bounded(4 * spec.N_MAX), 8 * spec.N_MAX) <= 32767


def test_shifted_weights_stay_inside_the_table_of_reciprocals() -> None:
    """Four counts, or two weights, cut by the shift of their total never leave 124 … 255."""
    draw = random.Random(13).random
    for _ in range(20000):
        scale = 1 << int(draw() * 15)
        counts = [int(draw() * scale) for _ in range(4)]
        if not sum(counts):
            continue
        s = num.shift(sum(counts))
        assert 124 <= sum(num.shifted(count, s) for count in counts) <= 255, counts


def test_generated_tables_follow_their_formulas() -> None:
    for table, formula in ((spec.RECIPROCAL, num.RECIPROCAL), (spec.INVERSE_ROOT, num.INVERSE_ROOT)):
        assert [low | high << 8 for low, high in zip(table[::2], table[1::2], strict=True)] == formula
