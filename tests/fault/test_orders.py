"""Stores between which nothing keeps them in order may come in any: V is whole all the same (SPEC 15)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from support.drivers import Orders

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Orders:
    return Orders(tmp_path_factory.mktemp("orders"))


def test_v_is_whole_in_every_order_of_the_stores(orders: Orders, tmp_path: Path) -> None:
    code, line = orders.run(tmp_path, {})
    assert code == 0, line
    looks, walks, reclaims, restarts = map(int, re.findall(r"\d+", line))
    assert looks > 100_000 and walks > 10_000 and reclaims > 100 and restarts > 5, line
