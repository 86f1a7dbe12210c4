"""Pictures can be read: texts cover nothing, lines and points have names, one scale where things compare."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from adamb.host_sim.benchmark import BUDGETS, CONTENDERS
from adamb.host_sim.benchmark.scores import Benchmark
from adamb.tools.figures import STYLE
from adamb.tools.figures.benchmark import pareto_figure
from adamb.tools.figures.growth import latency_figure, profile_figure
from adamb.tools.figures.paper import Box, heat_figure, partition_figure
from adamb.tools.measure.memory_growth import GrowthTask, measure
from adamb.tools.options import PlayedProblem
from support.pictures import outside, overlaps, texts

SEED = 5


@pytest.fixture(scope="module")
def profiles():
    return [
        measure(GrowthTask(PlayedProblem("oil-laplace", (5, 6), 300), mode, 1024)) for mode in ("tracking", "paper")
    ]


@pytest.fixture(scope="module")
def benchmark():
    """All contenders at all budgets with scores that lie close together."""
    rng, seeds = np.random.default_rng(SEED), 5
    outcomes = [
        {
            "problem": "oil-laplace", "agent": contender.label, "budget_bytes": budget, "episodes": 2000,
            "refused": None, "choice": {}, "restarts": [0] * seeds, "curve": None,
            "reward": (rng.uniform(3.2, 3.6) + rng.normal(0, 0.02, seeds)).tolist(),
            "bytes_peak": [int(min(budget, rng.uniform(100, 6000)))] * seeds,
        }
        for contender in CONTENDERS for budget in BUDGETS
    ]  # fmt: skip
    reference = {"best": [4.1] * seeds, "random": [0.3] * seeds, "unit": "V*", "curve": None}
    return Benchmark({"oil-laplace": reference}, outcomes)


def measured(seed=SEED):
    """A latency measurement as the picture needs it."""
    rng, episodes, horizon = np.random.default_rng(seed), 400, 5
    growth = np.linspace(1, 3, episodes)[:, None]
    return SimpleNamespace(
        request=SimpleNamespace(problem="oil-laplace"),
        costs=SimpleNamespace(
            target="cortex-m0", unit="instructions", act=rng.integers(150, 180, (episodes, horizon)),
            observe=(rng.integers(900, 2500, (episodes, horizon)) * growth).astype(int),
        ),
        exponent_paper=1.25,
        bound_act_by_episode=np.full(episodes, 189),
        bound_observe_by_episode=np.full(episodes, 245_000),
    )  # fmt: skip


def names(figure):
    return {text for text, _ in texts(figure)}


def test_labels_of_a_profile_do_not_overlap(profiles):
    figure = profile_figure(profiles)
    assert overlaps(figure) == [] and outside(figure) == []
    assert {"uncapped", "capped", "upper bound", "cap 1 KiB"} <= names(figure)


def test_every_contender_of_a_pareto_picture_is_named_and_no_name_covers_another(benchmark):
    figure = pareto_figure(benchmark, "oil-laplace")
    assert {each.label for each in CONTENDERS} <= names(figure)
    assert overlaps(figure) == [] and outside(figure) == []


def test_the_picture_of_latency_has_the_house_style():
    figure = latency_figure(measured())
    assert overlaps(figure) == [] and outside(figure) == []
    assert {"mean", "worst call", "upper bound"} <= names(figure) and not figure.legends
    for axes in figure.axes:
        assert axes.get_legend() is None and not axes.spines["top"].get_visible()
        assert axes.title.get_text() == "" and axes._left_title.get_fontweight() == STYLE["axes.titleweight"]


def boxes(low, high):
    return [Box(0.0, 0.0, 0.5, low, True), Box(0.5, 0.0, 0.5, high, True)]


def coloured(figure):
    """Limits of the colours of everything that is drawn in colours."""
    drawn = [each for axes in figure.axes for each in (*axes.collections, *axes.images)]
    return [each.get_clim() for each in drawn if each.get_array() is not None]


def test_partitions_of_different_algorithms_are_compared_on_one_scale_with_a_colour_bar():
    figure = partition_figure("oil", {"A": boxes(0.4, 0.5), "B": boxes(2.0, 4.0)}, np.full((4, 4), 3.0))
    limits = coloured(figure)
    assert len(limits) >= 4 and set(limits) == {(0.4, 4.0)}
    assert "Q" in names(figure) and overlaps(figure) == []


def test_optima_of_nine_problems_are_rows_on_one_scale_with_a_colour_bar():
    figure = heat_figure({f"problem {i}, random place": np.full((4, 4), float(i)) for i in range(9)})
    assert set(coloured(figure)) == {(0.0, 8.0)} and "Q" in names(figure)
    assert figure.get_size_inches()[0] < 14 and overlaps(figure) == []
