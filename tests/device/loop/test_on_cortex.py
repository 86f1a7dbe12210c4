"""`--core cortex-m0`: the emulated controller plays the same run, and every call is counted there."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adamb.firmware_model.host.errors import AdambError
from adamb.host_sim import make_problem, simulate
from adamb.host_sim.agents import make_agent
from adamb.host_sim.problem import with_seeds
from adamb.host_sim.problems import problem_names
from adamb.tools.device.emulator.core import EmulatedCore
from adamb.tools.device.loop.transports import MemoryTransport
from support.command import adamb, refused
from support.looped import play, session


def run(core: str, *, seeds=(0, 1), episodes=10, **options):
    problem = make_problem("oil-laplace", seeds, episodes=episodes)
    return simulate(problem, "adamb", budget_bytes="1KiB", core=core, **options)


@pytest.mark.parametrize("core", ["cortex-m0", "cortex-m3", "cortex-m0,cortex-m3"])
def test_the_run_is_that_of_the_c_core(core):
    here, there = run("c"), run(core)
    assert there.seeds == here.seeds and there.digest == here.digest
    assert np.array_equal(there.returns, here.returns) and np.array_equal(there.optimal, here.optimal)
    assert np.array_equal(there.bytes, here.bytes) and np.array_equal(there.bytes_peak, here.bytes_peak)
    assert {name: list(v) for name, v in there.stats.items()} == {n: list(v) for n, v in here.stats.items()}
    assert there.target["unit"] == "instructions" and there.target["act"]["calls"] == 2 * 10 * 5
    assert there.target["blocks_compared"] == 2 * 10


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m3"])
def test_a_call_over_the_link_counts_the_instructions_of_the_call_alone(cpu):
    line = MemoryTransport(cpu, 512)
    link, config = session(line)
    direct = EmulatedCore(config, 512, target=cpu)
    spent: list[tuple[int, int]] = []
    play(link, direct, 15, seed=1, each=lambda: spent.append((line.spent, direct.last.instructions)))
    assert all(there == alone for there, alone in spent) and len(spent) == 30


@pytest.mark.parametrize("name", [name for name in problem_names() if not name.startswith("cache-2")])
def test_an_instance_alone_repeats_what_it_does_among_others(name):
    among = make_problem(name, [3, 5], episodes=2)
    alone = with_seeds(among, [5])
    assert alone.seeds == [5] and alone.horizon == among.horizon and alone.params == among.params
    for _ in range(2):
        assert np.array_equal(among.begin_episode()[1:], alone.begin_episode())
        for h in range(min(among.horizon, 8)):
            actions = np.full((2, among.d_a), 0.3)
            both, one = among.step(h, actions), alone.step(h, actions[:1])
            assert both[0][1] == one[0][0] and np.array_equal(both[1][1:], one[1])


class Poked(MemoryTransport):
    """A machine in which one word of the block changes by itself, before a certain request."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.requests = 0

    def write(self, data):
        self.requests += 1
        if self.requests == self.at:
            self.machine.write(self._block + 2 * self.word, self.value)
        super().write(data)


def poked(monkeypatch, **fields):
    kind = type("Poked", (Poked,), fields)
    monkeypatch.setattr("adamb.tools.device.loop.transports.MemoryTransport", kind)


def test_a_damaged_word_is_named_and_what_was_measured_is_kept(monkeypatch):
    poked(monkeypatch, at=100, word=480, value=b"\x34\x12")
    says = r"cortex-m0, seed 0: word 480 \(.+\) is 4660 there, \d+ in the C core; .*is its memory sound"
    with pytest.raises(AdambError, match=says) as caught:
        run("cortex-m0")
    kept = caught.value.partial
    assert kept is not None and kept.seeds == (0,) and 5 < kept.episodes < 10 and kept.digest is None
    assert np.array_equal(kept.returns, run("c").returns[:1, : kept.episodes])


def test_a_program_that_computes_otherwise_is_named_with_step_and_word(monkeypatch):
    """The target's block is given another threshold whenever a block is written or made."""

    class Other(MemoryTransport):
        def write(self, data):
            super().write(data)
            self.machine.write(self._block + 2 * 44, b"\x02\x00")

    monkeypatch.setattr("adamb.tools.device.loop.transports.MemoryTransport", Other)
    says = r"episode 1, step 0, act: word 44 \(.*\) is 2 there, \d+ in the C core"
    with pytest.raises(AdambError, match=says):
        run("cortex-m0")


def test_seeds_that_took_their_turn_are_kept_when_a_run_is_stopped():
    seen = []

    def stop_in_the_third(progress):
        seen.append(progress.turn)
        return progress.turn[0] == 2 and progress.done == 5

    problem = make_problem("oil-laplace", [4, 5, 6, 7], episodes=6)
    agent = make_agent("adamb", problem, budget_bytes=1024, core="cortex-m0")
    result = simulate(problem, agent, observers=[stop_in_the_third])
    assert result.interrupted and result.seeds == (4, 5) and result.episodes == 6
    assert [(each["seed"], each["episodes"]) for each in result.unfinished] == [(6, 5)]
    assert len(result.unfinished[0]["returns"]) == 5
    assert seen[0] == (0, 4) and seen[-1] == (2, 4)


def test_the_table_and_the_file_show_what_was_measured_there(capsys, tmp_path):
    arguments = ["--episodes", 4, "--seeds", 2, "--budget", "1KiB", "--quiet", "--out"]
    code, out, _ = adamb(capsys, "run", "oil-laplace", "--core", "cortex-m0", *arguments, tmp_path / "run")
    assert code == 0 and "act, on the target" in out and "as --core c gives it" in out
    summary = json.loads((tmp_path / "run" / "run.json").read_text())
    assert summary["core"] == "cortex-m0" and summary["target"]["observe"]["most"] > 100
    code, _, _ = adamb(capsys, "run", "oil-laplace", "--core", "c", *arguments, tmp_path / "here")
    same = json.loads((tmp_path / "here" / "run.json").read_text())
    assert code == 0 and same["digest"] == summary["digest"] and same["target"] is None


def test_compare_and_sweep_take_targets_too(capsys, tmp_path):
    code, out, _ = adamb(
        capsys, "compare", "oil-laplace", "--agent-set", "core=cortex-m0", "--budgets", "1KiB", "--cap", "1KiB",
        "--agents", "centre", "--episodes", 5, "--seeds", 2, "--json", "-",
    )  # fmt: skip
    assert code == 0 and json.loads(out)["rows"][0]["options"] == {"core": "cortex-m0"}
    (tmp_path / "s.toml").write_text(
        'problems = ["oil-laplace"]\nepisodes = 5\nseeds = 2\nbudgets = ["1KiB"]\n'
        'agents = [{ name = "adamb", core = "cortex-m3", label = "there" }, "adamb"]\n'
    )
    code, out, _ = adamb(
        capsys, "sweep", tmp_path / "s.toml", "--out", tmp_path / "s", "--jobs", 1, "--quiet", "--json", "-"
    )
    rewards = [each["reward_per_episode"] for each in json.loads(out)["combinations"]]
    assert code == 0 and rewards[0] == rewards[1]


@pytest.mark.parametrize(
    ("core", "says"),
    [
        ("cortex-m1", "did you mean cortex-m"),
        ("cortex-m0,cortex-m9", "'cortex-m9' is no target"),
        ("board:a,board:a", "board:a is there twice"),
    ],
)
def test_a_target_that_there_is_not_is_one_line(capsys, core, says):
    assert says in refused(capsys, "run", "oil-laplace", "--core", core, "--budget", "1KiB")
