"""The wear that `adamb plan` prints is what a store really does to its flash."""

from __future__ import annotations

from array import array

import pytest

from adamb.budgets.errors import InputError
from adamb.budgets.wear import ENDURANCE, PAGE_BYTES, SECONDS_A_YEAR, SECTOR_BYTES, Wear, parse_save_period
from adamb.firmware_model import core, store
from support.command import adamb, refused
from support.exact.model import Config
from support.flash import Flash

PLAN = ["plan", "--dims", "1+1", "--horizon", "5", "--episodes", "2000", "--no-costs"]


@pytest.mark.parametrize(("block_bytes", "sectors"), [(1024, 4), (2048, 5), (4096, 8), (8192, 9)])
def test_every_sector_is_erased_as_often_as_foretold(block_bytes, sectors):
    wear = Wear(block_bytes, sectors * SECTOR_BYTES, 60.0)
    block = array("H", [0] * (block_bytes // 2))
    config = Config(d_s=1, d_a=1, horizon=5)
    fields = config.as_dict() | {"thresholds": array("H", config.thresholds)}
    assert not isinstance(core.init(core.Config(**fields), block), int)
    flash = Flash(PAGE_BYTES, SECTOR_BYTES, sectors)
    opened = store.open(flash, len(block))
    rounds = 3
    for _ in range(rounds * wear.slots):
        assert opened.save(block) >= 0
    used = [erases for erases in flash.erases if erases]
    assert set(used) == {rounds}, flash.erases
    assert wear.erases_a_year == pytest.approx(SECONDS_A_YEAR / 60 / wear.slots)
    assert wear.years == pytest.approx(ENDURANCE / wear.erases_a_year)


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("10min", 600), ("1.5h", 5400), ("1d", 86400)])
def test_periods_are_read(text, seconds):
    assert parse_save_period(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "0s", "0.5s", "h", "-1h", "400d", "1 fortnight"])
def test_a_wrong_period_is_refused(text):
    with pytest.raises(InputError, match="save-every"):
        parse_save_period(text)


def test_plan_prints_the_wear(capsys):
    code, out, _ = adamb(capsys, *PLAN, "--budget", "4KiB", "--save-every", "1h", "--store", "64KiB")
    assert code == 0
    assert "8,766" in out and "erases of every sector a year" in out and "years" in out


def test_a_store_that_is_too_small_is_one_line(capsys):
    error = refused(capsys, *PLAN, "--budget", "4KiB", "--save-every", "1h", "--store", "8KiB")
    assert "store = 8192" in error and "a block of 4096 bytes need at least 16384 bytes" in error
    assert "raise --store, or set a --budget" in error
