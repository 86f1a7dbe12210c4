"""Every sequence of saves and resets on a small storage, with a fault at any call of the storage.

The newest completed save is never lost and no number is given twice: all sequences are tried, none is drawn.
"""

from __future__ import annotations

import re

import pytest

# page, sector, sectors
TWO_SLOTS = (256, 512, 2)
FOUR_SLOTS = (256, 512, 4)
TWO_GROUPS_OF_TWO = (512, 1024, 2)


@pytest.mark.parametrize(
    ("geometry", "operations", "faults"),
    [(TWO_SLOTS, 4, 2), (FOUR_SLOTS, 4, 2), (TWO_GROUPS_OF_TWO, 4, 2), (FOUR_SLOTS, 7, 1)],
)
def test_no_sequence_of_saves_resets_and_faults_loses_the_newest_completed_save(
    build, geometry: tuple[int, ...], operations: int, faults: int
) -> None:
    out = build("store_model", "-O2", sanitized=False)(*geometry, operations, faults)
    assert out.endswith("0 losses\n"), out
    found = re.match(r"(\d+) sequences", out)
    assert found is not None and int(found[1]) > 10_000
