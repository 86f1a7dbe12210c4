"""A save of a run or a profile that was cut, or a part that was stopped, is not in its own way."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from adamb.budgets.errors import InputError
from adamb.host_sim.files import UNFINISHED
from adamb.host_sim.results.profile import read_profile
from adamb.host_sim.results.run import RunFolder
from adamb.tools import outputs
from adamb.tools.stopping import StopRequest
from support.command import adamb, one_line
from support.faulty import child, ended

PROBLEM = "oil-laplace"
READ = {"run": RunFolder.read, "profile": read_profile}
LAST = {"run": "run.json", "profile": "profile.json"}
FAULTS = {"quota at a later file": 2, "kill -9 at a later file": -9, "SIGTERM at a later file": 130}


def line(command: str, out: Path, *more: str) -> list[str]:
    task = ["--agent", "random"] if command == "run" else ["--mode", "tracking"]
    short = ["--episodes", "20", "--seeds", "2", "--quiet"]
    return [command, PROBLEM, *task, *short, "--out", str(out), *more]


def numbers(command: str, out: Path) -> dict:
    """What the last file says, without times."""
    content = json.loads((out / LAST[command]).read_text())
    return {name: value for name, value in content.items() if name not in ("seconds", "host_memory")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, dict]:
    found = {}
    for command in READ:
        place = tmp_path_factory.mktemp(command)
        assert ended(child(line(command, place / "out"), "none", place / "said.txt")) == 0
        found[command] = numbers(command, place / "out")
    return found


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("command", READ)
def test_a_save_that_was_cut_is_not_in_the_way_of_the_same_command(
    command, fault, capsys, tmp_path, undisturbed
):
    assert ended(child(line(command, tmp_path / "out"), fault, tmp_path / "said.txt")) == FAULTS[fault]
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert UNFINISHED in there and LAST[command] not in there
    code, _, error = adamb(capsys, *line(command, tmp_path / "out"))
    assert code == 0, error
    assert numbers(command, tmp_path / "out") == undisturbed[command]
    assert not (tmp_path / "out" / UNFINISHED).exists()
    assert adamb(capsys, *line(command, tmp_path / "out"))[0] == 2, "what is complete is not replaced"


@pytest.mark.parametrize("command", READ)
def test_a_forced_save_that_was_cut_is_not_read_as_the_earlier_one(command, tmp_path):
    out = tmp_path / "out"
    assert ended(child(line(command, out), "none", tmp_path / "said.txt")) == 0
    forced = line(command, out, "--force")
    assert ended(child(forced, "kill -9 at a later file", tmp_path / "said.txt")) == -9
    with pytest.raises((OSError, InputError)):
        READ[command](out)


@pytest.mark.parametrize("command", READ)
def test_what_was_stopped_is_replaced_by_the_same_command_alone(
    command, capsys, tmp_path, undisturbed, monkeypatch
):
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["adamb", *line(command, out)])
    with monkeypatch.context() as patch:
        patch.setattr(
            StopRequest, "asked", property(lambda self: True, lambda self, value: None), raising=False
        )
        if command == "profile":
            from adamb.tools.terminal import live_tasks

            patch.setattr(live_tasks.Meter, "__call__", lambda self, done: True)
        code, _, error = adamb(capsys, *line(command, out))
    assert code == 130, error
    assert numbers(command, out)["episodes"] < 20
    other = line(command, out, "--seed-base", "5")
    monkeypatch.setattr(sys, "argv", ["adamb", *other])
    code, _, error = adamb(capsys, *other)
    assert code == 2 and "exists already" in one_line(error)
    monkeypatch.setattr(sys, "argv", ["adamb", *line(command, out)])
    code, _, error = adamb(capsys, *line(command, out))
    assert code == 0, error
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
