"""Hostile inputs find nothing in the core, and the fuzzer that says so finds what is there to be found.

`make fuzz` is the long run. A finding prints the arguments of a replay.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import fuzzing
from support.paths import CORE

# File, text, replacement: a unit beside the block, links beside it, what C leaves undefined, what only the
# checks of fuzz.c can see.
PLANTS = {
    "one unit too many": ("adamb_pool.c", r"unit < w\[ADAMB_H_UNITS\]", "unit <= w[ADAMB_H_UNITS]"),
    "links too far": ("adamb_internal.h", r"word - c->first < c->links", "word - c->first < c->links + 32"),
    "a shift below zero": ("adamb_config.c", r">> \(12 - fraction\)", ">> (10 - fraction)"),
    "a byte of a save is not kept": (
        "adamb_store.c", r"from \+ i < end \? save_byte", "from + i < end - 1 ? save_byte"
    ),
}  # fmt: skip


def run(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def fuzz(build_driver, tmp_path_factory) -> Path:
    """The sanitized build; `build_driver` skips where there are no sanitizers."""
    return fuzzing.build(tmp_path_factory.mktemp("fuzz"), edges=True)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return fuzzing.unpacked(tmp_path_factory.mktemp("unpacked"))


def test_the_corpus_finds_nothing(fuzz, corpus):
    done = run(fuzz, "replay", corpus)
    assert done.returncode == 0, done.stderr
    assert int(re.match(r"(\d+) inputs", done.stdout)[1]) == len(list(corpus.iterdir())) > 50


def test_the_same_inputs_are_packed_to_the_same_bytes(corpus, tmp_path):
    fuzzing.pack(corpus, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == fuzzing.ARCHIVE.read_bytes()


def test_a_short_run_from_the_corpus_finds_nothing(fuzz, corpus, tmp_path):
    done = run(fuzz, "run", 7, 0, 10, tmp_path, corpus)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no finding" in done.stdout


@pytest.mark.skipif(not shutil.which("gcov"), reason="needs gcov")
def test_the_corpus_runs_most_of_the_core(corpus, tmp_path):
    line = fuzzing.coverage(tmp_path, corpus)
    lines, all_lines, branches, all_branches = map(int, re.findall(r"\d+", line)[1:])
    assert all_lines > 1000 and lines / all_lines > 0.9 and branches / all_branches > 0.8, line


@pytest.mark.campaign
@pytest.mark.parametrize("engine", ["libfuzzer", "afl"])
def test_the_engines_of_others_start_from_the_corpus_and_find_nothing(engine, tmp_path, monkeypatch, capfd):
    _, program, package = fuzzing.ENGINES[engine]
    if not shutil.which(program):
        pytest.skip(f"needs {program}; Debian has it in {package}")
    arguments = ["fuzzing", "--engine", engine, "--runs", "2000", "--folder", str(tmp_path)]
    monkeypatch.setattr("sys.argv", arguments)
    assert fuzzing.main() == 0, capfd.readouterr().err[-2000:]


def test_the_same_seed_makes_the_same_executions(fuzz, tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        assert run(fuzz, "run", 3, 1500, 0, folder).returncode == 0
    kept = [{file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders]
    assert kept[0] == kept[1] and len(kept[0]) > 50


@pytest.mark.campaign
@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_found_and_its_input_replays(name, fuzz, corpus, tmp_path):
    file, text, replacement = PLANTS[name]
    core = tmp_path / "core"
    shutil.copytree(CORE, core)
    source, n = re.subn(text, replacement, (core / file).read_text())
    assert n >= 1, "the place of the bug has changed"
    (core / file).write_text(source)
    broken = fuzzing.build(tmp_path / "broken", edges=False, core=core)
    done = run(broken, "run", 1, 0, 60, tmp_path, corpus)
    assert done.returncode != 0
    finding = re.search(r"FINDING after \d+ executions: fuzz replay (.+)", done.stdout)[1]
    assert run(broken, "replay", finding).returncode != 0, "the file shows it again"
    assert run(fuzz, "replay", finding).returncode == 0, "and it is the planted bug"
