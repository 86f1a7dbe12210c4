"""`adamb bench` plays a fixed protocol, loses nothing when it is stopped, and says plainly where it lost."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from adamb.host_sim import bench, bench_entries, bench_protocol, make_agent, make_problem, simulate
from adamb.host_sim.bench_entries import holds_at, with_known
from adamb.host_sim.bench_protocol import CONTENDERS, KIB, PAPER, TASKS, TUNED, UNTUNED
from adamb.host_sim.bench_scores import League, average, ratio
from adamb.host_sim.bench_together import play_choices
from adamb.host_sim.bench_verdicts import decide, judge, recoveries
from adamb.host_sim.sweep_cells import run_cell
from adamb.tools.bench_figures import pareto_front
from adamb.tools.bench_view import gain_rows, league_rows, markdown, rival_rows
from adamb.tools.cli import main

TINY = ("--quick", "--only", "ambulance-1,dram-lite", "--budgets", "2KiB,4KiB", "--jobs", "1")
ROWS = "adamb,adaql,bandit-zoom"


def adamb(capsys, *arguments):
    code = main([str(each) for each in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def short(monkeypatch):
    """Runs of 60 episodes with 3 seeds that score and 2 that tune."""
    monkeypatch.setattr(bench_protocol, "QUICK_EPISODES", 60)
    seeds = bench_protocol.Seeds((1, 2, 3), (11, 12))
    monkeypatch.setattr(bench, "QUICK_SEEDS", seeds)
    return seeds


def entry_files(folder):
    return {path.name: path.read_bytes() for path in (folder / "entries").glob("*.json")}


# ---- the command ----------------------------------------------------------------------------------------


def test_a_tiny_league_leaves_tables_verdicts_and_pictures(capsys, short, tmp_path):
    code, out, error = adamb(capsys, "bench", *TINY, "--agents", ROWS, "--out", tmp_path, "--json", "-")
    assert code == 0, error
    found = json.loads(out)
    assert found["seeds"] == [1, 2, 3] and found["tune_seeds"] == [11, 12]
    assert len(found["scores"]) == 2 * 2 * 3 and len(entry_files(tmp_path)) == 12 + 2
    assert {each["target"] for each in found["verdicts"]} == {"1a", "1b", "1c", "2", "3", "4a", "4b"}
    assert "60 of 72 entries are not played yet" in error
    assert "seeds 1 to 3, tuned on seeds 11 to 12" in error and "bench: 14 of 14 entries" in error
    for name in ("scores.csv", "cells.csv", "league.json", "league.md"):
        assert (tmp_path / name).stat().st_size > 100
    for problem in ("ambulance-1", "dram-lite"):
        assert (tmp_path / f"pareto-{problem}.png").read_bytes().startswith(b"\x89PNG")
    tuned = [each for each in found["scores"] if each["agent"] == "adaql"]
    assert all(json.loads(each["options"])["bonus"] in (0.1, 0.3, 0.6) for each in tuned)


def test_a_bench_that_was_stopped_goes_on_and_ends_in_the_same_tables(capsys, short, tmp_path, monkeypatch):
    arguments = ("bench", *TINY, "--agents", ROWS, "--out", tmp_path, "--quiet")
    assert adamb(capsys, *arguments)[0] == 0
    scores, files = (tmp_path / "scores.csv").read_bytes(), entry_files(tmp_path)
    first, second, *_ = sorted(files)
    (tmp_path / "entries" / first).unlink()
    (tmp_path / "entries" / second).write_bytes(files[second][:40])
    played = []
    monkeypatch.setattr(bench, "play", lambda piece: played.append(piece) or piece.play())
    assert adamb(capsys, *arguments)[0] == 0
    assert {f"{piece.key()}.json" for piece in played} == {first, second}
    assert (tmp_path / "scores.csv").read_bytes() == scores and entry_files(tmp_path).keys() == files.keys()


def test_a_new_core_plays_only_our_rows_again(capsys, short, tmp_path, monkeypatch):
    arguments = ("bench", *TINY, "--out", tmp_path, "--quiet")
    assert adamb(capsys, *arguments, "--agents", ROWS)[0] == 0
    before = entry_files(tmp_path)
    monkeypatch.setattr(bench_entries, "core_digest", lambda: "another core")
    code, out, _ = adamb(capsys, *arguments, "--agents", "adamb")
    fresh = entry_files(tmp_path).keys() - before.keys()
    assert code == 0 and len(fresh) == 4, "four cells of one row"
    assert "bandit-zoom" in out and "adaql" in out, "stored rivals are in the table"


def test_the_protocol_is_printed_from_the_data_that_runs_it(capsys):
    code, out, _ = adamb(capsys, "bench", "--protocol")
    assert code == 0
    for name in (*(task.label for task in TASKS), *(each.label for each in CONTENDERS)):
        assert f"| {name} |" in out
    assert "20 seeds, 70000 to 70019" in out and "cache-slow (all rows): its simulator" in out


@pytest.mark.parametrize(
    ("arguments", "explanation"),
    [
        (["--only", "oil-laplase"], "did you mean oil-laplace"),
        (["--only", ","], "is empty"),
        (["--budgets", "two"], "not a size"),
        (["--agents", "adaqll"], "did you mean adaql"),
        (["--jobs", "0"], "jobs = 0"),
        (["--json", "-", "--markdown"], "standard output"),
        (["--report"], "holds no entry"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, tmp_path, arguments, explanation):
    code, out, error = adamb(capsys, "bench", "--out", tmp_path / "out", *arguments)
    assert code == 2 and out == "" and error.count("\n") == 1 and explanation in error, error
    assert not (tmp_path / "out").exists()


# ---- the protocol ---------------------------------------------------------------------------------------


def test_tuning_never_sees_a_seed_that_scores():
    for seeds in (bench_protocol.SEEDS, bench_protocol.QUICK_SEEDS):
        assert not set(seeds.scored) & set(seeds.tuning)


def test_the_controller_is_untuned_and_every_rival_has_a_grid_of_at_most_twenty_choices():
    asked = bench.make_bench(budgets=[4 * KIB])
    for entry in asked.entries():
        choices = len(list(entry.cell.choices()))
        if entry.cell.agent_label == UNTUNED:
            assert not entry.cell.tune and entry.cell.bonus is None and entry.cell.options == ()
        else:
            assert 2 <= choices <= 20, entry.cell.agent_label
    assert [len(bench_protocol.find_contenders([kind])) for kind in ("ours", "rivals")] == [3, 16]


def test_what_is_reused_from_another_budget_is_what_a_run_would_give(short):
    asked = bench.make_bench(only=["oil-noisy"], agents=["rivals"], quick=True)
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


@pytest.mark.parametrize("problem", ["oil-noisy", "ambulance-2-shifting", "cache-lite-walk", "dram-1x1"])
def test_choices_tuned_together_earn_what_each_earns_alone(short, problem):
    for entry in bench.make_bench(only=[problem], budgets=[1500], quick=True).entries():
        cell = replace(entry.cell, seeds=(11, 12), episodes=30, curves=0)
        choices = list(cell.choices())[:3] if cell.tune else []
        for choice, found in zip(choices, play_choices(cell, choices), strict=True):
            rows = run_cell(cell.with_choice(choice), optimum=False)["rows"]
            assert found["reward"] == (np.mean([row["reward_per_episode"] for row in rows]) if rows else None)
            assert found["bytes_peak"] == max((row["bytes_peak"] for row in rows), default=None)


def test_leaving_v_star_out_changes_nothing_else():
    runs = []
    for optimum in (True, False):
        problem = make_problem("oil-laplace", range(3), episodes=30, drift="walk")
        runs.append(simulate(problem, make_agent("adaql", problem), optimum=optimum))
    assert (runs[0].returns == runs[1].returns).all()
    assert runs[0].optimal is not None and runs[1].optimal is None and runs[1].regret() is None


def test_a_result_is_reused_only_where_no_cap_was_felt():
    assert holds_at(4096, 500, 1024) and holds_at(1024, 500, 4096) and holds_at(None, 500, 1024)
    assert not holds_at(4096, 1000, 1024), "too near to the cap to be sure"
    assert not holds_at(1024, 1020, 4096), "the smaller cap may have been felt"
    assert not holds_at(1024, None, 4096), "what did not fit may fit now"
    assert holds_at(1024, None, 1024)


# ---- made-up results ------------------------------------------------------------------------------------

SEEDS = 20
NOISE = np.random.default_rng(5).normal(0, 0.001, (40, SEEDS))


def outcome(problem, agent, budget, reward, *, noise=0, restarts=0.0, curve=None, peak=500):
    values = reward + NOISE[noise]
    return {
        "problem": problem, "agent": agent, "budget_bytes": budget, "episodes": 2000, "refused": None,
        "choice": {"bonus": 0.1}, "reward": values.tolist(), "bytes_peak": [peak] * SEEDS,
        "restarts": [restarts] * SEEDS, "curve": curve,
    }  # fmt: skip


def refused(problem, agent, budget):
    return {**outcome(problem, agent, budget, 1.0), "refused": "too small", "reward": [], "bytes_peak": [],
            "restarts": [], "choice": {}}  # fmt: skip


def reference(best=4.0, windows=None):
    return {"unit": "V*", "best": [best] * SEEDS, "random": [1.0] * SEEDS, "curve": windows}


def league(*outcomes, **references):
    names = {each["problem"] for each in outcomes}
    return League({name: references.get(name.replace("-", "_"), reference()) for name in names}, outcomes)


def verdict(found, target, against=None):
    return next(each for each in judge(found) if each.target == target and against in (None, each.against))


def won_tied_lost():
    """Three problems at 4 KiB: 2 % ahead, 0.5 % behind, 5 % behind a strengthened rival."""
    rewards = {"oil-laplace": (3.06, 3.0, 2.9), "dram-lite": (2.985, 3.0, 2.0), "oil-noisy": (2.85, 2.6, 3.0)}
    return [
        outcome(problem, agent, 4 * KIB, reward, noise=i)
        for problem, group in rewards.items()
        for i, (agent, reward) in enumerate(zip((UNTUNED, "adaql", "bandit-zoom"), group, strict=True))
    ]


def test_a_loss_is_shown_and_fails_the_targets():
    found = league(*won_tied_lost())
    assert [each.outcome for each in found.comparisons("all")] == ["win", "loss", "tie"]
    assert [each.outcome for each in found.comparisons("published")] == ["win", "win", "tie"]
    text = " ".join(map(" ".join, gain_rows(found, "all")[1]))
    assert "oil-noisy -5.0 ± 0.0 loss" in text and "oil-laplace +2.0 ± 0.0 win" in text
    within = verdict(found, "1a", "all")
    assert within.verdict == "does not hold" and "67 % of 3 cells" in within.figures
    assert "1 won, 1 tied, 1 lost" in within.figures
    behind = verdict(found, "1b", "all")
    assert behind.verdict == "does not hold" and "oil-noisy at 4 KiB behind bandit-zoom" in behind.figures
    assert verdict(found, "1a", "published").verdict == verdict(found, "1b", "published").verdict == "holds"
    text = markdown(bench.make_bench(only=found.problems), found, judge(found), full=True)
    assert "loss" in text and "Choices of the 3 best rivals at an end of their grid: none" in text


def test_a_controller_that_does_not_fit_has_lost():
    found = league(refused("dram-lite", UNTUNED, 2 * KIB), outcome("dram-lite", "adaql", 2 * KIB, 3.0))
    assert [each.outcome for each in found.comparisons("all")] == ["loss"]
    assert "does not fit in 1 of 1 cells" in verdict(found, "1b", "all").figures
    assert verdict(found, "1a", "all").verdict == "does not hold"
    assert any("does not fit" in text for text in rival_rows(found)[1][0])


def test_budgets_below_2_kib_do_not_count_for_the_first_target():
    found = league(outcome("dram-lite", UNTUNED, KIB, 2.0), outcome("dram-lite", "adaql", KIB, 3.0))
    assert verdict(found, "1a", "all").verdict == "not measured"


def test_intervals_that_reach_to_both_sides_are_undecided():
    wide = outcome("dram-lite", UNTUNED, 4 * KIB, 3.0)
    wide["reward"] = (3.0 + 200 * NOISE[1]).tolist()
    found = league(wide, outcome("dram-lite", "adaql", 4 * KIB, 3.0, noise=2))
    assert verdict(found, "1a", "all").verdict.startswith("undecided (")
    assert decide(False, True, True) == "undecided (holds by the means)"


@pytest.mark.parametrize(("reward", "answer"), [(3.4, "holds"), (3.2, "does not hold")])
def test_the_gain_over_the_paper_is_averaged_over_problems_that_do_not_drift(reward, answer):
    drifting = [outcome("dram-lite-walk", UNTUNED, KIB, 9.0), outcome("dram-lite-walk", PAPER, KIB, 1.0)]
    pair = [outcome("dram-lite", UNTUNED, KIB, reward), outcome("dram-lite", PAPER, KIB, 3.0, noise=1)]
    assert verdict(league(*pair, *drifting), "2").verdict == answer


@pytest.mark.parametrize(("reward", "answer"), [(2.95, "holds"), (2.85, "does not hold")])
def test_the_untuned_bonus_is_held_against_the_tuned_one(reward, answer):
    pair = [outcome("dram-lite", UNTUNED, KIB, reward), outcome("dram-lite", TUNED, KIB, 3.0, noise=1)]
    assert verdict(league(*pair), "3").verdict == answer


@pytest.mark.parametrize(("reward", "answer"), [(3.3, "holds"), (3.05, "does not hold")])
def test_drift_cells_are_averaged(reward, answer):
    ours = outcome("dram-lite-jump", UNTUNED, KIB, reward)
    rival = outcome("dram-lite-jump", "adaql", KIB, 3.0, noise=1)
    found = verdict(league(ours, rival), "1c", "all")
    assert found.verdict == answer and "over 1 cells; V* itself would gain +33." in found.figures


@pytest.mark.parametrize(("back_at", "answer", "waited"), [(24, "holds", 250), (35, "does not hold", 800)])
def test_recovery_is_judged_a_quarter_of_the_run_after_the_jump(back_at, answer, waited):
    share = np.where((np.arange(40) >= 20) & (np.arange(40) < back_at), 0.3, 0.9)
    curve = (4.0 * share + NOISE[:SEEDS, :1]).tolist()
    optimum = np.full((SEEDS, 40), 4.0).tolist()
    runs = [outcome("dram-lite-jump", UNTUNED, budget, 3.0, curve=curve) for budget in (4 * KIB, None)]
    found = league(*runs, dram_lite_jump=reference(windows=optimum))
    assert verdict(found, "4a").verdict == answer
    assert [each.episodes for each in recoveries(found)] == [waited, waited]


@pytest.mark.parametrize(("restarts", "answer"), [(0.1, "holds"), (0.3, "does not hold")])
def test_restarts_without_drift_are_false_alarms(restarts, answer):
    runs = [outcome("dram-lite", UNTUNED, 4 * KIB, 3.0, restarts=restarts)]
    runs += [outcome("dram-lite-jump", UNTUNED, 4 * KIB, 3.0, restarts=5.0)]
    assert verdict(league(*runs), "4b").verdict == answer


def test_a_ratio_of_paired_seeds_has_the_interval_of_its_own_error():
    base = np.random.default_rng(3).uniform(1, 5, 2000)
    exact = ratio(0.9 * base, base)
    assert exact.value == pytest.approx(0.9) and exact.ci95 < 1e-12
    errors = np.random.default_rng(4).normal(0, 0.3, 2000)
    noisy = ratio(base + errors, base)
    assert noisy.ci95 == pytest.approx(1.96 * 0.3 / np.sqrt(2000) / base.mean(), rel=0.1)
    assert average([noisy, noisy]).ci95 == pytest.approx(noisy.ci95)


def test_the_league_ranks_by_mean_share_and_counts_firsts():
    header, rows = league_rows(league(*won_tied_lost()))
    assert [row[0] for row in rows] == [UNTUNED, "adaql", "bandit-zoom"] and header[2] == "4 KiB"
    assert [row[-1] for row in rows] == ["1", "1", "1"]


def test_the_front_keeps_only_points_that_nothing_beats():
    points = [(100, 1.0), (50, 2.0), (200, 3.0), (200, 2.5), (300, 3.0)]
    assert pareto_front(points) == [(50, 2.0), (200, 3.0)]
