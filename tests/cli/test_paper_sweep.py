"""`adamb sweep paper` and `equal-bytes`: what they cover, what they leave behind."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from functools import cache
from html import escape

import numpy as np
import pytest

from adamb.host_sim import agent_names, problem_names
from adamb.host_sim.studies.claims import CLAIMS
from adamb.host_sim.studies.growth import ROWS
from adamb.host_sim.sweep.growth import growth_spec
from adamb.host_sim.sweep.reader import read_spec
from adamb.tools.cli import main
from adamb.tools.commands.sweep import SHIPPED, find_file

RIVALS = {"adaql", "epsql", "epsmb", "kernel-ucbvi", "cmac", "zoom", "bandit", "bandit-zoom"}
"""Those with a grid in the shipped sweeps; a new rival enters them when its grid is known."""

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
GROWTH = """
[growth]
episodes = [5, 15, 40]
seeds = 3
tune_seeds = 2
problems = ["oil-laplace"]
agents = [
    { name = "adamb", label = "AdaMB", core = "double", tune = { bonus = [0.1, 1] } },
    { name = "epsql", label = "epsilonQL", bonus = 0.3 },
]
"""


@cache
def shipped(name, **options):
    return read_spec(find_file(SHIPPED / name), **options)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The agents of the shipped file on two problems, a few episodes long; one other γ stands for all."""
    folder = tmp_path_factory.mktemp("tiny")
    agents = (SHIPPED / "paper.toml").read_text().partition("[quick]")[0].split("[[agents]]")[1:]
    kept = [agent for agent in agents if not re.search(r'label = "AdaMB γ(=1|=4|,)', agent)]
    assert len(kept) == len(agents) - 3 == 9
    (folder / "tiny.toml").write_text("[[agents]]".join([TINY, *kept]) + GROWTH)
    command = [sys.executable, "-m", "adamb.tools.cli", "sweep", folder / "tiny.toml", "--jobs", "1"]
    done = subprocess.run(
        [*command, "--out", folder / "out", "--quiet"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "out"


def test_every_claim_is_printed_with_figures_seeds_and_a_verdict(tiny):
    printed, out = tiny
    for statement in CLAIMS.values():
        assert statement[:40] in printed
    report = json.loads((out / "claims.json").read_text())
    assert {each["claim"] for each in report["claims"]} == set(CLAIMS)
    known = {"holds", "does not hold", "undecided"}
    assert {each["verdict"] for each in report["claims"]} <= known
    assert all(each["seeds"] > 0 and each["figures"] and each["difference"] for each in report["claims"])
    tallies = re.findall(r"holds on (\d) of (\d)", printed)
    assert sum(int(holds) for holds, _ in tallies) == sum(each["holds"] for each in report["claims"])
    assert re.search(r"at an end of the grid: \d+ of 16", printed)
    assert "cover none of these" in printed and "seeds 0..2" in printed


def test_the_report_shows_every_claim_and_the_curves_of_every_algorithm(tiny):
    _, out = tiny
    assert main(["report", str(out)]) == 0
    page = (out / "report.html").read_text()
    for statement in CLAIMS.values():
        assert escape(statement) in page
    curves = json.loads((out / "curves.json").read_text())["problems"]
    assert set(curves) == {"oil-laplace", "two"} and all(len(each["agents"]) == 9 for each in curves.values())
    found = curves["two"]["agents"]["AdaMB"]
    assert found["episode"][-1] == 40 and len(found["reward"]["mean"]) == len(found["reward"]["ci95"]) == 8
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page)[1])
    drawn = data["papers"][0][1]["agents"][0]
    assert drawn["reward"]["mean"] == found["reward"]["mean"] and drawn["leaves"]["mean"]


def test_the_folder_holds_figures_tables_and_where_they_come_from(tiny):
    _, out = tiny
    pictures = ["curves-oil-laplace", "curves-two", "partitions-oil-laplace", "q-star"]
    for name in (f"{picture}.{kind}" for picture in pictures for kind in ("png", "svg")):
        assert (out / name).stat().st_size > 5000, name
    meta = json.loads((out / "meta.json").read_text())
    assert meta["finished"] and meta["tune_seeds"] == [10000, 10001] and len(meta["tuned"]) == 16
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


def test_table_one_stands_beside_measured_exponents(tiny):
    printed, out = tiny
    with open(out / "growth.csv") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["episodes"]) for row in rows if row["algorithm"] == "epsilonQL"] == [5, 15, 40]
    table = printed.partition("Table 1: exponents of K")[2].partition("claim:")[0]
    assert re.search(r"AdaMB +0\.800 +-?\d\.\d+ ± ", table) and re.search(r"epsilonQL +0\.750 ", table)
    claims = [
        each for each in json.loads((out / "claims.json").read_text())["claims"] if each["claim"] == "regret"
    ]
    assert [each["compared"] for each in claims] == ["AdaMB : theorem", "epsilonQL : theorem"]
    assert all("K from 5 to 40" in each["note"] for each in claims)
    assert (out / "regret.svg").stat().st_size > 5000
    assert json.loads((out / "growth" / "meta.json").read_text())["finished"]


def test_the_paper_sweep_is_of_the_papers_size_and_tunes_over_its_range():
    spec = shipped("paper.toml")
    assert len(spec.seeds) == 200 and {cell.episodes for cell in spec.cells} == {2000}
    assert {cell.horizon for cell in spec.cells} == {5}
    grids = {cell.agent_label: dict(cell.tune).get("bonus") for cell in spec.cells}
    assert [agent for agent, grid in grids.items() if grid is None] == ["AdaMB tracking"]
    for grid in filter(None, grids.values()):
        assert (min(grid), max(grid), len(grid)) == (0.001, 7.9, 13)
        assert np.diff(np.log(grid)).std() < 0.1 * np.diff(np.log(grid)).mean()
    ours = {cell.agent_label: dict(cell.options) for cell in spec.cells if cell.agent == "adamb"}
    assert {name for name, options in ours.items() if options.get("core") != "double"} == {"AdaMB tracking"}
    assert {cell.instance for cell in spec.cells} == {"paper", "random"}


def test_the_paper_sweep_has_every_setting_of_the_paper():
    found = {
        (cell.problem, cell.instance, dict(cell.params).get("lam")) for cell in shipped("paper.toml").cells
    }
    for lam in (1, 10, 50):
        assert {("oil-laplace", "paper", lam), ("oil-laplace", "random", lam)} <= found
    for name in ("oil-quadratic", "oil-sparse", "oil-authors-noise"):
        assert {(name, "paper", None), (name, "random", None)} <= found


@pytest.mark.parametrize("fleet", ["ambulance-1", "ambulance-2"])
def test_the_paper_sweep_has_every_arrival_with_every_alpha_for_both_fleets(fleet):
    cells = [dict(cell.params) for cell in shipped("paper.toml").cells if cell.problem == fleet]
    tested = {(each["arrivals"], each["alpha"]) for each in cells}
    assert tested == {(a, alpha) for a in ("beta", "uniform", "shifting") for alpha in (0.0, 0.25, 1.0)}
    labels = {
        (cell.problem_label.rpartition("α=")[2], dict(cell.params)["alpha"])
        for cell in shipped("paper.toml").cells
        if cell.problem == fleet
    }
    assert labels == {("0", 0.0), (".25", 0.25), ("1", 1.0)}, "a label tells its alpha"


def test_variants_of_adamb_differ_from_it_in_what_their_names_say():
    options = {cell.agent_label: dict(cell.options) for cell in shipped("paper.toml").cells}
    ours = options["AdaMB"]
    assert (ours["gamma"], ours["phi"], ours["split"]) == (2, 1, "inherited")
    for gamma in (1, 3, 4):
        assert options[f"AdaMB γ={gamma}"] == {**ours, "gamma": gamma}
    assert options["AdaMB full"] == {**ours, "planning": "full"}
    assert options["AdaMB fresh"] == {**ours, "estimates": "fresh"}
    assert {options[name]["net"] for name in ("epsilonQL", "epsilonMB", "epsilonMB full")} == {"multiples"}


def test_growth_goes_to_a_hundred_thousand_episodes_and_only_in_the_full_sweep():
    found = growth_spec(shipped("paper.toml"))
    assert max(cell.episodes for cell in found.cells) == 100_000
    assert {cell.agent_label for cell in found.cells} == set(ROWS)
    assert {cell.instance for cell in found.cells} == {"random"}
    assert growth_spec(shipped("paper.toml", quick=True)) is None


def test_equal_bytes_covers_all_agents_problems_and_budgets():
    spec = shipped("equal_bytes.toml")
    families = [name for name in problem_names() if name.startswith(("oil-", "ambulance-"))]
    assert {cell.problem for cell in spec.cells} == set(families)
    assert {cell.budget_bytes for cell in spec.cells} == {1024, 2048, 4096, 8192}
    assert {cell.agent for cell in spec.cells} == RIVALS | {"adamb", "static", "random"}
    assert set(agent_names()) >= RIVALS
    quick = shipped("equal_bytes.toml", quick=True)
    assert {cell.agent for cell in quick.cells} == {cell.agent for cell in spec.cells}
    assert len(quick.cells) < len(spec.cells) / 10


@pytest.mark.campaign
def test_the_quick_paper_sweep_runs_to_its_end(tmp_path):
    """The shipped file as it is, but for the length and the number of its runs."""
    text = (SHIPPED / "paper.toml").read_text()
    for long, short in (("episodes = 2000", "episodes = 30"), ("tune_seeds = 4", "tune_seeds = 2")):
        assert text.count(long) == 1
        text = text.replace(long, short)
    (tmp_path / "paper.toml").write_text(text)
    command = [sys.executable, "-m", "adamb.tools.cli", "sweep", tmp_path / "paper.toml", "--quick"]
    done = subprocess.run(
        [*command, "--quiet", "--jobs", "2", "--out", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    meta = json.loads((tmp_path / "out" / "meta.json").read_text())
    quick = shipped("paper.toml", quick=True)
    assert meta["finished"] and len(meta["seeds"]) == len(quick.seeds) == 20
    tuned = {(cell.problem_label, cell.agent_label) for cell in quick.cells if cell.tune}
    assert len(meta["tuned"]) == len(tuned) == 33
    assert len(list((tmp_path / "out").glob("curves-*.png"))) == 3


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
