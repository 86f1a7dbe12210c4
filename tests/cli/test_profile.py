"""`adamb profile`: measurements stay below the upper bounds; `--check` tells whether limits hold."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from adamb.budgets.ledger import UNIT_BYTES
from adamb.firmware_model import _spec
from adamb.host_sim import make_problem, simulate
from adamb.host_sim.agents import Shape
from adamb.host_sim.agents.core import CoreAgent
from adamb.tools.cli import main
from adamb.tools.measure import memory_growth as profiling
from adamb.tools.measure.memory_growth import GrowthTask, measure
from adamb.tools.options import PlayedProblem
from support.command import adamb, refused

SMALL = ("profile", "oil-laplace", "--episodes", "150", "--seeds", "3")


@pytest.fixture(scope="module")
def found():
    return [
        measure(GrowthTask(PlayedProblem("oil-laplace", (5, 6, 7, 8), 400), mode, 1024))
        for mode in ("tracking", "paper")
    ]


def test_nothing_exceeds_its_upper_bound_and_the_bound_is_below_the_papers(found):
    for each in found:
        assert each.violations() == []
        for name in ("uncapped", "capped"):
            assert (each.tracks[name]["bytes"].max(axis=0) <= each.bounds["bytes"]).all()
    by_paper = found[1]
    assert by_paper.paper_met
    assert (np.asarray(by_paper.bounds["leaves"]) <= by_paper.paper["leaves"]).all()


def test_the_cap_holds_and_is_felt_no_earlier_than_possible(found):
    tracking = found[0]
    capped = tracking.tracks["capped"]
    assert capped["bytes"].max() <= 1024
    assert capped.cap_bound_at.min() >= max(1, tracking.job.bound.first_binding_episode(1024))
    assert (tracking.tracks["uncapped"].cap_bound_at == 0).all()


def test_a_run_measures_what_the_simulator_measures(found):
    problem = make_problem("oil-laplace", [5, 6, 7, 8], episodes=400)
    result = simulate(problem, "adamb", mode="paper", core="c")
    free = found[1].tracks["uncapped"]
    assert free["leaves"][:, -1].tolist() == result.stats["leaves"].tolist()
    assert free["bytes"][:, -1].tolist() == result.bytes[:, -1].tolist()


def test_while_a_quarter_of_the_block_is_free_both_controllers_are_the_same(found):
    """From then on no ball is divided early under the cap."""
    each = found[0]
    for seed in range(4):
        used = each.tracks["capped"]["bytes"][seed]
        before = np.arange(np.argmax(used > 768) or len(used))
        assert len(before) and each.points[before[-1]] < each.tracks["capped"].cap_bound_at[seed]
        for quantity in ("bytes", "leaves", "entries"):
            free, capped = (each.tracks[name][quantity][seed, before] for name in ("uncapped", "capped"))
            assert (free == capped).all(), f"seed {each.task.seeds[seed]}"


def test_a_planted_violation_is_reported_with_exit_code_1(monkeypatch, capsys):
    real = profiling._bounds

    def too_small(job, points):
        return {name: [each // 3 for each in values] for name, values in real(job, points).items()}

    monkeypatch.setattr(profiling, "_bounds", too_small)
    code = main([*SMALL, "--agent-set", "mode=paper", "--json", "-"])
    content = json.loads(capsys.readouterr().out)
    assert code == 1
    assert any("above the bound" in line for line in content["violations"])


def test_json_csv_and_pictures_are_written_whole(tmp_path, capsys):
    folder = tmp_path / "out"
    assert main([*SMALL, "--out", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    content = json.loads((folder / "profile.json").read_text())
    assert content["violations"] == []
    assert {"measured", "ci95", "paper", "single_path"} <= set(content["exponent"])
    wanted = {"episode", "bytes", "leaves", "units", "bound_paper", "bound_exact"}
    assert all(wanted <= set(point) for point in content["points"])
    assert {(point["mode"], point["run"]) for point in content["points"]} == {
        (mode, run) for mode in ("tracking", "paper") for run in ("uncapped", "capped")
    }
    for mode in ("tracking", "paper"):
        capped = content["ledger"][mode]["capped"]
        owners = [size for owner, size in capped.items() if owner not in ("block", "peak")]
        assert sum(owners) == capped["block"] == 1024
        assert capped["peak"] <= 1024
    assert all(label.startswith("host process") for label in content["host_memory"])
    lines = (folder / "profile.csv").read_text().splitlines()
    assert len(lines) == 1 + len(content["points"])
    picture = (folder / "profile.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and min(struct.unpack(">II", picture[16:24])) > 400
    assert b"upper bound" in (folder / "profile.svg").read_bytes()
    assert "exists already" in refused(capsys, *SMALL, "--out", folder)


def test_a_controller_of_more_than_128_kib_is_measured():
    """Its last unit times four words is more than 16 bits hold."""
    agent = CoreAgent(Shape(3, 3, 5, (1,), 1), mode="paper", phi="1", action="random")
    draw = np.random.default_rng(0)
    while agent.blocks[0, _spec.H_FRESH] * 1.0 * UNIT_BYTES < 160 * 1024:
        for h in range(5):
            agent.act(h, draw.random((1, 3)))
            agent.observe(h, draw.random(1), draw.random((1, 3)))
        agent.end_episode()
    free = int(agent.blocks[0, _spec.H_FREE_N])
    found = profiling.recorded(agent)
    assert found["bytes"] == (int(agent.blocks[0, _spec.H_FRESH]) - free) * UNIT_BYTES > 128 * 1024


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--episodes", "3"], "must be from 10"),
        (["--budget", "64B"], "bytes required"),
        (["--agent-set", "share=maybe"], "must be one of"),
    ],
)
def test_a_bad_option_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert message in refused(capsys, *SMALL, *arguments)


def test_without_a_cap_only_uncapped_runs_are_made(capsys):
    assert main([*SMALL, "--agent-set", "mode=tracking", "--budget", "none", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert {point["run"] for point in content["points"]} == {"uncapped"}
    assert content["cap_bound_at"] == {"tracking": None}


@pytest.mark.parametrize(
    ("cap", "said"), [("8KiB", "no capped seed ran out of room"), ("640B", "room ran out from episode ")]
)
def test_a_lack_of_room_is_told_as_such(capsys, cap, said):
    """A capped pool stays smaller long before that, so a cap that was "never felt" looked wrong beside it."""
    options = ("--episodes", 60, "--seeds", 2, "--agent-set", "mode=tracking", "--budget", cap, "--quiet")
    code, shown, error = adamb(capsys, "profile", "oil-laplace", *options)
    assert code == 0 and said in " ".join(shown.split()), shown + error


# ---- limits in a file ---------------------------------------------------------------------------------


FILE = """
problem = "oil-laplace"
agent = "adaql"
episodes = 60
seeds = 3
[limits]
bytes = "{size}"
min_reward = {reward}
"""


@pytest.fixture
def check(tmp_path: Path, capsys):
    def run(text: str, *options: str, call=adamb):
        path = tmp_path / "budget.toml"
        path.write_text(text, encoding="utf-8")
        return call(capsys, "profile", "--check", path, *options)

    return run


def test_limits_that_hold_give_exit_code_0_and_their_margins(check):
    code, out, _ = check(FILE.format(size="4KiB", reward=0.5), "--json", "-")
    content = json.loads(out)
    assert code == 0 and content["ok"]
    rows = {row["name"]: row for row in content["rows"]}
    assert rows["bytes"]["margin"] == 4096 - rows["bytes"]["measured"] > 0
    assert rows["min_reward"]["margin"] == pytest.approx(rows["min_reward"]["measured"] - 0.5)
    assert "seeds 0 to 2" in rows["min_reward"]["note"]


@pytest.mark.parametrize(("size", "reward", "broken"), [("64B", 0, "bytes"), ("4KiB", 4.99, "min_reward")])
def test_a_limit_that_does_not_hold_is_broken_and_exit_code_1(check, size, reward, broken):
    """A run with a larger cap than the limit allows: the peak must be reported above the limit."""
    text = FILE.format(size=size, reward=reward).replace("seeds = 3", 'seeds = 3\nbudget = "4KiB"')
    code, out, _ = check(text, "--json", "-")
    assert code == 1 and [row["name"] for row in json.loads(out)["rows"] if not row["ok"]] == [broken]
    assert "broken" in check(text)[1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"oil-laplace"', '"oil-laplac"', "did you mean oil-laplace"),
        ('agent = "adaql"', 'agent = "adaq"', "did you mean adaql"),
        ("min_reward", "max_reward", "limits.max_reward"),
        ("episodes = 60", "episodes = -1", "whole number from 1"),
        ("[limits]", "[limits]\nstack_bytes = 100", "only adamb runs on a target"),
    ],
)
def test_a_wrong_file_is_one_line_and_exit_code_2(check, old, new, message):
    assert message in check(FILE.format(size="4KiB", reward=1).replace(old, new), call=refused)
