"""Stores between which nothing keeps them in order may come in any: V is whole all the same (SPEC 15)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from support.orders import Orders
from support.paths import CORE

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
FENCE = "ADAMB_IN_ORDER();"
# Fences without which nothing keeps stores in order: file, which of its fences. At the others the stores
# behind that could do harm depend on what the core reads of the block in between.
NEEDED = [("adamb_prune.c", 0), ("adamb_value.c", 0), ("adamb_call.c", 0)]


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Orders:
    return Orders(tmp_path_factory.mktemp("orders"))


def test_v_is_whole_in_every_order_of_the_stores(orders: Orders, tmp_path: Path) -> None:
    code, line = orders.run(tmp_path, {})
    assert code == 0, line
    looks, reclaims, restarts = map(int, re.findall(r"\d+", line))
    assert looks > 100_000 and reclaims > 100 and restarts > 5, line


@pytest.mark.campaign
@pytest.mark.parametrize("file, number", NEEDED)
def test_a_fence_that_is_left_out_is_noticed(orders: Orders, tmp_path: Path, file: str, number: int) -> None:
    parts = (CORE / file).read_text().split(FENCE)
    changed = FENCE.join(parts[: number + 1]) + ";" + FENCE.join(parts[number + 1 :])
    code, line = orders.run(tmp_path, {file: changed})
    assert code == 1 and line.startswith("BROKEN V of step"), line
