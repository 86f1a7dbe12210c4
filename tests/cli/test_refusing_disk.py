"""A disk that is full costs a run its files but not its results; a place that refuses is told before it."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager

import pytest

from adamb.host_sim import problem
from adamb.tools import outputs
from support.command import adamb, finish, one_line, refused, start
from support.standin_problem import PROBLEM

QUICK = ["--agent", "random", "--episodes", "20", "--seeds", "3"]


def test_a_full_disk_costs_the_file_but_not_the_results(capsys):
    code, out, error = adamb(capsys, "run", PROBLEM, *QUICK, "--json", "/dev/full")
    assert code == 2 and "reward per episode" in out
    assert "could not be saved" in one_line(error) and "No space left" in error


def test_a_disk_that_fills_up_in_the_middle_leaves_no_half_file(tmp_path):
    def cap_file_size():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    command = ["run", PROBLEM, "--agent", "random", "--episodes", "500", "--seeds", "2", "--out", tmp_path]
    code, out, error = finish(start(*command, preexec_fn=cap_file_size))
    assert code == 2 and "reward per episode" in out
    assert "could not be saved" in one_line(error)
    assert list(tmp_path.iterdir()) == []


NEVER_RUN = [
    ["run", PROBLEM],
    ["profile", "oil-laplace"],
    ["compare", "oil-laplace"],
    ["lookahead", "oil-laplace"],
    ["latency", "oil-laplace"],
    ["speed"],
    ["sweep", "paper"],
    ["bench"],
]
#: Those that write a folder.
FOLDERS = ("run", "profile", "latency", "sweep", "bench")


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


@pytest.mark.parametrize("command", [each for each in NEVER_RUN if each[0] in FOLDERS])
def test_a_folder_that_cannot_be_made_is_refused_before_the_run(command, capsys, tmp_path, nothing_runs):
    (tmp_path / "file").write_text("in the way")
    error = refused(capsys, *command, "--out", tmp_path / "file" / "run")
    assert f"{tmp_path / 'file' / 'run'}: Not a directory" in error
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@contextmanager
def not_as_root():
    """Root may write anywhere, so a refusal can only be seen by somebody else."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_read_only_folder_is_refused_before_the_run(capsys, tmp_path, nothing_runs):
    tmp_path.chmod(0o500)
    with not_as_root():
        error = refused(capsys, "run", PROBLEM, *QUICK, "--out", tmp_path / "run")
    assert f"{tmp_path / 'run'}: Permission denied" in error


def test_checking_leaves_no_folder_behind(tmp_path):
    outputs.check_outputs(str(tmp_path / "a.json"), tmp_path / "new" / "run", ["run.json"], force=False)
    assert list(tmp_path.iterdir()) == []


def test_a_replaced_file_is_the_old_or_the_new_one_even_when_renaming_fails(tmp_path, monkeypatch):
    target = tmp_path / "run.json"
    outputs.write_atomic(target, b"old")

    def refuse(*_):
        raise OSError("the power went")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="power"):
        outputs.write_atomic(target, b"new")
    assert target.read_bytes() == b"old" and list(tmp_path.iterdir()) == [target]
