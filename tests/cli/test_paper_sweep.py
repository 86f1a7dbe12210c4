"""`adamb sweep paper` and `equal-bytes`: what they cover, what they leave behind."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from functools import cache
from html import escape, unescape

import numpy as np
import pytest

from adamb.host_sim.experiments.spec import growth_spec, read_spec
from adamb.host_sim.studies.claims import CLAIMS
from adamb.host_sim.studies.growth import ROWS
from adamb.tools.cli import main
from adamb.tools.commands.sweep import SHIPPED, find_file

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
    done = subprocess.run([*command, "--out", folder / "out", "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "out"


def test_every_claim_is_printed_with_figures_seeds_and_a_verdict(tiny):
    printed, out = tiny
    for statement in CLAIMS.values():
        assert statement[:40] in printed
    report = json.loads((out / "claims.json").read_text())
    assert {each["claim"] for each in report["claims"]} == set(CLAIMS)
    assert {each["verdict"] for each in report["claims"]} <= {"holds", "does not hold", "undecided"}
    noted = [each for each in report["claims"] if "from the net, " in each["note"]]
    assert {each["problem"] for each in noted} == {"oil-laplace"}, "how near a grid has a point to the deposit"
    assert all("epsilon" in each["compared"] for each in noted)
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
    chosen = re.search(r'<select id="paper-0-problem" data-\w+="(.*?)">', page)[1]
    drawn = {name: chart["series"][0]["y"] for name, chart in json.loads(unescape(chosen))[1].items()}
    assert drawn["paper-0-reward"] == found["reward"]["mean"] and drawn["paper-0-leaves"]


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
    claims = [each for each in json.loads((out / "claims.json").read_text())["claims"] if each["claim"] == "regret"]
    assert [each["compared"] for each in claims] == ["AdaMB : theorem", "epsilonQL : theorem"]
    assert all("K from 5 to 40" in each["note"] for each in claims)
    assert (out / "regret.svg").stat().st_size > 5000
    assert json.loads((out / "growth" / "meta.json").read_text())["finished"]


def test_the_paper_sweep_has_every_setting_of_the_paper():
    cells = shipped("paper.toml").cells
    found = {(cell.problem, cell.instance, dict(cell.params).get("lam")) for cell in cells}
    for lam in (1, 10, 50):
        assert {("oil-laplace", "paper", lam), ("oil-laplace", "random", lam)} <= found
    for name in ("oil-quadratic", "oil-sparse", "oil-authors-noise"):
        assert {(name, "paper", None), (name, "random", None)} <= found
    for fleet in ("ambulance-1", "ambulance-2"):
        params = [dict(cell.params) for cell in cells if cell.problem == fleet]
        tested = {(each["arrivals"], each["alpha"]) for each in params}
        assert tested == {(a, alpha) for a in ("beta", "uniform", "shifting") for alpha in (0.0, 0.25, 1.0)}
    assert {cell.agent_label for cell in growth_spec(shipped("paper.toml")).cells} == set(ROWS)
    assert growth_spec(shipped("paper.toml", quick=True)) is None


def test_variants_of_adamb_differ_from_it_in_what_their_names_say():
    options = {cell.agent_label: dict(cell.options) for cell in shipped("paper.toml").cells}
    ours = options["AdaMB"]
    assert (ours["gamma"], ours["phi"], ours["split"]) == (2, 1, "inherited")
    for gamma in (1, 3, 4):
        assert options[f"AdaMB γ={gamma}"] == {**ours, "gamma": gamma}
    assert options["AdaMB full"] == {**ours, "planning": "full"}
    assert options["AdaMB fresh"] == {**ours, "estimates": "fresh"}
    assert {options[name]["net"] for name in ("epsilonQL", "epsilonMB", "epsilonMB full")} == {"multiples"}


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
