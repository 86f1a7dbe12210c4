"""`adamb profile`: measurements stay below the upper bounds, files are written, a violation is reported."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from adamb.budgets.controller import make_config
from adamb.budgets.ledger import UNIT_BYTES
from adamb.firmware_model import _spec
from adamb.tools.cli import main
from adamb.tools.commands import profile as profile_command
from adamb.tools.measure import memory_growth as profiling
from adamb.tools.measure.memory_growth import GrowthTask, measure
from support.command import adamb, refused

SMALL = ("profile", "oil-laplace", "--episodes", "150", "--seeds", "3")


@pytest.fixture(scope="module")
def found():
    return [
        measure(GrowthTask("oil-laplace", mode, 400, (5, 6, 7, 8), 1024)) for mode in ("tracking", "paper")
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
    possible = tracking.job.bound.first_binding_episode(1024)
    felt = capped.cap_bound_at
    assert (felt > 0).all()
    assert felt.min() >= possible
    assert (tracking.tracks["uncapped"].cap_bound_at == 0).all()


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


def test_a_run_measures_what_the_simulator_measures(found):
    """The fleet's memory after the last episode is that of `simulate` with the same seed."""
    from adamb.host_sim.agents import make_agent
    from adamb.host_sim.registry import make_problem
    from adamb.host_sim.runner import simulate

    problem = make_problem("oil-laplace", [5, 6, 7, 8], episodes=400)
    agent = make_agent("adamb", problem, mode="paper", core="c")
    result = simulate(problem, agent, episodes=400)
    free = found[1].tracks["uncapped"]
    assert free["leaves"][:, -1].tolist() == result.stats["leaves"].tolist()
    assert free["bytes"][:, -1].tolist() == result.bytes[:, -1].tolist()


def test_exponents_stand_beside_the_papers(found):
    by_paper = found[1].exponents()
    assert by_paper["paper"] == pytest.approx(3 / 5)
    assert by_paper["single_path"] == pytest.approx(1 / 3)
    assert by_paper["time"] == {"paper": pytest.approx(6 / 5), "single_path": pytest.approx(4 / 3)}
    assert 0 < by_paper["measured"] < 0.6
    assert by_paper["ci95"] > 0
    assert not found[0].exponents()["paper_condition_met"]


def test_a_planted_violation_is_reported_with_exit_code_1(monkeypatch, capsys):
    real = profiling._bounds

    def too_small(job, points):
        return {name: [each // 3 for each in values] for name, values in real(job, points).items()}

    monkeypatch.setattr(profiling, "_bounds", too_small)
    code = main([*SMALL, "--mode", "paper", "--json", "-"])
    content = json.loads(capsys.readouterr().out)
    assert code == 1
    assert any("above the bound" in line for line in content["violations"])


def test_json_csv_and_pictures_are_written_whole(tmp_path, capsys):
    folder = tmp_path / "out"
    assert main([*SMALL, "--plot", "--out", str(folder)]) == 0
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
    assert "exists already" in refused(capsys, *SMALL, "--plot", "--out", folder)


def test_a_controller_of_more_than_128_kib_is_measured():
    """Its last unit times four words is more than 16 bits hold."""
    fleet = profiling.Fleet(
        make_config(3, 3, 5, {"mode": "paper", "phi": "1", "action": "random"}), (1,), {"uncapped": None}
    )
    draw = np.random.default_rng(0)
    while fleet.blocks[0, _spec.H_FRESH] * 1.0 * UNIT_BYTES < 160 * 1024:
        for h in range(5):
            fleet.act(h, draw.random((1, 3)))
            fleet.observe(h, draw.random(1), draw.random((1, 3)))
        fleet.end_episode()
    found = fleet.record("uncapped")
    free = int(fleet.blocks[0, _spec.H_FREE_N])
    assert found["bytes"] == (int(fleet.blocks[0, _spec.H_FRESH]) - free) * UNIT_BYTES > 128 * 1024


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mode", "fast"], "must be one of both"),
        (["--episodes", "3"], "must be from 10"),
        (["--budget", "lots"], "not a size"),
        (["--budget", "64B"], "bytes required"),
        (["--share", "maybe"], "must be one of"),
        (["--gamma", "x"], "gamma"),
        (["--set", "nonsense"], "name=value"),
    ],
)
def test_a_bad_option_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert message in refused(capsys, *SMALL, *arguments)


def test_without_a_cap_only_uncapped_runs_are_made(capsys):
    assert main([*SMALL, "--mode", "tracking", "--budget", "none", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert {point["run"] for point in content["points"]} == {"uncapped"}
    assert content["cap_bound_at"] == {"tracking": None}


@pytest.mark.parametrize(
    ("cap", "said"), [("8KiB", "no capped seed ran out of room"), ("640B", "room ran out from episode ")]
)
def test_a_lack_of_room_is_told_as_such(capsys, cap, said):
    """A capped pool stays smaller long before that, so a cap that was "never felt" looked wrong beside it."""
    options = ("--episodes", 60, "--seeds", 2, "--mode", "tracking", "--budget", cap, "--quiet")
    code, shown, error = adamb(capsys, "profile", "oil-laplace", *options)
    assert code == 0 and said in " ".join(shown.split()), shown + error


def test_the_table_shows_the_last_point():
    assert profile_command._rows_shown([1, 10, 100])[-1] == 2
    assert len(profile_command._rows_shown(list(range(31)))) <= 12


@pytest.mark.campaign
@pytest.mark.parametrize("problem", ["oil-2d", "ambulance-2", "oil-noisy"])
def test_other_problems_stay_below_their_bounds(problem):
    for mode in ("tracking", "paper"):
        each = measure(GrowthTask(problem, mode, 2000, (1, 2), 4096))
        assert each.violations() == []
