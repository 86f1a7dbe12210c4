"""Growth fits find the exponent they are given; violations are caught; budget files are read or explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adamb.budgets.limits import judge, read_budget_file
from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.studies.growth import fit_exponent, log_points, violations


def test_log_points_start_at_one_end_at_the_last_and_are_even_on_a_log_axis():
    points = log_points(100_000)
    assert points[0] == 1 and points[-1] == 100_000
    assert points == sorted(set(points))
    ratios = np.diff(np.log10([point for point in points if point > 100]))
    assert ratios.max() - ratios.min() < 0.02
    assert log_points(1) == [1]


@pytest.mark.parametrize("exponent", [0.0, 0.4, 0.6, 1.2])
def test_the_fit_recovers_a_known_exponent_and_its_interval_covers_it(exponent):
    seed = 11
    draw = np.random.default_rng(seed)
    points = log_points(100_000)
    slopes = exponent + 0.02 * draw.standard_normal((30, 1))
    values = 50 * np.asarray(points, dtype=float) ** slopes
    fit = fit_exponent(points, values)
    assert fit is not None and fit.ci95 is not None, f"seed {seed}"
    assert abs(fit.measured - exponent) <= 3 * fit.ci95, f"seed {seed}"
    assert fit.ci95 < 0.02
    assert fit.seeds == 30
    assert fit.first_episode >= 1000


def test_the_fit_ignores_start_up_and_says_when_there_is_too_little_to_fit():
    points = log_points(10_000)
    values = np.asarray([[1000.0 if k < 100 else float(k) for k in points]])
    fit = fit_exponent(points, values)
    assert fit is not None
    assert fit.measured == pytest.approx(1)
    assert fit.ci95 is None
    assert fit_exponent([1, 2], np.ones((2, 2))) is None
    assert fit_exponent(points, np.zeros((2, len(points)))) is None
    with pytest.raises(InputError, match="values"):
        fit_exponent(points, np.ones((2, 3)))


def test_a_planted_violation_is_caught_and_named():
    points, bounds = [1, 10, 100], [5, 50, 500]
    values = np.asarray([[5, 50, 500], [1, 51, 2]])
    found = violations("units", points, values, bounds, seeds=[7, 8])
    assert [(each.episode, each.seed, each.measured) for each in found] == [(10, 8, 51)]
    assert "units = 51 after episode 10 of seed 8, above the bound 50" in str(found[0])
    assert violations("units", points, values[:1], bounds, seeds=[7]) == []


GOOD = """
problem = "oil-laplace"
episodes = 300
[options]
mode = "paper"
[limits]
bytes = "4KiB"
stack_bytes = 512
min_reward = 2.5
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "budget.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_budget_file_is_read_with_its_defaults(tmp_path):
    file = read_budget_file(write(tmp_path, GOOD))
    assert file.problem == "oil-laplace"
    assert file.numbers == {"episodes": 300, "horizon": None, "seeds": 5, "seed_base": 0}
    assert file.options == {"mode": "paper"}
    assert file.limits == {"bytes": 4096, "stack_bytes": 512, "min_reward": 2.5}
    assert file.needs_target
    assert file.budget_bytes == 4096
    other = read_budget_file(write(tmp_path, GOOD.replace("episodes = 300", 'budget = "2KiB"')))
    assert other.budget_bytes == 2048


def test_rows_have_the_margin_in_the_sense_of_the_limit(tmp_path):
    file = read_budget_file(write(tmp_path, GOOD))
    rows = {row.name: row for row in judge(file, {"bytes": 4096, "stack_bytes": 600, "min_reward": 2.75})}
    assert (rows["bytes"].margin, rows["bytes"].ok) == (0, True)
    assert (rows["stack_bytes"].margin, rows["stack_bytes"].ok) == (-88, False)
    assert (rows["min_reward"].margin, rows["min_reward"].ok) == (0.25, True)
    with pytest.raises(InputError, match="was not measured"):
        judge(file, {"bytes": 1})


@pytest.mark.parametrize(
    ("old", "new", "key", "expectation"),
    [
        ('problem = "oil-laplace"', "", "problem", "the name of a problem"),
        ('problem = "oil-laplace"', "problem = 3", "problem", "the name of a problem"),
        ("episodes = 300", "episodes = 0", "episodes", "whole number from 1"),
        ("episodes = 300", "episodes = 2.5", "episodes", "whole number from 1"),
        ("episodes = 300", "budget = true", "budget", "a size such as 4KiB"),
        ("episodes = 300", "episode = 300", "episode", "did you mean episodes?"),
        ("min_reward = 2.5", "min_rewards = 2.5", "limits.min_rewards", "did you mean min_reward?"),
        ("min_reward = 2.5", "min_reward = nan", "limits.min_reward", "a number of 0 or more"),
        ("stack_bytes = 512", "stack_bytes = -1", "limits.stack_bytes", "or a size such as 4KiB"),
        ('bytes = "4KiB"', 'bytes = "4 apples"', "limits.bytes", "use B, KiB"),
        ('[options]\nmode = "paper"', "options = 3", "options", "a table"),
        ('bytes = "4KiB"\nstack_bytes = 512\nmin_reward = 2.5', "", "limits", "at least one of"),
    ],
)
def test_a_malformed_budget_file_names_file_key_and_expectation(tmp_path, old, new, key, expectation):
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        read_budget_file(path)
    message = str(caught.value)
    assert str(path) in message and key in message and expectation in message


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_budget_file(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_budget_file(tmp_path)
    with pytest.raises(InputError, match="valid TOML"):
        read_budget_file(write(tmp_path, "limits ="))
