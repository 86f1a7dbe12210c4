"""A constant of the learner is one edit: spec.toml and `make core`, in a copy of the tree.

After the edit the exact reference records other streams, and both twins follow it through them: so nobody has
typed the number a second time. A copy has four constants edited, of different parts of the learner; that each
of them alone changes a stream is seen without a copy.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from adamb.firmware_model import _spec
from adamb.firmware_model.exact import recipes, streams
from adamb.tools.maintain import generate_spec
from support.campaigns import few
from support.paths import VECTORS

SPEC = tomllib.loads((generate_spec.FIRMWARE / "spec.toml").read_text())
LEARNER = {key.lower(): value for key, value in generate_spec.learner_names(SPEC).items()}
#: Not free to be tuned: it follows from the size of the table and from the longest horizon.
ENTRY_SHIFT = LEARNER.pop("share_entry_shift")
LEARNER.pop("held_taught")  # a mark in the header, no quantity
#: Streams in which an edit of any constant shows.
STREAMS = (
    "default-1-1-h5", "detect-1-1-h1", "order-2-1-h5", "tracking-2-1-h16-reclaim", "tracking-3-3-h5-shared",
    "tracking-1-2-h31-auto", "paper-3-1-h16-auto", "long-calm-1-1-h5", "long-tracking-2-2-h5",
    "scan-1-1-h2", "scan-1-2-h2", "taught-1-1-h5",
)  # fmt: skip
#: One more, but where that does not show in these streams; a hash stays odd.
EDITS = {name: value + 1 for name, value in LEARNER.items()} | {
    "reclaim_value_mask": 8,
    "share_reward_factor": 0,
    "share_next_factor": 0,
    "share_same_min": 40,
    "share_count_max": 254,
    "fade_most": 1,
    "early_error_shift": 0,
    "late_error_shift": 0,
    "held_horizon": 31,
    "share_hash": LEARNER["share_hash"] + 2,
    "detect_floor_shift": 0,
    "detect_least_shift": 2,
    "memory_noise": 0,
    "memory_margin": 1,
    "noise_least": 4000,
    "rank_samples": 2,
    "rank_most": 10,
    "effect_most": 20,
    "effect_noise": 1,
}
#: Names that begin alike, of one part of the learner, are in different groups.
GROUPS = [tuple(sorted(LEARNER))[first::13] for first in range(13)]

PROGRAM = """
import json, sys
from pathlib import Path
folder = Path(sys.argv[1])
sys.path.insert(0, str(folder / "tests"))
from support import replay
from adamb.firmware_model.exact import recipes, streams
from adamb.firmware_model import _spec, core
from adamb.firmware_model.host import binding
assert all(Path(module.__file__).is_relative_to(folder) for module in (_spec, core, binding, streams))
changed = []
for name in sys.argv[2:]:
    text, path = streams.text(recipes.recipe_named(name)), folder / "tests" / "vectors" / f"{name}.jsonl"
    if text != path.read_text():
        changed.append(name)
    path.write_text(text)
    for twin in ("python", "c"):
        replay.replay(path, twin)
print(json.dumps(changed))
"""


def edited(folder: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]) -> None:
    """A copy of the tree in which these lines of spec.toml are others, after the first stage of `make core`."""
    package = folder / "adamb" / "firmware_model"
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "_core.c")
    shutil.copytree(generate_spec.FIRMWARE, package, ignore=ignored)
    for room in (VECTORS, VECTORS.parent / "support"):
        shutil.copytree(room, folder / "tests" / room.name, ignore=ignored)
    spec = package / "spec.toml"
    for name in names:
        text, edits = re.subn(rf"(?m)^{name} = \w+", f"{name} = {EDITS[name]}", spec.read_text())
        assert edits == 1
        spec.write_text(text)
    monkeypatch.setattr(generate_spec, "FIRMWARE", package)
    generate_spec.main()


def new_streams(folder: Path) -> list[str]:
    """The recorded streams in the copy, and both twins on what it wrote; the streams that changed."""
    command = [sys.executable, "-c", PROGRAM, str(folder), *STREAMS]
    places = {"PYTHONPATH": str(folder), "ADAMB_CACHE": str(folder / "cache"), "ADAMB_PLAIN_LIBRARY": "1"}
    done = subprocess.run(command, env={**os.environ, **places}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    changed: list[str] = json.loads(done.stdout)
    return changed


@pytest.mark.parametrize("names", few(GROUPS), ids=" ".join)
def test_one_edit_changes_the_learner_everywhere(names, tmp_path, monkeypatch):
    edited(tmp_path, monkeypatch, names)
    assert new_streams(tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("name", LEARNER)
def test_each_edit_alone_changes_a_stream(name, monkeypatch):
    monkeypatch.setattr(_spec, name.upper(), EDITS[name])
    assert any(
        streams.text(recipes.recipe_named(stream)) != (VECTORS / f"{stream}.jsonl").read_text() for stream in STREAMS
    )


def test_what_is_not_free_follows_from_the_rest():
    entries = 1 << 16 - ENTRY_SHIFT
    assert entries == 2 * SPEC["constants"]["share_table_units"] > SPEC["constants"]["horizon_max"]
