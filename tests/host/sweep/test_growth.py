"""The table `growth` of a sweep file: the same agents told more and more episodes, each length on its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from adamb.budgets.errors import InputError
from adamb.host_sim.sweep.growth import growth_spec
from adamb.host_sim.sweep.reader import parse_spec

FIRST = "problems = ['oil-laplace']\nagents = ['random']\nseeds = 2\nhorizon = 3\n"
GROWTH = """
[growth]
episodes = [10, 30]
seeds = 4
problems = ["oil-quadratic", { name = "oil-laplace", label = "sharp", set = { lam = 50 } }]
agents = [{ name = "epsql", tune = { bonus = [0.1, 1] } }]
"""


def spec(text):
    return parse_spec(FIRST + text, Path("sweep.toml"))


def test_every_length_is_a_part_of_its_own():
    found = growth_spec(spec(GROWTH))
    assert {(cell.problem_label, cell.episodes) for cell in found.cells} == {
        (f"{label}, K = {episodes}", episodes)
        for label in ("oil-quadratic", "sharp")
        for episodes in (10, 30)
    }
    assert found.seeds == [0, 1, 2, 3] and {cell.horizon for cell in found.cells} == {3}
    sizes = {cell.episodes: cell.with_choice(next(cell.choices())).build()[1]().size for cell in found.cells}
    assert sizes[10] < sizes[30], "a grid is sized for the episodes that it is told"


def test_a_file_without_the_table_has_no_second_part():
    assert growth_spec(spec("")) is None


@pytest.mark.parametrize("episodes", ["[30, 10]", "[10]", "[10, 'many']", "100", "[0, 10]", "[10, 10]"])
def test_lengths_that_do_not_grow_are_refused(episodes):
    with pytest.raises(InputError, match="two or more growing numbers"):
        growth_spec(spec(GROWTH.replace("[10, 30]", episodes)))
