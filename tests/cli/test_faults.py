"""Whatever goes wrong: one line, no half file under a final name, and the same command resumes with what is missing."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from adamb.host_sim.files import PART, UNFINISHED
from adamb.host_sim.results.measurements import read_profile
from adamb.host_sim.results.run import RunFolder
from adamb.host_sim.traces import RECORD
from adamb.tools import outputs
from adamb.tools.stopping import StopRequest
from support.command import adamb, one_line
from support.faulty import CELL_FOLDERS, child, ended, faulty, limited, memory_in_use

COMMANDS = ("run", "sweep", "bench", "profile", "report", "trace")
OIL = "oil-laplace"
SWEEP = f'problems = ["{OIL}"]\nagents = ["random", "centre"]\nepisodes = 5\nseeds = 2\n'
QUICK = ["--seeds", "2", "--quiet"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """What the commands read: a sweep file, a trace, a folder to report on."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "two.toml").write_text(SWEEP)
    (folder / "numbers.ids").write_text("".join(f"{number % 97}\n" for number in range(3000)))
    command = ["run", OIL, "--agent", "random", "--episodes", 20, *QUICK, "--out", folder / "run"]
    process = child([str(word) for word in command], "none", folder / "said.txt")
    assert ended(process) == 0, (folder / "said.txt").read_text()
    return folder


def job(command: str, inputs: Path, out: Path) -> list[str]:
    """A short job of the command, whose files are all below `out`."""
    words: dict[str, list[object]] = {
        "run": ["run", OIL, "--agent", "random", "--episodes", 20, *QUICK, "--out", out / "run"],
        "sweep": ["sweep", inputs / "two.toml", "--jobs", 1, "--quiet", "--out", out / "sweep"],
        "bench": [
            "sweep", "benchmark", "--quick", "--only", f"{OIL},1KiB,adaql",
            "--jobs", 1, "--quiet", "--out", out / "bench",
        ],
        "profile": [
            "profile", OIL, "--agent-set", "mode=tracking", "--episodes", 20, *QUICK,
            "--out", out / "profile",
        ],
        "report": ["report", inputs / "run", "--out", out / "page.html"],
        "trace": ["inspect", inputs / "numbers.ids", "--json", out / "trace.json"],
    }  # fmt: skip
    return [str(word) for word in words[command]]


def check_whole(out: Path) -> set[str]:
    """Every file under a final name can be read to its end; the names."""
    names = set()
    for path in out.rglob("*"):
        if not path.is_file() or path.suffix in (".part", ".lock") or path.name == ".lock":
            continue
        names.add(path.relative_to(out).as_posix())
        content = path.read_bytes()
        assert content, f"{path} is empty"
        if path.suffix == ".json":
            json.loads(content)
        elif path.suffix in (".csv", ".md"):
            assert content.endswith(b"\n"), path
        elif path.suffix == ".html":
            assert content.rstrip().endswith(b"</html>"), path
    return names


def goes_on(capsys, words: list[str], out: Path) -> None:
    code, _, error = adamb(capsys, *words)
    assert code == 0, error
    assert check_whole(out)
    assert ".part" not in error, "what a killed process left is not shown as saved"


@pytest.mark.parametrize("fault", ["full disk", "quota", "out of memory"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_disk_or_memory_that_is_full_is_one_line(command, fault, capsys, tmp_path, inputs):
    words = job(command, inputs, tmp_path)
    with faulty(fault):
        code, _, error = adamb(capsys, *words)
    reason = {"full disk": "File too large", "quota": "Disk quota exceeded", "out of memory": "memory"}[fault]
    assert code == 2 and reason in one_line(error)
    assert str(tmp_path) in error or fault == "out of memory", "the file is named"
    check_whole(tmp_path)
    assert not list(tmp_path.rglob("*.part"))
    goes_on(capsys, words, tmp_path)


@pytest.fixture
def shared_place(inputs):
    """A folder that every user may enter, as pytest's are not: the inputs, and a place that is read-only."""
    place = Path(tempfile.mkdtemp())
    shutil.copytree(inputs, place / "inputs")
    (place / "locked").mkdir(mode=0o555)
    place.chmod(0o755)
    (place / "inputs").chmod(0o755)
    yield place
    shutil.rmtree(place)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_read_only_folder_is_one_line(command, capsys, shared_place, tmp_path):
    out = shared_place / "locked"
    words = job(command, shared_place / "inputs", out)
    # Imports first: another user may not be allowed to read the packages.
    assert adamb(capsys, *job(command, shared_place / "inputs", tmp_path))[0] == 0
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may write anywhere
    try:
        code, _, error = adamb(capsys, *words)
    finally:
        os.seteuid(user)
    assert code == 2 and "Permission denied" in one_line(error) and str(out) in error
    assert not list(out.iterdir())


@pytest.mark.parametrize("command", COMMANDS)
def test_sigterm_while_a_file_is_saved_leaves_whole_files(command, capsys, tmp_path, inputs):
    words = job(command, inputs, tmp_path)
    with faulty("SIGTERM"):
        code, _, error = adamb(capsys, *words)
    assert code == 130 and error.splitlines()[-1].startswith("adamb: stopped"), error
    check_whole(tmp_path)
    goes_on(capsys, words, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_clock_that_goes_back_changes_nothing(command, capsys, tmp_path, inputs):
    words = job(command, inputs, tmp_path)
    with faulty("clock back"):
        code, _, error = adamb(capsys, *words)
    assert code == 0, error
    assert check_whole(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_kill_9_while_a_file_is_saved_leaves_whole_files(command, capsys, tmp_path, inputs):
    words = job(command, inputs, tmp_path)
    assert ended(child(words, "kill -9", tmp_path / "said.txt")) == -9
    (tmp_path / "said.txt").unlink()
    check_whole(tmp_path)
    assert list(tmp_path.rglob("*.part")), "it was killed while it wrote"
    goes_on(capsys, words, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_two_processes_on_one_folder_leave_whole_files(command, tmp_path, inputs):
    out, said = tmp_path / "out", [tmp_path / "first.txt", tmp_path / "second.txt"]
    out.mkdir()
    words = job(command, inputs, out)
    codes = [ended(process) for process in [child(words, "none", file) for file in said]]
    assert sorted(codes)[0] == 0, [file.read_text() for file in said]
    for code, file in zip(codes, said, strict=True):
        assert code == 0 or (code == 2 and one_line(file.read_text()))
    assert check_whole(out)
    assert not list(out.rglob("*.part"))


def test_a_run_larger_than_memory_is_one_line(capsys, tmp_path):
    with limited(resource.RLIMIT_AS, memory_in_use() + 64 * 2**20):
        large = ["--seeds", 10_000, "--budget", "64KiB", "--quiet", "--out", tmp_path / "run"]
        code, _, error = adamb(capsys, "run", OIL, *large)
    assert code == 2 and "memory" in one_line(error)
    assert not list(tmp_path.rglob("*"))


# ---- cells that were finished -------------------------------------------------------------------------


TABLES = {"sweep": "results.csv", "bench": "scores.csv"}
AT_THE_SECOND = {"kill -9 at the second cell": -9, "SIGTERM at the second cell": 130}


def cells_of(command: str, place: Path) -> list[str]:
    """A job of two cells."""
    (place / "two.toml").write_text(SWEEP)
    benchmark = ["benchmark", "--quick", "--only", "oil-laplace,1KiB,adaql"]
    work = [str(place / "two.toml")] if command == "sweep" else benchmark
    return ["sweep", *work, "--jobs", "1", "--quiet", "--out", str(place / "out")]


def finished(place: Path) -> dict[Path, tuple[int, int]]:
    """The files of the cells; a cell that is played again is a new file, with another number or time."""
    files = [path for folder in CELL_FOLDERS for path in (place / "out" / folder).glob("[!.]*.json")]
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> dict[str, bytes]:
    """The table of each command when nothing goes wrong."""
    found = {}
    for command, table in TABLES.items():
        place = tmp_path_factory.mktemp(command)
        assert ended(child(cells_of(command, place), "none", place / "said.txt")) == 0
        assert len(finished(place)) == 2
        found[command] = (place / "out" / table).read_bytes()
    return found


@pytest.mark.parametrize("fault", AT_THE_SECOND)
@pytest.mark.parametrize("command", TABLES)
def test_cells_finished_before_a_fault_are_not_played_again(command, fault, capsys, tmp_path, tables):
    words = cells_of(command, tmp_path)
    assert ended(child(words, fault, tmp_path / "said.txt")) == AT_THE_SECOND[fault]
    before = finished(tmp_path)
    assert len(before) == 1, "the fault came when one cell was finished"
    code, _, error = adamb(capsys, *words)
    assert code == 0, error
    after = finished(tmp_path)
    assert len(after) == 2 and before.items() <= after.items()
    assert (tmp_path / "out" / TABLES[command]).read_bytes() == tables[command]


def test_a_trace_that_was_being_decoded_is_decoded_again(capsys, tmp_path, monkeypatch):
    """What is decoded is kept for later runs; a part of it must not be taken for the trace."""
    trace, cache = tmp_path / "numbers.ids", tmp_path / "cache"
    trace.write_text("".join(f"{number % 97}\n" for number in range(30_000)))
    monkeypatch.setenv("ADAMB_CACHE", str(cache))
    words = ["run", "dram-1x1", "--set", f"trace={trace!s}", "--agent", "random", "--episodes", "2", "--quiet"]
    assert ended(child([*words, "--json", str(tmp_path / "1.json")], "kill -9", tmp_path / "said.txt")) == -9
    (left,) = cache.iterdir()
    assert left.suffix == PART
    os.utime(left, (0, 0))
    code, _, error = adamb(capsys, *words, "--json", tmp_path / "2.json")
    assert code == 0, error
    (whole,) = cache.iterdir()
    assert whole.stat().st_size == 30_000 * RECORD.itemsize, "whole, and what was left is gone"


# ---- a save that was cut, or a part that was stopped --------------------------------------------------


READ = {"run": RunFolder.read, "profile": read_profile}
LAST = {"run": "run.json", "profile": "profile.json"}
LATER = {"kill -9 at a later file": -9, "SIGTERM at a later file": 130}


def short(command: str, out: Path, *more: str) -> list[str]:
    task = ["--agent", "random"] if command == "run" else ["--agent-set", "mode=tracking"]
    return [command, OIL, *task, "--episodes", "20", *QUICK, "--out", str(out), *more]


def numbers(command: str, out: Path) -> dict:
    """What the last file says, without times."""
    content = json.loads((out / LAST[command]).read_text())
    return {name: value for name, value in content.items() if name not in ("seconds", "host_memory")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, dict]:
    found = {}
    for command in READ:
        place = tmp_path_factory.mktemp(command)
        assert ended(child(short(command, place / "out"), "none", place / "said.txt")) == 0
        found[command] = numbers(command, place / "out")
    return found


@pytest.mark.parametrize("fault", LATER)
@pytest.mark.parametrize("command", READ)
def test_a_save_that_was_cut_is_not_in_the_way_of_the_same_command(command, fault, capsys, tmp_path, undisturbed):
    assert ended(child(short(command, tmp_path / "out"), fault, tmp_path / "said.txt")) == LATER[fault]
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert UNFINISHED in there and LAST[command] not in there
    code, _, error = adamb(capsys, *short(command, tmp_path / "out"))
    assert code == 0, error
    assert numbers(command, tmp_path / "out") == undisturbed[command]
    assert not (tmp_path / "out" / UNFINISHED).exists()
    assert adamb(capsys, *short(command, tmp_path / "out"))[0] == 2, "what is complete is not replaced"


@pytest.mark.parametrize("command", READ)
def test_what_was_stopped_is_replaced_by_the_same_command_alone(command, capsys, tmp_path, undisturbed, monkeypatch):
    out = tmp_path / "out"

    def call(*more: str) -> tuple[int, str]:
        words = short(command, out, *more)
        monkeypatch.setattr(sys, "argv", ["adamb", *words])
        code, _, error = adamb(capsys, *words)
        return code, error

    with monkeypatch.context() as patch:
        patch.setattr(StopRequest, "asked", property(lambda self: True, lambda self, value: None), raising=False)
        assert call()[0] == 130
    assert numbers(command, out)["episodes"] < 20
    code, error = call("--seeds", "5..6")
    assert code == 2 and "exists already" in one_line(error)
    assert call()[0] == 0
    assert numbers(command, out) == undisturbed[command]


@pytest.mark.parametrize("cut_before", [False, True])
def test_a_save_that_fails_at_once_leaves_the_mark_as_it_was(cut_before, tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(outputs, "write_atomic", full)
    mark = tmp_path / UNFINISHED
    if cut_before:
        mark.write_text("cut\n")
    with pytest.raises(OSError, match="No space left"):
        outputs.save(tmp_path, {"run.json": b"{}"})
    assert mark.is_file() == cut_before
