"""Whatever goes wrong: one line, no half file under a final name, and the same command goes on."""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
from pathlib import Path

import pytest

from support.command import adamb, one_line
from support.faulty import FAULTS, child, ended, limited, memory_in_use

COMMANDS = ("run", "sweep", "bench", "profile", "report", "trace")
PROBLEM = "oil-laplace"
SWEEP = f'problems = ["{PROBLEM}"]\nagents = ["random", "centre"]\nepisodes = 5\nseeds = 2\n'
QUICK = ["--seeds", "2", "--quiet"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """What the commands read: a sweep file, a trace, a folder to report on."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "two.toml").write_text(SWEEP)
    (folder / "numbers.ids").write_text("".join(f"{number % 97}\n" for number in range(3000)))
    command = ["run", PROBLEM, "--agent", "random", "--episodes", 20, *QUICK, "--out", folder / "run"]
    process = child([str(word) for word in command], "none", folder / "said.txt")
    assert ended(process) == 0, (folder / "said.txt").read_text()
    return folder


def line(command: str, inputs: Path, out: Path) -> list[str]:
    """A short job of the command, whose files are all below `out`."""
    words: dict[str, list[object]] = {
        "run": ["run", PROBLEM, "--agent", "random", "--episodes", 20, *QUICK, "--out", out / "run"],
        "sweep": ["sweep", inputs / "two.toml", "--jobs", 1, "--quiet", "--out", out / "sweep"],
        "bench": [
            "bench", "--quick", "--only", PROBLEM, "--budgets", "1KiB", "--agents", "adaql",
            "--jobs", 1, "--quiet", "--out", out / "bench",
        ],
        "profile": [
            "profile", PROBLEM, "--mode", "tracking", "--episodes", 20, *QUICK,
            "--out", out / "profile",
        ],
        "report": ["report", inputs / "run", "--out", out / "page.html"],
        "trace": ["trace", "info", inputs / "numbers.ids", "--json", out / "trace.json"],
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
    words = line(command, inputs, tmp_path)
    with FAULTS[fault]():
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
    words = line(command, shared_place / "inputs", out)
    # Imports first: another user may not be allowed to read the packages.
    assert adamb(capsys, *line(command, shared_place / "inputs", tmp_path))[0] == 0
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
    words = line(command, inputs, tmp_path)
    with FAULTS["SIGTERM"]():
        code, _, error = adamb(capsys, *words)
    assert code == 130 and error.splitlines()[-1].startswith("adamb: stopped"), error
    check_whole(tmp_path)
    goes_on(capsys, words, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_clock_that_goes_back_changes_nothing(command, capsys, tmp_path, inputs):
    words = line(command, inputs, tmp_path)
    with FAULTS["clock back"]():
        code, _, error = adamb(capsys, *words)
    assert code == 0, error
    assert check_whole(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_kill_9_while_a_file_is_saved_leaves_whole_files(command, capsys, tmp_path, inputs):
    words = line(command, inputs, tmp_path)
    assert ended(child(words, "kill -9", tmp_path / "said.txt")) == -9
    (tmp_path / "said.txt").unlink()
    check_whole(tmp_path)
    assert list(tmp_path.rglob("*.part")), "it was killed while it wrote"
    goes_on(capsys, words, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_two_processes_on_one_folder_leave_whole_files(command, tmp_path, inputs):
    out, said = tmp_path / "out", [tmp_path / "first.txt", tmp_path / "second.txt"]
    out.mkdir()
    words = line(command, inputs, out)
    codes = [ended(process) for process in [child(words, "none", file) for file in said]]
    assert sorted(codes)[0] == 0, [file.read_text() for file in said]
    for code, file in zip(codes, said, strict=True):
        assert code == 0 or (code == 2 and one_line(file.read_text()))
    assert check_whole(out)
    assert not list(out.rglob("*.part"))


def test_a_run_larger_than_memory_is_one_line(capsys, tmp_path):
    with limited(resource.RLIMIT_AS, memory_in_use() + 64 * 2**20):
        large = ["--seeds", 10_000, "--budget", "64KiB", "--quiet", "--out", tmp_path / "run"]
        code, _, error = adamb(capsys, "run", PROBLEM, *large)
    assert code == 2 and "memory" in one_line(error)
    assert not list(tmp_path.rglob("*"))
