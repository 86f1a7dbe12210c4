"""Hostile inputs find nothing in the core; that the fuzzer notices faults is what the mutants show.

`make campaigns ONLY=fuzz` is the long run. A finding prints the arguments of a replay.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import fuzz


def run(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def fuzzer(build, tmp_path_factory) -> Path:
    """The sanitized build; `build` skips where there are no sanitizers."""
    build("edges")
    return fuzz.build(tmp_path_factory.mktemp("fuzz"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return fuzz.unpacked(tmp_path_factory.mktemp("unpacked"))


def test_the_corpus_finds_nothing(fuzzer, corpus):
    done = run(fuzzer, "replay", corpus)
    assert done.returncode == 0, done.stderr
    assert int(re.match(r"(\d+) inputs", done.stdout)[1]) == len(list(corpus.iterdir())) > 50


def test_a_short_run_from_the_corpus_finds_nothing(fuzzer, corpus, tmp_path):
    done = run(fuzzer, "run", 7, 0, 5, tmp_path, corpus)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no finding" in done.stdout


@pytest.mark.campaign
@pytest.mark.skipif(not shutil.which("clang"), reason="needs clang and libclang-rt-14-dev")
def test_libfuzzer_starts_from_the_corpus_and_finds_nothing(tmp_path, monkeypatch, capfd):
    arguments = ["fuzzing", "--engine", "libfuzzer", "--runs", "2000", "--folder", str(tmp_path)]
    monkeypatch.setattr("sys.argv", arguments)
    assert fuzz.main() == 0, capfd.readouterr().err[-2000:]
