"""The type check of device Python knows what boards lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from adamb.tools.device.extras import DeviceToolFailed
from adamb.tools.device.micropython.stubs import check, stubs_folder

pytest.importorskip("mypy", reason="pip install adamb[dev]")


@pytest.fixture(scope="module", autouse=True)
def _stubs() -> None:
    try:
        stubs_folder()
    except DeviceToolFailed as error:
        pytest.skip(f"the stubs cannot be installed here: {error}")


def test_what_boards_have_passes(tmp_path: Path) -> None:
    source = tmp_path / "good.py"
    source.write_text(
        "import time\nfrom array import array\nfrom micropython import const\n_X = const(5)\n"
        "def f(a: int) -> int:\n    b = array('H', [a, _X])\n    b[0] = a\n    time.ticks_us()\n"
        "    return b[1]\n"
    )
    assert check({source.name: source}) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("import dataclasses", "dataclasses"),
        ("from array import array\narray('H', [1]).tobytes()", "tobytes"),
        ("from array import array\narray('H', [1]).itemsize", "itemsize"),
        ("import time\ntime.monotonic()", "monotonic"),
        ("(5).bit_length()", "bit_length"),
    ],
)
def test_what_boards_lack_is_refused(tmp_path: Path, line: str, complaint: str) -> None:
    source = tmp_path / "bad.py"
    source.write_text(line + "\n")
    found = check({source.name: source})
    assert len(found) == 1
    assert complaint in found[0]
