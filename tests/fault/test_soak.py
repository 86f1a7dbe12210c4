"""A long life with power cuts is, link by link, the life without; `make soak` is the million episodes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import CORE, FLAGS, HERE, SANITIZERS, Driver

pytestmark = pytest.mark.slow


def build(folder: Path, core: Path = CORE) -> Driver:
    program, sources = folder / "soak", [str(path) for path in sorted(core.glob("*.c"))]
    command = ["gcc", *FLAGS, "-O2", *SANITIZERS, *sources, str(HERE / "soak.c"), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Driver(program)


def test_a_life_with_cuts_is_the_life_without(build_driver, tmp_path):
    out = build(tmp_path)("100000", 1)
    lines = [line for line in out.splitlines() if " cuts, " in line]
    assert len(lines) == 4 and lines[0].startswith("1+1, 1 KiB: 100000 episodes")
    for line in lines:
        numbers = {name: int(n) for n, name in re.findall(r"(\d+) (cuts|saves|restarts|reclaims)", line)}
        assert min(numbers.values()) > 0, f"each must happen for the run to mean something: {line}"
    assert "every life with cuts is the life without" in out


@pytest.mark.parametrize(
    ("text", "replacement"),
    [
        ("return keep != 0 ? 0", "block[ADAMB_H_RNG] ^= keep != 0; return keep != 0 ? 0"),
        ("for (uint32_t i = keep; i", "block[ADAMB_H_DROP] = 0; for (uint32_t i = keep; i"),
    ],
    ids=["a bit of the random numbers", "a sum of the change detection"],
)  # fmt: skip
def test_a_restore_that_is_wrong_in_one_word_is_noticed(build_driver, tmp_path, text, replacement):
    core = tmp_path / "core"
    shutil.copytree(CORE, core)
    source = (core / "adamb_snapshot.c").read_text()
    assert text in source, "the place of the bug has changed"
    (core / "adamb_snapshot.c").write_text(source.replace(text, replacement))
    done = build(tmp_path, core).run("20000", 1)
    assert done.returncode == 1 and "FAILED restored neither" in done.stdout, done.stdout + done.stderr
