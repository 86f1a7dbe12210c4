"""`adamb sweep guarantees`: its first row has what the paper's theory asks for, and shows what that costs."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from adamb.host_sim import make_problem
from adamb.host_sim.experiments.spec import read_spec
from adamb.tools.commands.sweep import SHIPPED
from support.command import adamb, refused

PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper.md"
PROBLEMS = ("oil-laplace", "oil-quadratic", "ambulance-1")
ROW = r"^\| (\S+)" + 4 * r" \| ([\d.]+)" + r" \| ([\d.]+)·10\^(\d+) \| `adamb (.+)` \|$"
STEP = 1e-6
SWEEP = """
problems = ["oil-laplace", { name = "oil-quadratic", label = "flat" }]
episodes = 5
seeds = 2
shares = true
[[agents]]
name = "epsql"
size = 4
by_problem = { flat = { size = 6 } }
"""


@cache
def constants(problem):
    """L_r, L_T and L_V of the row with the bonus of the theory."""
    for cell in read_spec(SHIPPED / "guarantees.toml").cells:
        if cell.problem == problem and cell.bonus == "theory":
            return {name: value for name, value in cell.options if name.startswith("L_")}
    raise AssertionError(f"no row with the bonus of the theory plays {problem}")


def steepest(problem):
    """Largest slopes of rewards and next states that were found, in the max norm of state and action."""
    rng, rows = np.random.default_rng(17), np.empty((problem.n, 1))
    deposit = problem.c if hasattr(problem, "c") else np.full_like(rows, 0.5)
    slopes = np.zeros(2)
    for turn in range(1500):
        near = rng.normal(0, 1e-3, (3, *rows.shape))
        states = (deposit + near[0], rng.random(rows.shape), 1e-3 * rng.random(rows.shape))[turn % 3]
        actions = (states + near[1], rng.random(rows.shape))[turn % 2]
        states, actions = (np.clip(each, STEP, 1 - STEP) for each in (states, actions))
        noise = problem.draw_noise(rng, 1)[0, 0]
        noise = np.full(problem.n, noise) if np.ndim(noise) == 0 else np.tile(noise, (problem.n, 1)).T
        moved = (states + rng.choice([-STEP, STEP], rows.shape), actions + rng.choice([-STEP, STEP], rows.shape))
        (reward, following), (other, elsewhere) = (
            problem.dynamics(0, *place, noise) for place in ((states, actions), moved)
        )
        found = np.abs(other - reward).max(), np.abs(elsewhere - following).max()
        slopes = np.maximum(slopes, np.array(found) / STEP)
    return slopes


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_covered_row_has_lipschitz_constants_that_the_problem_asks_for(name):
    """At least those of the problem, else nothing is covered; not far above, else it costs too much."""
    problem, given = make_problem(name, range(20)), constants(name)
    rewards, transitions = steepest(problem)
    assert rewards <= given["L_r"] + 1e-6 and rewards >= 0.95 * given["L_r"]
    assert transitions <= given["L_T"] + 1e-6
    grid = np.linspace(0, 1, 20001)
    states = np.tile(grid[None, :, None], (problem.n, 1, 1))
    best = problem.solve()
    values = max(np.abs(np.diff(best.values_at(h, states), axis=1)).max() for h in range(problem.horizon))
    assert 0.8 * given["L_V"] <= values * 20000 <= given["L_V"] + 1e-3


def test_the_page_has_the_constants_and_the_episodes_that_pac_asks_for(capsys):
    found = re.findall(ROW, PAGE.read_text(), re.MULTILINE)
    assert {row[0] for row in found} == set(PROBLEMS)
    for name, *numbers, digits, power, command in found:
        given = dict(zip(("L_r", "L_T", "L_V"), map(float, numbers), strict=False))
        assert given == constants(name), name
        whole = 1 + given["L_r"] + given["L_V"] * (1 + given["L_T"])
        assert float(numbers[3]) == whole and f"lipschitz={numbers[3]}," in command
        code, out, _ = adamb(capsys, *command.split(), "--json", "-")
        asked = json.loads(out)
        assert code == 0 and (asked["job"]["epsilon"], asked["job"]["delta"]) == (0.5, 0.1)
        assert asked["job"]["lipschitz"] == whole and asked["job"]["dims"] == "1+1"
        assert f"{asked['bounds']['episodes for PAC']['value']:.1e}" == f"{digits}e+{power}"


def test_options_by_problem_hold_on_that_problem_alone_and_shares_stand_beside_rewards(capsys, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(SWEEP)
    sizes = {cell.problem_label: dict(cell.options)["size"] for cell in read_spec(file).cells}
    assert sizes == {"oil-laplace": 4, "flat": 6}
    asked = ("sweep", file, "--out", tmp_path / "out", "--jobs", 1, "--quiet", "--json", tmp_path / "found")
    assert adamb(capsys, *asked)[0] == 0
    table = (tmp_path / "out" / "table.md").read_text()
    for each in json.loads((tmp_path / "found").read_text())["combinations"]:
        reward, optimum = each["reward_per_episode"]["mean"], each["optimal"]["mean"]
        share = 100 * reward / optimum
        assert re.search(rf"{reward:.3f} ± \d\.\d+, {share:.1f} %", table)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("{ flat =", "{ flta ="), "agents[0].by_problem.flta = {'size': 6}: no such problem"),
        (("{ flat = { size = 6 } }", "6"), "agents[0].by_problem = 6: expected a table"),
        (("{ size = 6 }", "6"), "agents[0].by_problem.flat = 6: expected a table"),
        (("{ size = 6 }", "{ szie = 6 }"), "szie"),
    ],
)
def test_a_mistake_in_options_by_problem_is_one_line(capsys, tmp_path, change, named):
    file = tmp_path / "two.toml"
    file.write_text(SWEEP.replace(*change))
    assert named in refused(capsys, "sweep", file, "--out", tmp_path / "out")
