"""`adamb sweep benchmark` plays a fixed protocol and loses nothing when it is stopped."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

import adamb.host_sim.benchmark as bench_protocol
from adamb.firmware_model.host.errors import AdambError
from adamb.host_sim import make_agent, make_problem, simulate
from adamb.host_sim.benchmark import KIB, UNTUNED
from adamb.host_sim.benchmark import play as bench
from adamb.host_sim.benchmark import play as bench_entries
from adamb.host_sim.benchmark.play import with_known
from adamb.host_sim.experiments import cell as cells_module
from adamb.host_sim.experiments.cell import play_cells
from support.command import adamb, refused

CELLS = "ambulance-1,dram-lite,2KiB,4KiB"
ROWS = "adamb,adaql,bandit-zoom"
TINY = ("sweep", "benchmark", "--quick", "--jobs", "1", "--only")


@pytest.fixture
def short(monkeypatch):
    """Runs of 60 episodes with 3 seeds that score and 2 that tune."""
    monkeypatch.setattr(bench_protocol, "QUICK_EPISODES", 60)
    seeds = bench_protocol.Seeds((1, 2, 3), (11, 12))
    monkeypatch.setattr(bench, "QUICK_SEEDS", seeds)
    return seeds


def entry_files(folder):
    return {path.name: path.read_bytes() for path in (folder / "entries").glob("*.json")}


def in_process(tell):
    """Workers that are this process, and tell what they play."""

    def run(jobs):
        for job in jobs:
            tell(job)
            yield job, job.play()

    return lambda processes: run


# ---- the command ----------------------------------------------------------------------------------------


def test_a_tiny_benchmark_leaves_tables_verdicts_and_pictures(capsys, short, tmp_path):
    code, out, error = adamb(capsys, *TINY, f"{CELLS},{ROWS}", "--out", tmp_path, "--json", "-")
    assert code == 0, error
    found = json.loads(out)
    assert found["seeds"] == [1, 2, 3] and found["tune_seeds"] == [11, 12]
    assert len(found["scores"]) == 2 * 2 * 3 and len(entry_files(tmp_path)) == 12 + 2
    assert {each["target"] for each in found["verdicts"]} == {"1a", "1b", "1c", "2", "3", "4a", "4b"}
    assert "60 of 72 entries are not played yet" in error
    assert "seeds 1 to 3, tuned on seeds 11 to 12" in error
    for name in ("scores.csv", "cells.csv", "benchmark.json", "benchmark.md"):
        assert (tmp_path / name).stat().st_size > 100
    for problem in ("ambulance-1", "dram-lite"):
        assert (tmp_path / f"pareto-{problem}.png").read_bytes().startswith(b"\x89PNG")
    tuned = [each for each in found["scores"] if each["agent"] == "adaql"]
    assert all(json.loads(each["options"])["bonus"] in (0.1, 0.3, 0.6) for each in tuned)


def test_a_benchmark_in_which_nothing_fits_ends_in_tables_without_pictures(capsys, short, tmp_path):
    code, out, error = adamb(capsys, *TINY, "ambulance-1,1,adamb", "--quiet", "--out", tmp_path)
    assert code == 0, error
    assert "–" in out
    assert (tmp_path / "benchmark.md").is_file() and not list(tmp_path.glob("*.png"))


def test_a_bench_that_was_stopped_resumes_and_ends_in_the_same_tables(capsys, short, tmp_path, monkeypatch):
    arguments = (*TINY, f"{CELLS},{ROWS}", "--out", tmp_path, "--quiet")
    assert adamb(capsys, *arguments)[0] == 0
    scores, files = (tmp_path / "scores.csv").read_bytes(), entry_files(tmp_path)
    first, second, *_ = sorted(files)
    (tmp_path / "entries" / first).unlink()
    (tmp_path / "entries" / second).write_bytes(files[second][:40])
    played = []
    monkeypatch.setattr(bench, "local_workers", in_process(played.append))
    assert adamb(capsys, *arguments)[0] == 0
    assert {f"{job.key()}.json" for job in played} == {first, second}
    assert (tmp_path / "scores.csv").read_bytes() == scores and entry_files(tmp_path).keys() == files.keys()


def test_a_new_core_plays_only_our_rows_again(capsys, short, tmp_path, monkeypatch):
    arguments = ("--out", tmp_path, "--quiet")
    assert adamb(capsys, *TINY, f"{CELLS},{ROWS}", *arguments)[0] == 0
    before = entry_files(tmp_path)
    monkeypatch.setattr(bench_entries, "core_digest", lambda: "another core")
    code, out, _ = adamb(capsys, *TINY, f"{CELLS},adamb", *arguments)
    fresh = entry_files(tmp_path).keys() - before.keys()
    assert code == 0 and len(fresh) == 4, "four cells of one row"
    assert "bandit-zoom" in out and "adaql" in out, "stored baselines are in the table"


@pytest.mark.parametrize(
    ("arguments", "explanation"),
    [
        (["--only", "oil-laplase"], "did you mean oil-laplace"),
        (["--only", ","], "is empty"),
        (["--only", "2XiB"], "only = "),
        (["--only", "adaqll"], "did you mean adaql"),
        (["--jobs", "-1"], "jobs = -1"),
        (["--scheduler", "tcp://127.0.0.1:1"], "on this computer"),
        (["--json", "-", "--markdown"], "standard output"),
        (["--jobs", "0"], "holds no entry"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, tmp_path, arguments, explanation):
    assert explanation in refused(capsys, "sweep", "benchmark", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


# ---- the protocol ---------------------------------------------------------------------------------------


def test_tuning_never_sees_a_seed_that_scores():
    for seeds in (bench_protocol.SEEDS, bench_protocol.QUICK_SEEDS):
        assert not set(seeds.scored) & set(seeds.tuning)


def test_the_controller_is_untuned_and_every_baseline_has_a_grid_of_at_most_twenty_choices():
    asked = bench.make_bench(budgets=[4 * KIB])
    for entry in asked.entries():
        choices = len(list(entry.cell.choices()))
        if entry.cell.agent_label == UNTUNED:
            assert not entry.cell.tune and entry.cell.bonus is None and entry.cell.options == ()
        else:
            assert 2 <= choices <= 20, entry.cell.agent_label


def test_what_is_reused_from_another_budget_is_what_a_run_would_give(short):
    asked = bench.make_bench(only=["oil-noisy"], agents=["baselines"], quick=True)
    saved = 0
    for entry in asked.entries():
        if entry.cell.budget_bytes != 4 * KIB:
            continue
        known = entry.play()
        smaller = replace(entry, cell=replace(entry.cell, budget_bytes=1 * KIB))
        plain, reused = smaller.play(), copy.deepcopy(with_known(smaller, [known]).play())
        saved += sum(trial["budget_bytes"] != 1 * KIB for trial in reused["trials"])
        for outcome in (plain, reused):
            for name in ("seconds", "played_at"):
                del outcome[name]
            outcome["trials"] = [{**trial, "budget_bytes": 0} for trial in outcome["trials"]]
        assert plain == reused, entry.cell.agent_label
    assert saved > 10


@pytest.mark.parametrize("problem", ["oil-noisy", "dram-1x1"])
def test_choices_tuned_together_earn_what_each_earns_alone(short, problem):
    for entry in bench.make_bench(only=[problem], budgets=[1500], quick=True).entries():
        cell = replace(entry.cell, seeds=(11, 12), episodes=30, curves=0)
        cells = [cell.with_choice(choice) for choice in list(cell.choices())[:3]]
        for alone, found in zip(cells, play_cells(cells), strict=True):
            expected = alone.play(optimum=False)
            assert (found["rows"], found["refused"]) == (expected["rows"], expected["refused"])


def test_entries_of_a_slow_simulator_are_the_same_together_and_alone(short, tmp_path, monkeypatch):
    asked = bench.make_bench(only=["cache-slow"], budgets=[2 * KIB], quick=True)
    played = []
    monkeypatch.setattr(bench, "local_workers", in_process(played.append))
    bench.run_bench(asked, tmp_path)
    store = bench.store_of(tmp_path)
    assert sum(isinstance(job, bench_entries.JobGroup) for job in played) == bench.PARTS
    for entry in asked.entries():
        grouped, alone = store.get(entry), json.loads(json.dumps(entry.play()))
        assert {**grouped, "seconds": 0} == {**alone, "seconds": 0}, entry.cell.agent_label


def test_an_error_in_a_common_run_fails_its_entries_and_no_others(short, tmp_path, monkeypatch):
    asked = bench.make_bench(only=["dram-1x1"], budgets=[2 * KIB], agents=["adaql", "zoom"], quick=True)

    def broken(*given, **more):
        raise AdambError("the simulator broke")

    monkeypatch.setattr(cells_module, "simulate", broken)
    group = bench_entries.JobGroup(tuple(asked.entries())).play()
    assert [outcome["failed"] for outcome in group["outcomes"]] == ["the simulator broke"] * 2


def test_leaving_v_star_out_changes_nothing_else():
    runs = []
    for optimum in (True, False):
        problem = make_problem("oil-laplace", range(3), episodes=30, drift="walk")
        runs.append(simulate(problem, make_agent("adaql", problem), optimum=optimum))
    assert (runs[0].returns == runs[1].returns).all()
    assert runs[0].optimal is not None and runs[1].optimal is None and runs[1].regret() is None
