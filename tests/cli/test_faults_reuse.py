"""After a fault a sweep and a league play only what is missing: finished cells are read, half ones not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adamb.host_sim.files import PART
from adamb.host_sim.traces.reader import RECORD
from support.command import adamb
from support.faulty import CELL_FOLDERS, child, ended

SWEEP = 'problems = ["oil-laplace"]\nagents = ["random", "centre"]\nepisodes = 5\nseeds = 2\n'
TABLES = {"sweep": "results.csv", "bench": "scores.csv"}
FAULTS = {"quota at the second cell": 2, "kill -9 at the second cell": -9, "SIGTERM at the second cell": 130}


def line(command: str, place: Path) -> list[str]:
    """A job of two cells."""
    (place / "two.toml").write_text(SWEEP)
    league = ["--quick", "--only", "oil-laplace", "--budgets", "1KiB", "--agents", "adaql"]
    work = [str(place / "two.toml")] if command == "sweep" else league
    return [command, *work, "--jobs", "1", "--quiet", "--out", str(place / "out")]


def finished(place: Path) -> dict[Path, tuple[int, int]]:
    """The files of the cells; a cell that is played again is a new file, with another number or time."""
    files = [path for folder in CELL_FOLDERS for path in (place / "out" / folder).glob("[!.]*.json")]
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, bytes]:
    """The table of each command when nothing goes wrong."""
    found = {}
    for command, table in TABLES.items():
        place = tmp_path_factory.mktemp(command)
        assert ended(child(line(command, place), "none", place / "said.txt")) == 0
        assert len(finished(place)) == 2
        found[command] = (place / "out" / table).read_bytes()
    return found


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("command", TABLES)
def test_cells_finished_before_a_fault_are_not_played_again(command, fault, capsys, tmp_path, undisturbed):
    words = line(command, tmp_path)
    assert ended(child(words, fault, tmp_path / "said.txt")) == FAULTS[fault]
    before = finished(tmp_path)
    assert len(before) == 1, "the fault came when one cell was finished"
    code, _, error = adamb(capsys, *words)
    assert code == 0, error
    after = finished(tmp_path)
    assert len(after) == 2 and before.items() <= after.items()
    assert (tmp_path / "out" / TABLES[command]).read_bytes() == undisturbed[command]


def test_a_trace_that_was_being_decoded_is_decoded_again(capsys, tmp_path, monkeypatch):
    """What is decoded is kept for later runs; a part of it must not be taken for the trace."""
    trace, cache = tmp_path / "numbers.ids", tmp_path / "cache"
    trace.write_text("".join(f"{number % 97}\n" for number in range(30_000)))
    monkeypatch.setenv("ADAMB_CACHE", str(cache))
    words = ["run", "dram-1x1", "--trace", str(trace), "--agent", "random", "--episodes", "2", "--quiet"]
    assert ended(child([*words, "--json", str(tmp_path / "1.json")], "kill -9", tmp_path / "said.txt")) == -9
    (left,) = cache.iterdir()
    assert left.suffix == PART
    os.utime(left, (0, 0))
    code, _, error = adamb(capsys, *words, "--json", tmp_path / "2.json")
    assert code == 0, error
    (whole,) = cache.iterdir()
    assert whole.stat().st_size == 30_000 * RECORD.itemsize, "whole, and what was left is gone"


@pytest.mark.parametrize("left", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("command", TABLES)
def test_a_truncated_cell_is_played_again_and_the_other_is_not(command, left, capsys, tmp_path, undisturbed):
    words = line(command, tmp_path)
    assert ended(child(words, "none", tmp_path / "said.txt")) == 0
    cut, other = sorted(finished(tmp_path))
    whole = cut.read_bytes()
    cut.write_bytes(whole[: int(left * len(whole))])
    before = finished(tmp_path)
    code, _, error = adamb(capsys, *words)
    assert code == 0, error
    after = finished(tmp_path)
    assert after[cut] != before[cut] and cut.stat().st_size > 0.9 * len(whole)
    assert after[other] == before[other]
    assert (tmp_path / "out" / TABLES[command]).read_bytes() == undisturbed[command]
