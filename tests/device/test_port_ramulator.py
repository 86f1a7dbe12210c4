"""The row policy for Ramulator 2, compiled against a declaration of its interface and driven through it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from adamb.tools.cli import main
from support.building import need, ran
from support.command import refused

SAMPLES = Path(__file__).parent / "samples"
HEADERS = ("base/param.h", "controller/controller_base.h", "controller/rowpolicy/i_row_policy.h")
HALF = 0.5


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory):
    """bank(timeout, gap, changing, accesses) plays them against the exported policy and returns what was counted."""
    need("cc", "c++")
    folder = tmp_path_factory.mktemp("ramulator") / "adamb"
    assert main(["port", "--runtime", "ramulator2", "--out", str(folder)]) == 0
    for header in HEADERS:
        path = folder / "ramulator" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#include "ramulator2.h"\n')
    shutil.copy(SAMPLES / "ramulator2_driver.cpp", folder)
    ran("cc", "-std=c99", "-O1", "-c", *sorted(folder.glob("*.c")), folder=folder)
    strict = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{SAMPLES}"]
    ran("c++", *strict, "ramulator2_driver.cpp", *sorted(folder.glob("*.o")), "-o", "bank", folder=folder)

    def play(*arguments: int) -> dict[str, float]:
        lines = ran(folder / "bank", *map(str, arguments), folder=folder).splitlines()
        assert lines[0] == "registered AdaMBTimeout"
        return {name: float(value) for name, value in (line.split() for line in lines[1:])}

    return play


@pytest.mark.parametrize(
    ("timeout", "changing", "expected"),
    [(100, 0, "closed"), (1000, 0, "hits"), (100, 1, "closed"), (1000, 1, "conflicts")],
)
def test_a_fixed_timeout_makes_hits_misses_and_conflicts(bank, timeout, changing, expected):
    found = bank(timeout, 300, changing, 1000)
    assert found[expected] >= 999
    assert found["adamb_timeout_avg"] == timeout
    reward = {"hits": 1, "closed": HALF, "conflicts": 0}[expected]
    assert found["adamb_reward_avg"] == pytest.approx(reward, abs=0.01)
    assert (found["adamb_rows_closed"] > 900) == (expected == "closed")


@pytest.mark.parametrize("changing", [0, 1])
def test_it_learns_to_keep_rows_that_return_and_to_close_the_others(bank, changing):
    found = bank(-1, 300, changing, 30_000)
    best, reward = ("closed", HALF) if changing else ("hits", 1)
    assert found[best] >= 0.98 * 30_000
    assert found["adamb_reward_avg"] >= 0.98 * reward


def test_other_dimensions_are_refused(tmp_path, capsys):
    says = refused(capsys, "port", "--runtime", "ramulator2", "--dims", "2+1", "--out", tmp_path / "no")
    assert "dims" in says and "2+1" in says and "1+1" in says
