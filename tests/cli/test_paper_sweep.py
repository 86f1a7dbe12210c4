"""`adamb sweep paper` and `equal-bytes`: what they cover, what they leave behind, how long they take."""

from __future__ import annotations

import csv
import json
import re
import resource
import subprocess
import sys
import time

import numpy as np
import pytest

from adamb.host_sim import agent_names, problem_names
from adamb.host_sim.paper_claims import CLAIMS
from adamb.host_sim.sweep_spec import read_spec
from adamb.tools.bench import paper_speed
from adamb.tools.cli import main
from adamb.tools.sweep_command import SHIPPED, find_file

TINY = """
name = "tiny"
analysis = "paper"
episodes = 40
seeds = 3
tune_seeds = 2
curves = 8
instance = "paper"
bonus_grid = [0.1, 1]
problems = ["oil-laplace", { name = "ambulance-2", label = "two" }]
"""


def shipped(name, **options):
    return read_spec(find_file(SHIPPED / name), **options)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The agents of the shipped file on two problems, a few episodes long."""
    folder = tmp_path_factory.mktemp("tiny")
    agents = (SHIPPED / "paper.toml").read_text().partition("[[agents]]")[2].partition("[quick]")[0]
    (folder / "tiny.toml").write_text(TINY + "[[agents]]" + agents)
    command = [sys.executable, "-m", "adamb.tools.cli", "sweep", folder / "tiny.toml", "--jobs", "1"]
    done = subprocess.run(
        [*command, "--out", folder / "out", "--quiet"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "out"


@pytest.mark.slow
def test_every_claim_is_printed_with_figures_seeds_and_a_verdict(tiny):
    printed, out = tiny
    for statement in CLAIMS.values():
        assert statement[:40] in printed
    report = json.loads((out / "claims.json").read_text())
    assert {each["claim"] for each in report["claims"]} == set(CLAIMS)
    known = {"holds", "does not hold", "does not hold (undecided)"}
    assert {each["verdict"] for each in report["claims"]} <= known
    assert all(each["seeds"] > 0 and each["figures"] and each["difference"] for each in report["claims"])
    tallies = re.findall(r"holds on (\d) of (\d)", printed)
    assert sum(int(holds) for holds, _ in tallies) == sum(each["holds"] for each in report["claims"])
    assert re.search(r"at an end of the grid: \d+ of 14", printed)
    assert "guarantees cover only it" in printed and "seeds 0..2" in printed


@pytest.mark.slow
def test_the_folder_holds_figures_tables_and_where_they_come_from(tiny):
    _, out = tiny
    pictures = ["curves-oil-laplace", "curves-two", "partitions-oil-laplace", "q-star"]
    for name in (f"{picture}.{kind}" for picture in pictures for kind in ("png", "svg")):
        assert (out / name).stat().st_size > 5000, name
    meta = json.loads((out / "meta.json").read_text())
    assert meta["finished"] and meta["tune_seeds"] == [10000, 10001] and len(meta["tuned"]) == 14
    assert {each["bonus"] for each in meta["tuned"]} <= {0.1, 1}
    with open(out / "times.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["problem"] for row in rows} == {"oil", "2 ambulances"}
    assert all(0 < float(row["fastest"]) <= float(row["microseconds_per_step"]) for row in rows)
    with open(out / "scores.csv") as file:
        scores = {(row["problem"], row["algorithm"]): row for row in csv.DictReader(file)}
    with open(out / "results.csv") as file:
        rewards = [
            float(row["reward_per_episode"])
            for row in csv.DictReader(file)
            if (row["problem"], row["agent"]) == ("two", "AdaQL")
        ]
    assert len(rewards) == 3
    assert float(scores["two", "AdaQL"]["reward_mean"]) == pytest.approx(np.mean(rewards))


def test_the_paper_sweep_is_of_the_papers_size_and_tunes_over_its_range():
    spec = shipped("paper.toml")
    assert len(spec.seeds) == 200 and {cell.episodes for cell in spec.cells} == {2000}
    assert {cell.horizon for cell in spec.cells} == {5}
    grids = {cell.agent_label: dict(cell.tune).get("bonus") for cell in spec.cells}
    assert [agent for agent, grid in grids.items() if grid is None] == ["AdaMB tracking"]
    for grid in filter(None, grids.values()):
        assert (min(grid), max(grid), len(grid)) == (0.001, 7.9, 13)
        assert np.diff(np.log(grid)).std() < 0.1 * np.diff(np.log(grid)).mean()
    modes = {cell.agent_label: dict(cell.options).get("mode") for cell in spec.cells if cell.agent == "adamb"}
    paper = ("AdaMB", "AdaMB γ=2", "AdaMB 4^l")
    assert modes == {**dict.fromkeys(paper, "paper"), "AdaMB tracking": None}


def test_the_claim_about_gamma_compares_runs_that_differ_in_gamma_alone():
    options = {cell.agent_label: dict(cell.options) for cell in shipped("paper.toml").cells}
    assert {**options["AdaMB"], "gamma": 2} == options["AdaMB γ=2"]


def test_equal_bytes_covers_all_agents_problems_and_budgets():
    spec = shipped("equal_bytes.toml")
    families = [name for name in problem_names() if name.startswith(("oil-", "ambulance-"))]
    assert {cell.problem for cell in spec.cells} == set(families)
    assert {cell.budget_bytes for cell in spec.cells} == {1024, 2048, 4096, 8192}
    assert {cell.agent for cell in spec.cells} == set(agent_names()) - {"optimal"}
    quick = shipped("equal_bytes.toml", quick=True)
    assert {cell.agent for cell in quick.cells} == {cell.agent for cell in spec.cells}
    assert len(quick.cells) < len(spec.cells) / 10


@pytest.mark.slow
def test_the_quick_paper_sweep_takes_at_most_two_minutes_of_two_processors(tmp_path, capsys):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "adamb.tools.cli", "sweep", "paper", "--quick", "--jobs", "2", "--quiet"]
    done = subprocess.run([*command, "--out", tmp_path], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    with capsys.disabled():
        print(f"\nadamb sweep paper --quick: {seconds:.0f} s of processor, {time.monotonic() - began:.0f} s")
    assert done.returncode == 0, done.stderr
    assert 20 < seconds < 240


@pytest.mark.slow
def test_the_comparison_at_the_papers_size_takes_less_than_a_minute(capsys):
    code = paper_speed.main([])
    assert code == 0, capsys.readouterr().out


def test_a_budget_table_marks_the_best_and_prints_for_documents(capsys, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(
        "problems = ['oil-quadratic']\nseeds = 3\n"
        "agents = ['random', 'adamb', 'optimal', { name = 'epsmb', size = 12 }]\n"
        "budgets = ['1KiB', '4KiB']\nepisodes = 60\nrefusals = 'shown'"
    )
    command = ["sweep", str(file), "--out", str(tmp_path / "out"), "--jobs", "1", "--quiet"]
    assert main([*command, "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert (tmp_path / "out" / "table.md").read_text() == printed
    rows = {line.split("|")[1].strip(): line.split("|")[2:4] for line in printed.splitlines() if "|" in line}
    assert all("**" in cell for cell in rows["adamb"]) and "**" not in "".join(rows["optimal"])
    assert rows["epsmb size=12"][0].strip() == "–"
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert re.search(r"agent +1 KiB +4 KiB", shown) and "V* = " in shown
