"""What a command writes: told before the work where it cannot be, whole or not at all, and never over another."""

from __future__ import annotations

import fcntl
import json
import os

import pytest

from adamb.host_sim import problem
from support.command import adamb, finish, one_line, refused, start, wait_until
from support.standin_problem import PROBLEM

QUICK = ["--agent", "random", "--episodes", "20", "--seeds", "3"]


def test_a_full_disk_costs_the_file_but_not_the_results(capsys):
    code, out, error = adamb(capsys, "run", PROBLEM, *QUICK, "--json", "/dev/full")
    assert code == 2 and "reward per episode" in out
    assert "could not be saved" in one_line(error) and "No space left" in error


NEVER_RUN = [
    ["run", PROBLEM],
    ["profile", "oil-laplace"],
    ["compare", "oil-laplace"],
    ["compare", "--lookahead", "oil-laplace"],
    ["latency", "oil-laplace"],
    ["latency", "oil-laplace", "--target", "implementations"],
    ["sweep", "paper"],
    ["sweep", "benchmark"],
]
#: Those that write a folder.
FOLDERS = ("run", "profile", "latency", "sweep")


@pytest.fixture
def nothing_runs(monkeypatch):
    """Every command comes to a problem sooner or later; here it is an error to get so far."""

    def refuse(*_, **__):
        raise AssertionError("the work began before its files were checked")

    monkeypatch.setattr(problem.Problem, "begin_episode", refuse)


@pytest.mark.parametrize("command", NEVER_RUN, ids=lambda command: command[0])
def test_json_that_cannot_be_written_is_refused_before_the_run(command, capsys, tmp_path, nothing_runs):
    for place, reason in ((tmp_path / "none" / "a.json", "No such file"), (tmp_path, "Is a directory")):
        error = refused(capsys, *command, "--json", place)
        assert str(place) in error and reason in error


@pytest.mark.parametrize("command", [each for each in NEVER_RUN if each[0] in FOLDERS and "--target" not in each])
def test_a_folder_that_cannot_be_made_is_refused_before_the_run(command, capsys, tmp_path, nothing_runs):
    (tmp_path / "file").write_text("in the way")
    error = refused(capsys, *command, "--out", tmp_path / "file" / "run")
    assert f"{tmp_path / 'file' / 'run'}: Not a directory" in error
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_two_runs_into_one_folder_at_once_leave_the_files_of_one_and_the_results_of_both(tmp_path):
    folder, bases = tmp_path / "out", (0, 1000)
    folder.mkdir()
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)  # so that both come to saving before either has saved
    command = ["run", PROBLEM, "--agent", "random", "--episodes", "300", "--quiet"]
    runs, shown = [], [tmp_path / f"{base}.txt" for base in bases]
    for base, path in zip(bases, shown, strict=True):
        options = {"stdout": path.open("w"), "env": os.environ | {"PYTHONUNBUFFERED": "1"}}
        runs.append(start(*command, "--seeds", f"{base}..{base + 1}", "--out", folder, **options))
        options["stdout"].close()
    wait_until(lambda: all("reward per episode" in path.read_text() for path in shown))
    assert list(folder.iterdir()) == []
    os.close(held)
    ended = [finish(process) for process in runs]
    codes = [code for code, _, _ in ended]
    assert sorted(codes) == [0, 2], ended
    line = ended[codes.index(2)][2]
    assert "another run has written here meanwhile" in one_line(line)
    written = json.loads((folder / "run.json").read_text())
    assert written["seed_base"] == bases[codes.index(0)], "the files are of the run that says so"
