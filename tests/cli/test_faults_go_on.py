"""After kill -9 or SIGTERM the same command goes on where it was, and its results are those of one piece."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from adamb.host_sim import going_on
from adamb.host_sim.compiled import ProblemInC
from adamb.host_sim.problem import Problem
from adamb.host_sim.results.run import BLOCK, CURVES, RECORDING
from adamb.tools import so_far
from adamb.tools.stopping import StopRequest
from adamb.tools.terminal import live_tasks
from support.command import adamb
from support.faulty import child, ended

EPISODES, SEEDS = 12, 2
RIVALS = ("adaql", "zoom", "bandit", "bandit-zoom", "epsql", "epsmb", "kernel-ucbvi", "cmac")
RUNS = {
    "the core, recorded": ["run", "oil-laplace", "--budget", "1KiB", "--record"],
    "a drift": ["run", "oil-laplace", "--budget", "1KiB", "--drift", "walk", "--record"],
    "a continuing task": ["run", "ambulance-1", "--continuing", "--core", "python", "--budget", "1KiB"],
    "counted requests": ["run", "dram-2x1", "--statistics", "--budget", "1KiB"],
    "random": ["run", "oil-laplace", "--agent", "random"],
    **{name: ["run", "oil-laplace", "--budget", "2KiB", "--agent", name] for name in RIVALS},
    "core double": ["run", "oil-laplace", "--core", "double"],
    "profile": ["profile", "oil-laplace", "--mode", "tracking"],
    "profile, both modes": ["profile", "oil-laplace"],
}
SAVED = {"run": 5, "profile": 3}
"""Files of a save, the one to go on from among them."""


def line(task: str, out: Path, *more: str) -> list[str]:
    short = ["--episodes", str(EPISODES), "--seeds", str(SEEDS), "--quiet", "--out", str(out)]
    return [*RUNS[task], *short, *more]


def results(out: Path) -> dict[str, object]:
    """Everything that was measured, but for times."""
    found: dict[str, object] = {}
    for path in out.iterdir():
        if path.name in ("run.json", "profile.json"):
            content = json.loads(path.read_text())
            found[path.name] = {k: v for k, v in content.items() if k not in ("seconds", "host_memory")}
        elif path.name in (CURVES, BLOCK, RECORDING, "profile.csv"):
            found[path.name] = path.read_bytes()
    return found


@pytest.fixture
def played(monkeypatch) -> list[int]:
    """Episodes that are played in this process, step by step or in C."""
    seen: list[int] = []
    begin, begin_in_c = Problem.begin_episode, ProblemInC.begin_episodes

    def one(self):
        seen.append(1)
        return begin(self)

    def some(self, most):
        starts, noise = begin_in_c(self, most)
        seen.append(len(starts))
        return starts, noise

    monkeypatch.setattr(Problem, "begin_episode", one)
    monkeypatch.setattr(ProblemInC, "begin_episodes", some)
    return seen


@pytest.fixture
def at_every_episode(monkeypatch) -> None:
    monkeypatch.setattr(so_far, "SECONDS", 0.0)
    monkeypatch.setattr(so_far, "PAUSE", 0.0)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a task gives in one piece; each is measured once."""
    found: dict[str, dict[str, object]] = {}

    def of(task: str) -> dict[str, object]:
        if task not in found:
            place = tmp_path_factory.mktemp("whole")
            assert ended(child(line(task, place / "out"), "none", place / "said.txt")) == 0
            found[task] = results(place / "out")
        return found[task]

    return of


def kill(words: list[str], out: Path, saves: float) -> None:
    """Kill -9 when so many saves of what there is so far are done."""
    passed = round(saves * SAVED[words[0]])
    said = out.parent / "said.txt"
    assert ended(child(words, "kill -9 at a later file", said, passed)) == -9, said.read_text()


@pytest.mark.usefixtures("at_every_episode")
@pytest.mark.parametrize("task", RUNS)
def test_after_kill_9_the_same_command_goes_on(task, capsys, tmp_path, undisturbed):
    out = tmp_path / "out"
    kill(line(task, out), out, 4.4)
    code, _, error = adamb(capsys, *line(task, out))
    assert code == 0, error
    assert "goes on after" in error
    assert results(out) == undisturbed(task)
    assert not (out / so_far.FOLDER).exists()


@pytest.mark.usefixtures("at_every_episode")
def test_what_was_kept_is_not_played_again(capsys, tmp_path, played):
    out = tmp_path / "out"
    words = line("the core, recorded", out, "--no-references")
    kill(words, out, 7)
    played.clear()
    code, _, error = adamb(capsys, *words)
    assert code == 0 and "goes on after 7 episodes" in error, error
    assert sum(played) == EPISODES - 7


@pytest.mark.usefixtures("at_every_episode")
def test_killed_again_and_again_a_run_comes_to_its_end(capsys, tmp_path, undisturbed):
    out, task = tmp_path / "out", "the core, recorded"
    for _ in range(3):
        kill(line(task, out), out, 3.7)
    code, _, error = adamb(capsys, *line(task, out))
    assert code == 0 and "goes on after 9 episodes" in error, error
    assert results(out) == undisturbed(task)


@pytest.mark.parametrize("task", ["the core, recorded", "profile, both modes"])
def test_after_sigterm_the_same_command_goes_on(task, capsys, tmp_path, undisturbed, played, monkeypatch):
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["adamb", *line(task, out)])
    with monkeypatch.context() as patch:
        asked = property(lambda self: sum(played) >= 5, lambda self, value: None)
        patch.setattr(StopRequest, "asked", asked, raising=False)
        patch.setattr(live_tasks.Meter, "__call__", lambda self, done: done >= 5)
        code, _, error = adamb(capsys, *line(task, out))
    assert code == 130 and results(out) != undisturbed(task), error
    code, _, error = adamb(capsys, *line(task, out))
    assert code == 0 and "goes on after 5 episodes" in error, error
    assert results(out) == undisturbed(task)
    assert not (out / so_far.FOLDER).exists()


@pytest.mark.usefixtures("at_every_episode")
@pytest.mark.parametrize("task", ["the core, recorded", "adaql", "core double", "profile"])
@pytest.mark.parametrize("damage", ["truncated", "flipped", "one of two"])
def test_a_damaged_file_is_never_gone_on_from(task, damage, capsys, tmp_path, undisturbed):
    out = tmp_path / "out"
    kill(line(task, out), out, 4)
    files = sorted((out / so_far.FOLDER).glob(f"*/{so_far.STATE}"))
    assert len(files) == 2
    newest = max(files, key=lambda path: int(so_far.read_state(path)[0]["done"]))
    for path in [newest] if damage == "one of two" else files:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content[:-100] if damage == "truncated" else content)
    code, _, error = adamb(capsys, *line(task, out))
    assert code == 0, error
    assert ("goes on after 3 episodes" if damage == "one of two" else "cannot be read") in error
    assert results(out) == undisturbed(task)


def test_a_flipped_bit_anywhere_in_the_file_is_found(tmp_path):
    kept = {"done": np.array(7), "returns": np.linspace(0, 1, 14).reshape(2, 7)}
    keeper = so_far.Keeper(tmp_path, "a key")
    keeper.save({"run.json": b"{}"}, kept)
    path = tmp_path / so_far.FOLDER / "1" / so_far.STATE
    content = path.read_bytes()
    for bit in range(0, 8 * len(content), 11):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            arrays, key = so_far.read_state(path)
        except so_far.NO_USE:
            continue
        assert key == "a key" and {name: array.tolist() for name, array in arrays.items()} == {
            name: array.tolist() for name, array in kept.items()
        }, f"bit {bit}: read as whole, and it is not"


@pytest.mark.usefixtures("at_every_episode")
@pytest.mark.parametrize("task", ["the core, recorded", "profile"])
@pytest.mark.parametrize("other", ["options", "build"])
def test_what_is_of_other_options_or_another_build_is_not_gone_on_from(
    task, other, capsys, tmp_path, undisturbed, monkeypatch
):
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        if other == "build":
            patch.setattr(going_on, "program_hash", lambda: "another")
        kill(line(task, out, *(["--seed-base", "5"] if other == "options" else [])), out, 4)
    code, _, error = adamb(capsys, *line(task, out))
    assert code == 0 and "starts again: it had other options, or another build" in error, error
    assert results(out) == undisturbed(task)
    assert not (out / so_far.FOLDER).exists()


@pytest.mark.usefixtures("at_every_episode")
def test_an_agent_that_cannot_be_saved_starts_again_and_loses_nothing(capsys, tmp_path):
    out = tmp_path / "out"
    words = [*line("random", out), "--agent", "adamb", "--core", "reference"]

    def furthest() -> int:
        files = (out / so_far.FOLDER).glob("*/run.json")
        return max(json.loads(path.read_text())["episodes"] for path in files)

    files = SAVED["run"] - 1
    said = tmp_path / "said.txt"
    assert ended(child(words, "kill -9 at a later file", said, 3 * files)) == -9
    assert furthest() == 3
    assert ended(child(words, "kill -9 at a later file", said, 0)) == -9
    assert "core reference cannot be saved" in said.read_text()
    assert furthest() == 3, "it was killed before it was further"
    assert ended(child(words, "kill -9 at a later file", said, 2 * files)) == -9
    assert furthest() == 5
    code, _, error = adamb(capsys, *words)
    assert code == 0 and "starts again: core reference cannot be saved" in error, error
    assert not (out / so_far.FOLDER).exists()


@pytest.mark.usefixtures("at_every_episode")
@pytest.mark.parametrize("task", ["the core, recorded", "adaql", "kernel-ucbvi", "core double"])
def test_a_forged_file_with_a_right_checksum_is_refused(task, capsys, tmp_path, undisturbed):
    out = tmp_path / "out"
    kill(line(task, out), out, 4)
    for path in (out / so_far.FOLDER).glob(f"*/{so_far.STATE}"):
        kept, key = so_far.read_state(path)
        if "agent_memory" in kept:
            kept["agent_memory"][4:600] ^= 0x55
        else:
            kept["agent_blocks"][:, 30:] ^= 0x5555
        with path.open("wb") as file:
            so_far.write_state(kept, key, file)
    code, _, error = adamb(capsys, *line(task, out))
    assert code == 0 and "cannot be read" in error, error
    assert results(out) == undisturbed(task)


def test_a_save_for_which_there_is_no_memory_does_not_end_the_run(capsys, tmp_path, monkeypatch):
    def none_left(*anything):
        raise MemoryError

    keeper = so_far.Keeper(tmp_path, "a key")
    monkeypatch.setattr(so_far, "write_state", none_left)
    keeper.save({"run.json": b"{}"}, {"done": np.array(1)})
    assert "results so far are not kept: no memory is left" in capsys.readouterr().err
    assert not keeper.due(10**6), "it is said once"
