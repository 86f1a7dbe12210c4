"""The benchmark says plainly where it lost: verdicts on made-up results, whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.host_sim.benchmark import KIB, PAPER, TUNED, UNTUNED
from adamb.host_sim.benchmark import play as bench
from adamb.host_sim.benchmark.scores import Benchmark, decide, judge, recoveries
from adamb.host_sim.ratios import average, ratio
from adamb.tools.figures.benchmark import pareto_front
from adamb.tools.sweeps.benchmark import baseline_rows, benchmark_rows, gain_rows, markdown

SEEDS = 20
NOISE = np.random.default_rng(5).normal(0, 0.001, (40, SEEDS))


def outcome(problem, agent, budget, reward, *, noise=0, restarts=0.0, curve=None, peak=500):
    values = reward + NOISE[noise]
    return {
        "problem": problem, "agent": agent, "budget_bytes": budget, "episodes": 2000, "refused": None,
        "choice": {"bonus": 0.1}, "reward": values.tolist(), "bytes_peak": [peak] * SEEDS,
        "restarts": [restarts] * SEEDS, "curve": curve,
    }  # fmt: skip


def not_fitting(problem, agent, budget):
    return {**outcome(problem, agent, budget, 1.0), "refused": "too small", "reward": [], "bytes_peak": [],
            "restarts": [], "choice": {}}  # fmt: skip


def reference(best=4.0, windows=None):
    return {"unit": "V*", "best": [best] * SEEDS, "random": [1.0] * SEEDS, "curve": windows}


def benchmark(*outcomes, **references):
    names = {each["problem"] for each in outcomes}
    return Benchmark({name: references.get(name.replace("-", "_"), reference()) for name in names}, outcomes)


def verdict(found, target, against=None):
    return next(each for each in judge(found) if each.target == target and against in (None, each.against))


def won_tied_lost():
    """Three problems at 4 KiB: 2 % ahead, 0.5 % behind, 5 % behind a strengthened baseline."""
    rewards = {"oil-laplace": (3.06, 3.0, 2.9), "dram-lite": (2.985, 3.0, 2.0), "oil-noisy": (2.85, 2.6, 3.0)}
    return [
        outcome(problem, agent, 4 * KIB, reward, noise=i)
        for problem, group in rewards.items()
        for i, (agent, reward) in enumerate(zip((UNTUNED, "adaql", "bandit-zoom"), group, strict=True))
    ]


@pytest.mark.parametrize(
    ("ours", "spread", "expected"),
    [(3.4, 2.0, "open"), (3.4, 0.01, "win"), (2.6, 2.0, "open"), (2.6, 0.01, "loss"), (3.01, 2.0, "tie")],
)
def test_a_win_or_a_loss_needs_its_interval(ours, spread, expected):
    noisy = outcome("dram-lite", UNTUNED, 4 * KIB, ours)
    wide = np.linspace(-spread, spread, SEEDS)
    noisy["reward"] = (ours + wide).tolist()
    found = benchmark(noisy, outcome("dram-lite", "adaql", 4 * KIB, 3.0))
    (cell,) = found.comparisons("all")
    assert cell.outcome == expected and gain_rows(found, "all")[1][0][1].endswith(expected)
    word = {"win": "won", "tie": "tied", "loss": "lost"}.get(expected, expected)
    assert f"1 {word}" in verdict(found, "1a", "all").figures


def test_a_loss_is_shown_and_fails_the_targets():
    found = benchmark(*won_tied_lost())
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
    assert "loss" in text and "Choices of the 3 best baselines at an end of their grid: none" in text


def test_a_controller_that_does_not_fit_has_lost():
    found = benchmark(not_fitting("dram-lite", UNTUNED, 2 * KIB), outcome("dram-lite", "adaql", 2 * KIB, 3.0))
    assert [each.outcome for each in found.comparisons("all")] == ["loss"]
    assert "does not fit in 1 of 1 cells" in verdict(found, "1b", "all").figures
    assert verdict(found, "1a", "all").verdict == "does not hold"
    assert any("does not fit" in text for text in baseline_rows(found)[1][0])


def test_intervals_that_reach_to_both_sides_are_undecided():
    wide = outcome("dram-lite", UNTUNED, 4 * KIB, 3.0)
    wide["reward"] = (3.0 + 200 * NOISE[1]).tolist()
    found = benchmark(wide, outcome("dram-lite", "adaql", 4 * KIB, 3.0, noise=2))
    assert verdict(found, "1a", "all").verdict.startswith("undecided (")
    assert decide(False, True, True) == "undecided (holds by the means)"


def pair(problem, reward, other, budget=KIB, against=3.0):
    return [outcome(problem, UNTUNED, budget, reward), outcome(problem, other, budget, against, noise=1)]


DRIFTING = pair("dram-lite-walk", 9.0, PAPER, against=1.0)
"""Does not count where problems that do not drift are averaged."""


@pytest.mark.parametrize(
    ("target", "outcomes", "answer"),
    [
        ("1a", pair("dram-lite", 2.0, "adaql"), "not measured"),  # below 2 KiB
        ("1c", pair("dram-lite-jump", 3.3, "adaql"), "holds"),
        ("1c", pair("dram-lite-jump", 3.05, "adaql"), "does not hold"),
        ("2", pair("dram-lite", 3.4, PAPER) + DRIFTING, "holds"),
        ("2", pair("dram-lite", 3.2, PAPER) + DRIFTING, "does not hold"),
        ("3", pair("dram-lite", 2.95, TUNED), "holds"),
        ("3", pair("dram-lite", 2.85, TUNED), "does not hold"),
        ("4b", [outcome("dram-lite", UNTUNED, KIB, 3.0, restarts=0.1)], "holds"),
        ("4b", [outcome("dram-lite", UNTUNED, KIB, 3.0, restarts=0.3)], "does not hold"),
    ],
)
def test_a_target_is_judged_by_the_cells_that_count_for_it(target, outcomes, answer):
    restarts_under_drift = outcome("oil-laplace-jump", UNTUNED, KIB, 3.0, restarts=5.0)
    assert verdict(benchmark(*outcomes, restarts_under_drift), target).verdict == answer


@pytest.mark.parametrize(("back_at", "answer", "waited"), [(24, "holds", 250), (35, "does not hold", 800)])
def test_recovery_is_judged_a_quarter_of_the_run_after_the_jump(back_at, answer, waited):
    share = np.where((np.arange(40) >= 20) & (np.arange(40) < back_at), 0.3, 0.9)
    curve = (4.0 * share + NOISE[:SEEDS, :1]).tolist()
    optimum = np.full((SEEDS, 40), 4.0).tolist()
    runs = [outcome("dram-lite-jump", UNTUNED, budget, 3.0, curve=curve) for budget in (4 * KIB, None)]
    found = benchmark(*runs, dram_lite_jump=reference(windows=optimum))
    assert verdict(found, "4a").verdict == answer
    assert [each.episodes for each in recoveries(found)] == [waited, waited]


def test_a_ratio_of_paired_seeds_has_the_interval_of_its_own_error():
    base = np.random.default_rng(3).uniform(1, 5, 2000)
    exact = ratio(0.9 * base, base)
    assert exact.value == pytest.approx(0.9) and exact.ci95 < 1e-12
    errors = np.random.default_rng(4).normal(0, 0.3, 2000)
    noisy = ratio(base + errors, base)
    assert noisy.ci95 == pytest.approx(1.96 * 0.3 / np.sqrt(2000) / base.mean(), rel=0.1)
    assert average([noisy, noisy]).ci95 == pytest.approx(noisy.ci95)


def test_the_benchmark_ranks_by_mean_share_and_counts_firsts():
    header, rows = benchmark_rows(benchmark(*won_tied_lost()))
    assert [row[0] for row in rows] == [UNTUNED, "adaql", "bandit-zoom"] and header[2] == "4 KiB"
    assert [row[-1] for row in rows] == ["1", "1", "1"]


def test_the_front_keeps_only_points_that_nothing_beats():
    points = [(100, 1.0), (50, 2.0), (200, 3.0), (200, 2.5), (300, 3.0)]
    assert pareto_front(points) == [(50, 2.0), (200, 3.0)]
