"""Names, ranges and units of a problem: declared once, checked, and kept with a run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adamb.firmware_model import unit
from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import Problem, make_problem
from adamb.host_sim.parameter import Range, declared
from adamb.host_sim.results.run import RunFolder
from support.command import adamb


@pytest.mark.parametrize(
    ("ranges", "complaint"),
    [
        ([("t", 0, 1, "")], "must be a dictionary such as"),
        ({"t": (0, 1, "")}, "must name 1 states, then 1 actions"),
        ({"T": (0, 1, ""), "u": (0, 1, "")}, "small letters"),
        ({"t": (0, 1), "u": (0, 1, "")}, "the values of 0 and of 1 and a unit"),
        ({"t": (0, "x", ""), "u": (0, 1, "")}, "the values of 0 and of 1 and a unit"),
        ({"t": (1, 1, ""), "u": (0, 1, "")}, "two different numbers"),
        ({"t": (0, float("nan"), ""), "u": (0, 1, "")}, "two different numbers"),
        ({"t": (0, 1, "*/"), "u": (0, 1, "")}, "a unit is a short text"),
        ({"t": (0, 1e-320, ""), "u": (0, 1, "")}, "two different numbers"),
        ({"t": (-1e308, 1e308, ""), "u": (0, 1, "")}, "two different numbers"),
        ({"t": (10**9, 10**9 + 1, ""), "u": (0, 1, "")}, "too near to each other"),
    ],
)
def test_a_declaration_that_is_none_is_one_line(ranges, complaint):
    class Own(Problem):
        def dynamics(self, h, states, actions, noise):
            return states[:, 0], states

    Own.ranges = ranges
    with pytest.raises(InputError, match="ranges") as caught:
        Own([1])
    assert complaint in str(caught.value) and "\n" not in str(caught.value)


ENDS = st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-3)


@given(zero=ENDS, width=st.floats(0.01, 1e6), falls=st.booleans())
def test_a_board_can_map_every_range_and_keeps_its_ends(zero, width, falls):
    ends = (zero + width, zero) if falls else (zero, zero + width)
    try:
        each = declared({"a": (*ends, ""), "b": (0, 1, "")}, 1, 1)[0]
    except InputError:
        assert width / max(map(abs, ends)) < 1e-5
        return
    mapped = unit.init(*each.ends)
    assert not isinstance(mapped, int), "not more than 65535 apart"
    assert (mapped.code(each.ends[0]), mapped.code(each.ends[1])) == (0, 65535)
    step = 10.0**-each.exponent
    assert np.allclose(np.array(each.ends) * step, ends, atol=step)
    assert each.coordinate(each.raw(0.25)) == pytest.approx(0.25)


def test_the_finest_power_of_ten_is_taken():
    assert [Range("a", 25, 100, "°C").ends, Range("b", 0, 1e6, "Pa").ends] == [(2500, 10000), (0, 10000)]
    assert (Range("b", 0, 1e6, "Pa").step, Range("c", -1, 1, "").step) == ("100 Pa", "0.0001")


def test_a_plant_plays_in_the_ranges_that_it_declares():
    plant = make_problem("plant-heater", [0])
    plant.begin_episode()
    plant.step(0, np.array([[0.5]]))
    low, high, _ = plant.ranges["temperature"]
    assert plant.info()["sensor"] == pytest.approx(low + (high - low) * plant.state[:, 0])
    assert plant.info()["actuator"] == pytest.approx(50)


def test_ranges_are_listed_and_kept_with_a_run(tmp_path, capsys):
    wanted = {"temperature": [50, 250, "°C"], "duty": [0, 100, "%"]}
    shown = " ".join(adamb(capsys, "list", "problems", "plant-heater")[1].split())
    assert "temperature 50 to 250 °C, duty 0 to 100 %" in shown
    files = ["--out", tmp_path / "run", "--record", "--plot"]
    assert adamb(capsys, "run", "plant-heater", "--episodes", 5, "--seeds", 1, *files)[0] == 0
    assert "temperature 50 to 250 °C" in (tmp_path / "run" / "partition.svg").read_text(), "an axis of the picture"
    recorded = RunFolder.read(tmp_path / "run").recording
    assert recorded.meta["problem"]["ranges"] == wanted
    assert json.loads((tmp_path / "run" / "details.json").read_text())["problem"]["ranges"] == wanted
