"""Every sequence of saves and resets on a small storage, with a fault at any call of the storage.

The newest completed save is never lost and no number is given twice: all sequences are tried, none is drawn.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from support.drivers import FLAGS
from support.paths import CORE, FAULT

# page, sector, sectors
TWO_SLOTS = (256, 512, 2)
FOUR_SLOTS = (256, 512, 4)
TWO_GROUPS_OF_TWO = (512, 1024, 2)


def build(folder: Path) -> Path:
    sources = [*CORE.glob("*.c"), FAULT / "store_model.c"]
    command = ["gcc", *FLAGS, "-O2", *map(str, sources), "-o", str(folder / "store_model")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "store_model"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("model"))


def tried(program: Path, *numbers: int) -> str:
    return subprocess.run([str(program), *map(str, numbers)], capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("geometry", "operations", "faults"),
    [(TWO_SLOTS, 4, 2), (FOUR_SLOTS, 4, 2), (TWO_GROUPS_OF_TWO, 4, 2), (FOUR_SLOTS, 7, 1)],
)
def test_no_sequence_of_saves_resets_and_faults_loses_the_newest_completed_save(
    model: Path, geometry: tuple[int, ...], operations: int, faults: int
) -> None:
    out = tried(model, *geometry, operations, faults)
    assert out.endswith("0 losses\n"), out
    found = re.match(r"(\d+) sequences", out)
    assert found is not None and int(found[1]) > 10_000
