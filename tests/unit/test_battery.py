"""How long a battery lasts, worked out by hand, and what is refused."""

from __future__ import annotations

from itertools import pairwise

import pytest

from adamb.budgets.battery import ASSUMED, Battery, parse_charge, parse_period
from adamb.budgets.boards import board_names, load_board
from adamb.budgets.errors import InputError


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


def test_one_option_without_the_other_says_which_is_missing():
    assert Battery.asked(None, None) is None
    with pytest.raises(InputError, match="add --period"):
        Battery.asked("1Ah", None)
    with pytest.raises(InputError, match="add --battery"):
        Battery.asked(None, "1s")


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
