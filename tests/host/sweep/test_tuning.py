"""Tuning inside a sweep chooses on its own seeds, for each problem and budget apart, and scores on others."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adamb.firmware_model.host.errors import BudgetExceeded, InputError
from adamb.host_sim import agents
from adamb.host_sim.agents import Agent, take_options
from adamb.host_sim.experiments.sweep import results_of, run_sweep
from support.standin_problem import PROBLEM
from support.sweeps import in_process, rows_of, spec_of, tables

TEXT = f"""
problems = [{{ name = "{PROBLEM}", label = "low", set = {{ c = 0.2 }} }},
            {{ name = "{PROBLEM}", label = "high", set = {{ c = 0.8 }} }}]
agents = ["random",
          {{ name = "steady", label = "held", tune = {{ at = [0.02, 0.25, 0.75], weight = [1, 9] }} }}]
budgets = ["none", "100B"]
episodes = 30
seeds = 4
seeds_per_cell = 2
tune_seeds = 3
[quick]
episodes = 8
"""


class Steady(Agent):
    """Always the same action; the heavy one does not fit into 100 bytes."""

    def __init__(self, shape, *, at=0.5, weight=1, budget_bytes=None, **options):
        super().__init__(shape, budget_bytes=budget_bytes)
        take_options("steady", options, at=0.5, weight=1)
        if self.budget_bytes is not None and weight > 1:
            raise BudgetExceeded(900, self.budget_bytes, "the weight")
        self.at, self.weight = at, weight

    def act(self, h, states):
        return np.full((self.n, 1), self.at + (0.02 if self.weight > 1 else 0.0))


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    monkeypatch.setitem(agents._factories, "steady", Steady)


def test_the_choice_is_made_per_problem_and_budget_and_scored_on_other_seeds(tmp_path):
    played = []

    def workers(cells):
        for cell in cells:
            played.append(cell)
            yield cell, cell.play()

    run_sweep(spec_of(TEXT), tmp_path, workers)
    tuning = [cell for cell in played if cell.seeds == (10_000, 10_001, 10_002)]
    assert len(tuning) == 2 * 2 * 6 and not any(cell.tune for cell in played)
    scored = {seed for cell in played if cell not in tuning for seed in cell.seeds}
    assert scored == {0, 1, 2, 3}
    chosen = {
        (row["problem"], row["budget_bytes"]): json.loads(row["options"])
        for row in rows_of(tmp_path, "tuning.csv")
        if row["chosen"] == "True"
    }
    assert {place: choice["at"] for place, choice in chosen.items()} == {
        ("low", ""): 0.25, ("low", "100"): 0.25, ("high", ""): 0.75, ("high", "100"): 0.75,
    }  # fmt: skip
    assert chosen["low", "100"]["weight"] == 1, "what does not fit is no candidate"


def test_the_scores_are_those_of_the_chosen_options_alone(tmp_path):
    found = run_sweep(spec_of(TEXT), tmp_path, in_process)
    held = next(each for each in found if (each.problem, each.agent) == ("low", "held"))
    fixed = TEXT.replace("tune = { at = [0.02, 0.25, 0.75], weight = [1, 9] }", "at = 0.25, weight = 1")
    alone = run_sweep(spec_of(fixed), tmp_path / "alone", in_process)
    choice = json.loads((tmp_path / "meta.json").read_text())["tuned"][0]
    assert choice == {"problem": "low", "agent": "held", "budget_bytes": None, "at": 0.25, "weight": 1}
    assert held.reward == alone[2].reward and held.reward.mean > found[0].reward.mean


def test_an_interrupted_tuning_resumes_and_repeats_no_cell(tmp_path):
    def dies(cells):
        for done, each in enumerate(in_process(cells)):
            if done == 7:
                raise RuntimeError("the power went")
            yield each

    with pytest.raises(RuntimeError):
        run_sweep(spec_of(TEXT), tmp_path, dies)
    counts = []
    run_sweep(spec_of(TEXT), tmp_path, in_process, progress=lambda done, total, cell: counts.append((done, total)))
    assert counts[0] == (7, 40) and counts[-1] == (40, 40)
    run_sweep(spec_of(TEXT), tmp_path / "whole", in_process)
    assert tables(tmp_path) == tables(tmp_path / "whole")


def test_a_seed_that_tunes_may_not_be_scored():
    with pytest.raises(InputError, match="seed 2 is scored too"):
        spec_of("tune_seed_base = 2\n" + TEXT)
    spec_of("tune_seed_base = 4\n" + TEXT)


def test_quick_replaces_keys_and_is_another_sweep():
    assert {cell.episodes for cell in spec_of(TEXT).cells} == {30}
    quick = spec_of(TEXT, quick=True)
    assert {cell.episodes for cell in quick.cells} == {8} and quick.hash != spec_of(TEXT).hash
    with pytest.raises(InputError, match="unknown key, did you mean episodes"):
        spec_of(TEXT.replace("[quick]\nepisodes", "[quick]\nepisode"), quick=True)


def test_curves_hold_reward_between_points_and_leaves_at_them(tmp_path):
    text = f"problems = ['{PROBLEM}']\nagents = ['adamb']\nepisodes = 40\nseeds = 2\ncurves = 4"
    spec = spec_of(text)
    run_sweep(spec, tmp_path, in_process)
    ((_, outcome),) = results_of(spec, tmp_path)
    curves, row = outcome["curves"], outcome["rows"][1]
    assert curves["episodes"] == [10, 20, 30, 40]
    assert np.mean(curves["reward"][1]) == pytest.approx(row["reward_per_episode"], abs=1e-5)
    assert curves["reward"][1][0] == pytest.approx(row["reward_early"], abs=1e-5)
    assert curves["leaves"][1][-1] == row["leaves"] > curves["leaves"][1][0] > 1
