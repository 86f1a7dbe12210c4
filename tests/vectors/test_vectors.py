"""Recorded streams: every core replays them to the last word, and they are what the exact reference gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact import streams
from adamb.firmware_model.exact.model import HEADER_WORDS
from adamb.firmware_model.exact.recipes import RECIPES, recipe_named
from support import replay
from support.campaigns import few
from support.paths import TESTS, VECTORS
from support.replay import TWINS, Replay, vector_files

LONG_IN_PYTHON = "long-"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
FILES = [recipe.name for recipe in RECIPES]


SHORT = [(core, name) for core in TWINS for name in FILES if core == "c" or not name.startswith(LONG_IN_PYTHON)]
LONG = [("python", name) for name in FILES if name.startswith(LONG_IN_PYTHON)]


@pytest.mark.parametrize(("core", "name"), few([*SHORT, *LONG], len(SHORT), rows=True))
def test_core_replays_every_result_action_and_digest(core: str, name: str) -> None:
    assert replay.replay(VECTORS / f"{name}.jsonl", core) > 300


@pytest.mark.skipif(not COMPILER, reason="no C compiler in the path")
def test_core_for_processors_without_divider_replays_every_file(tmp_path: Path) -> None:
    """Cortex-M0 divides with the core's own code, which the library for hosts leaves out."""
    wrapper = tmp_path / "cc"
    wrapper.write_text(f'#!/bin/sh\nexec {COMPILER} "$@" -UADAMB_HAS_DIVIDE\n')
    wrapper.chmod(0o755)
    replaced = {"CC": str(wrapper), "ADAMB_PLAIN_LIBRARY": "1", "ADAMB_CACHE": str(tmp_path)}
    command = [sys.executable, str(TESTS), "replay", "--core", "c"]
    done = subprocess.run(command, env=os.environ | replaced, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == len(FILES) and list(tmp_path.glob("core-*"))


RENEWED = ["saturate-3-2-h2-paper", "detect-1-1-h1", "order-2-1-h5"]


@pytest.mark.parametrize("name", few([*RENEWED, *sorted({*FILES} - {*RENEWED})], 3))
def test_recorded_file_is_what_the_reference_gives_today(name: str) -> None:
    recorded = (VECTORS / f"{name}.jsonl").read_text()
    assert recorded == streams.text(recipe_named(name)), "stale: run `make core`"


def test_manifest_lists_the_files_of_this_specification() -> None:
    manifest = json.loads((VECTORS / "manifest.json").read_text())
    assert manifest["spec_hash"] == spec.SPEC_HASH, "stale: run `make core`"
    assert manifest["format"] == spec.FORMAT_VERSION
    present = [path.name for path in vector_files()]
    assert sorted(manifest["files"]) == present == sorted(f"{name}.jsonl" for name in FILES)
    for path in vector_files():
        rows = path.read_text().splitlines()
        assert json.loads(rows[0])["spec_hash"] == spec.SPEC_HASH
        assert json.loads(rows[-1])[-1] == manifest["files"][path.name]["last_digest"]


def test_recorded_streams_meet_what_they_are_for() -> None:
    """A stream that never meets a full pool or a change would prove nothing about them."""
    ends = {}
    for name in FILES:
        played = Replay(VECTORS / f"{name}.jsonl", "c")
        played.play()
        ends[name] = dict(zip(HEADER_WORDS, played.controller.w, strict=False))
    for word in ("refused", "no_room", "reclaims", "saturations", "restarts"):
        assert any(end[word] for end in ends.values()), f"no stream counts {word}"
    assert ends["default-1-1-h5"]["share"] == spec.SHARE_OFF
    assert ends["long-default-1-1-h5"]["share"] == spec.SHARE_ON
    assert ends["detect-1-1-h1"]["restarts"] == 2
    assert ends["saturate-2-1-h3"]["saturations"] and ends["saturate-3-2-h2-paper"]["saturations"]
    for name in FILES:
        if "reclaim" in name:
            assert ends[name]["reclaims"], name
        if "freeze" in name:
            assert ends[name]["no_room"] and not ends[name]["reclaims"], name
