"""A sweep computes every cell once, whatever happens to it, and ends in the same tables."""

from __future__ import annotations

import json

import pytest

from adamb.firmware_model.host.errors import AdambError, BudgetExceeded, InputError
from adamb.host_sim import agents
from adamb.host_sim.experiments import cell as cells_module
from adamb.host_sim.experiments import play_job
from adamb.host_sim.experiments.spec import growth_spec
from adamb.host_sim.experiments.sweep import locked, run_sweep
from support.standin_problem import PROBLEM
from support.sweeps import BASIC, in_process, rows_of, spec_of, tables

# ---- the file ------------------------------------------------------------------------------------------


def test_cells_are_the_product_in_the_order_of_the_file():
    cells = spec_of().cells
    assert len(cells) == 2 * 2 * 2 * 3
    assert [cell.seeds for cell in cells[:3]] == [(3, 4), (5, 6), (7,)]
    assert [cell.budget_bytes for cell in cells[:6:3]] == [2048, None]
    assert [cell.agent_label for cell in cells[:12:6]] == ["random", "lazy"]
    assert dict(cells[12].params) == {"c": 0.25} and cells[12].problem_label == "fixed"


def test_the_shared_bonus_is_for_adamb_and_a_list_in_the_entry_for_any_agent(monkeypatch):
    monkeypatch.setattr(cells_module, "make_agent", lambda *_, **__: None)
    cells = spec_of(
        f'problems = ["{PROBLEM}"]\nagents = ["random", "adamb", {{ name = "adaql", bonus = [1, 2] }}]\n'
        'bonus = ["auto", 0.25]\nseeds = 1'
    ).cells
    found = [(cell.agent, cell.bonus) for cell in cells]
    assert found == [("random", None), ("adamb", "auto"), ("adamb", 0.25), ("adaql", 1), ("adaql", 2)]


def test_a_cell_is_known_by_what_decides_its_result(monkeypatch):
    first, relabelled = spec_of().cells[0], spec_of(BASIC.replace('"lazy"', '"idle"')).cells[6]
    assert relabelled.key() == spec_of().cells[6].key()
    keys = {cell.key() for cell in spec_of().cells}
    assert len(keys) == 24
    assert spec_of(BASIC.replace("episodes = 20", "episodes = 21")).cells[0].key() not in keys
    before = first.key()
    monkeypatch.setattr(cells_module, "version", lambda: "99.0.0")
    assert first.key() != before


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("problems = [", "some.toml", "line 1"),
        ("\n\nagents == 3", "some.toml", "line 3"),
        ("agents = ['random']", "problems", "is missing; expected a list of problems"),
        (BASIC.replace("episodes", "epsiodes"), "some.toml, line 5, epsiodes", "did you mean episodes"),
        (BASIC + "colour = 1", "line 9, colour", "known: name, problems"),
        (BASIC.replace("episodes = 20", "episodes = true"), "line 5, episodes", "a whole number from 1"),
        (BASIC.replace("seeds = 5", "seeds = -1"), "line 6, seeds", "how many seeds"),
        (BASIC.replace('["2KiB", "none"]', "[]"), "line 4, budgets", "is empty"),
        (BASIC.replace('"2KiB"', '"banana"'), "line 4, budgets[0]", "not a size"),
        (BASIC.replace('["2KiB", "none"]', '"2KiB"'), "line 4, budgets", "a list of sizes"),
        (BASIC.replace('"random"', '"randm"'), "line 3, agents", "did you mean random"),
        (BASIC.replace('"random"', '{ name = "random", label = "lazy" }'), "agents", "label of its own"),
        (BASIC.replace('"random"', '{ name = "adaql", tune = 3 }'), "line 3, agents", "agents[0].tune = 3"),
        (BASIC.replace('"random"', '{ name = "adaql", tune = { bonus = 1 } }'), "line 3, agents", "tune.bonus = 1"),
        (BASIC.replace('"random"', '{ name = "adaql", tune = "bonus" }'), "line 3, agents", "bonus_grid"),
        (BASIC.replace('"random"', '{ name = "adaql", tune = { gama = [1] } }'), "line 3, agents", "gamma"),
        (BASIC + "analysis = 'papers'", "line 9, analysis", "paper"),
        (BASIC.replace("c = 0.25", "cc = 0.25"), "line 2, problems", "did you mean c"),
        (BASIC.replace("set =", "sett ="), "line 2, problems[1].sett", "known are name, label, set"),
    ],
)
def test_a_mistake_in_the_file_names_file_line_key_and_expectation(text, place, expected):
    with pytest.raises(InputError) as caught:
        spec_of(text)
    message = str(caught.value)
    assert "some.toml" in message and place in message and expected in message
    assert "\n" not in message


# ---- running it ----------------------------------------------------------------------------------------


def counting(played):
    """This process, as workers; and what they play."""

    def workers(cells):
        played.extend(cells)
        return in_process(cells)

    return workers


def test_the_tables_hold_a_row_per_seed_and_its_average(tmp_path):
    found = run_sweep(spec_of(), tmp_path, in_process, command="adamb sweep some.toml")
    rows = rows_of(tmp_path)
    assert len(rows) == 8 * 5 and {row["status"] for row in rows} == {"ok"}
    assert [int(row["seed"]) for row in rows[:5]] == [3, 4, 5, 6, 7]
    averages = rows_of(tmp_path, "summary.csv")
    assert len(averages) == len(found) == 8
    mean = sum(float(row["reward_per_episode"]) for row in rows[:5]) / 5
    assert float(averages[0]["reward_per_episode_mean"]) == pytest.approx(mean)
    assert float(averages[0]["reward_per_episode_ci95"]) > 0
    meta = json.loads((tmp_path / "meta.json").read_text())
    assert meta["seeds"] == [3, 4, 5, 6, 7] and meta["finished"] and meta["spec_hash"] == spec_of().hash
    assert meta["command"] == "adamb sweep some.toml"
    assert {"adamb", "numpy", "python"} <= set(meta["versions"])


def test_how_seeds_are_divided_into_cells_changes_nothing(tmp_path):
    run_sweep(spec_of(), tmp_path / "two", in_process)
    text = BASIC.replace("seeds_per_cell = 2", "seeds_per_cell = 5")
    run_sweep(spec_of(text), tmp_path / "five", in_process)
    assert tables(tmp_path / "two") == tables(tmp_path / "five")


def test_parquet_holds_the_same_rows(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    run_sweep(spec_of(), tmp_path, in_process)
    stored = parquet.read_table(tmp_path / "results.parquet").to_pylist()
    rows = rows_of(tmp_path)
    assert [row["seed"] for row in stored] == [int(row["seed"]) for row in rows]
    assert [row["regret"] for row in stored] == [float(row["regret"]) for row in rows]


def test_an_interrupted_sweep_resumes_to_the_same_tables_and_repeats_no_cell(tmp_path):
    undisturbed = tmp_path / "whole"
    run_sweep(spec_of(), undisturbed, in_process)
    folder, played = tmp_path / "broken", []

    def dies_after_five(cells):
        for cell in cells:
            if len(played) % 6 == 5:
                played.append(None)
                raise RuntimeError("the power went")
            played.append(cell.key())
            yield cell, cell.play()

    for _ in range(4):
        with pytest.raises(RuntimeError):
            run_sweep(spec_of(), folder, dies_after_five)
        assert not (folder / "results.csv").exists()
        assert json.loads((folder / "meta.json").read_text())["finished"] is False
    run_sweep(spec_of(), folder, dies_after_five)
    keys = [key for key in played if key is not None]
    assert len(keys) == len(set(keys)) == 24
    assert tables(folder) == tables(undisturbed)


def test_a_damaged_cell_file_is_computed_again(tmp_path):
    run_sweep(spec_of(), tmp_path, in_process)
    before = tables(tmp_path)
    damages = ("", "{", "[]", '{"rows": [], "refused": null}', "7")
    for content, file in zip(damages, sorted((tmp_path / "cells").iterdir()), strict=False):
        file.write_text(content)
    played = []
    run_sweep(spec_of(), tmp_path, counting(played))
    assert len(played) == len(damages) and tables(tmp_path) == before


def test_a_changed_sweep_plays_what_is_new_and_one_of_another_name_takes_over_no_folder(tmp_path):
    run_sweep(spec_of(), tmp_path, in_process)
    changed, played = BASIC.replace('"none"', '"none", "1KiB"'), []
    with pytest.raises(InputError, match="holds another sweep"):
        run_sweep(spec_of('name = "other"\n' + changed), tmp_path, in_process)
    run_sweep(spec_of("# a comment\n" + changed), tmp_path, counting(played))
    assert {cell.budget_bytes for cell in played} == {1024} and len(rows_of(tmp_path)) == 60


def test_two_sweeps_do_not_write_into_one_folder(tmp_path):
    with locked(tmp_path), pytest.raises(InputError, match="another sweep is writing"):
        run_sweep(spec_of(), tmp_path, in_process)


def test_what_does_not_fit_is_a_row_and_not_the_end(tmp_path, monkeypatch):
    def picky(problem, *, budget_bytes, **options):
        if budget_bytes == 2048:
            raise BudgetExceeded(3000, 2048, "the tree")
        return agents.make_agent("random", problem)

    monkeypatch.setitem(agents._factories, "picky", picky)
    found = run_sweep(spec_of(BASIC.replace('"random"', '"picky"')), tmp_path, in_process)
    assert [bool(each.refused) for each in found] == [True, False, False, False] * 2
    refused = [row for row in rows_of(tmp_path) if row["status"] != "ok"]
    assert len(refused) == 10 and "3000 bytes required" in refused[0]["status"]
    assert refused[0]["reward_per_episode"] == ""


def test_a_worker_of_another_version_is_not_trusted():
    with pytest.raises(AdambError, match="must be equal"):
        play_job(spec_of().cells[0], "0.0.1")


GROWTH = """
problems = ['oil-laplace']
agents = ['random']
seeds = 2
horizon = 3
[growth]
episodes = [10, 30]
seeds = 4
problems = ["oil-quadratic", { name = "oil-laplace", label = "sharp", set = { lam = 50 } }]
agents = [{ name = "epsql", tune = { bonus = [0.1, 1] } }]
"""


def test_every_length_is_a_part_of_its_own():
    found = growth_spec(spec_of(GROWTH))
    assert {(cell.problem_label, cell.episodes) for cell in found.cells} == {
        (f"{label}, K = {episodes}", episodes) for label in ("oil-quadratic", "sharp") for episodes in (10, 30)
    }
    assert found.seeds == [0, 1, 2, 3] and {cell.horizon for cell in found.cells} == {3}
    sizes = {cell.episodes: cell.with_choice(next(cell.choices())).build()[1]().size for cell in found.cells}
    assert sizes[10] < sizes[30], "a grid is sized for the episodes that it is told"
    assert growth_spec(spec_of()) is None


@pytest.mark.parametrize("episodes", ["[30, 10]", "[10]", "[10, 'many']", "100", "[0, 10]", "[10, 10]"])
def test_lengths_that_do_not_grow_are_refused(episodes):
    with pytest.raises(InputError, match="two or more growing numbers"):
        growth_spec(spec_of(GROWTH.replace("[10, 30]", episodes)))
