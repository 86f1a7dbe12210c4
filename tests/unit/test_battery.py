"""How long a battery and a flash last, worked out by hand and done by a store, and what is refused."""

from __future__ import annotations

from array import array
from itertools import pairwise

import pytest

from adamb.budgets.battery import (
    ASSUMED,
    ENDURANCE,
    PAGE_BYTES,
    SECONDS_A_YEAR,
    SECTOR_BYTES,
    Battery,
    Wear,
    parse_charge,
    parse_period,
    parse_save_period,
)
from adamb.budgets.boards import board_names, load_board
from adamb.firmware_model import core, store
from adamb.firmware_model.exact.model import Config
from adamb.firmware_model.host.errors import InputError
from support.command import adamb, refused
from support.flash import Flash


def test_charges_and_periods_are_read_as_people_write_them():
    charges, periods = ("1000mAh", "2.5 Ah", "220MAH", "500µAh"), ("1s", "20 ms", "5min", "1h", ".5us")
    assert [parse_charge(text) for text in charges] == [1000, 2500, 220, 0.5]
    assert [parse_period(text) for text in periods] == [1, 0.02, 300, 3600, 5e-7]


@pytest.mark.parametrize("text", ["", "1000", "mAh", "-5mAh", "0mAh", "1e9mAh", "5 Wh", "1,5Ah", "9" * 80])
def test_what_is_no_charge_is_refused_in_one_line(text):
    with pytest.raises(InputError) as error:
        parse_charge(text)
    assert str(error.value).startswith("battery = ") and "1000mAh" in str(error.value)


@pytest.mark.parametrize("text", ["", "1", "s", "0s", "-1s", "nan s", "1 fortnight", "400000h"])
def test_what_is_no_period_is_refused_in_one_line(text):
    with pytest.raises(InputError) as error:
        parse_period(text)
    assert str(error.value).startswith("period = ") and "20ms" in str(error.value)


def test_a_charge_without_a_period_says_what_is_missing():
    assert Battery.asked(None) is None
    with pytest.raises(InputError, match="1000mAh@1s"):
        Battery.asked("1Ah")


def test_a_microbit_lasts_as_long_as_worked_out_by_hand():
    """4.1 to 4.4 mA for 10 ms of each second, 2.6 uA otherwise."""
    board, battery = load_board("microbit"), Battery(1000, 1)
    low, high = battery.average_ua(board, (0.01, 0.01))
    assert low == pytest.approx(0.01 * 4100 + 0.99 * 2.6) and high == pytest.approx(0.01 * 4400 + 0.99 * 2.6)
    assert battery.hours(board, (0.01, 0.01)) == pytest.approx((1e6 / high, 1e6 / low))
    content = battery.to_json(board, (0.01, 0.01))
    assert content["hours"] == pytest.approx([1e6 / high, 1e6 / low]) and content["assumed"] == ASSUMED
    assert battery.sentence(board, (0.01, 0.01), "mean").startswith("1000 mAh last 2.45 to 2.62 years")


@pytest.mark.parametrize("name", board_names())
def test_a_longer_period_never_shortens_the_life_and_work_does(name):
    board = load_board(name)
    lives = [Battery(1000, period).hours(board, (0.001, 0.002)) for period in (0.01, 0.1, 1, 100)]
    assert all(one[0] <= other[0] and one[1] <= other[1] for one, other in pairwise(lives))
    assert all(low <= high for low, high in lives)
    busier = Battery(1000, 1).hours(board, (0.1, 0.2))
    assert busier[0] < lives[2][0]


def test_a_period_shorter_than_the_calls_is_refused():
    with pytest.raises(InputError, match="choose a longer one"):
        Battery(1000, 0.001).hours(load_board("pico"), (0.0005, 0.002))


def test_the_current_per_megahertz_is_the_active_current_by_the_clock():
    board = load_board("microbit")
    assert board.current_ua_per_mhz == pytest.approx((4100 / 16, 4400 / 16))
    assert board.to_json()["current_ua_per_mhz"] == pytest.approx([256.25, 275])


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
    code, out, _ = adamb(capsys, *PLAN, "--budget", "4KiB", "--save-every", "1h,64KiB")
    assert code == 0
    assert "8,766" in out and "erases of every sector a year" in out and "years" in out


def test_a_store_that_is_too_small_is_one_line(capsys):
    error = refused(capsys, *PLAN, "--budget", "4KiB", "--save-every", "1h,8KiB")
    assert "store = 8192" in error and "a block of 4096 bytes need at least 16384 bytes" in error
    assert "or set a --budget" in error
