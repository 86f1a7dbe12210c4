"""Folders of results are read as what they were written as; anything else is named with file and field."""

from __future__ import annotations

import json
import shutil

import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import make_agent, make_problem, simulate
from adamb.host_sim.results import measurements, read_rows, rows_as_csv, run, sweep

EPISODES = 30


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder as `adamb run` leaves it, and the result it holds."""
    folder = tmp_path_factory.mktemp("run")
    problem = make_problem("oil-laplace", [5, 6], episodes=EPISODES)
    agent = make_agent("adamb", problem, budget_bytes=2048)
    result = simulate(problem, agent)
    for name, content in run.run_files(result, problem, agent, EPISODES, None).items():
        (folder / name).write_bytes(content)
    return folder, result


@pytest.fixture
def folder(written, tmp_path):
    return shutil.copytree(written[0], tmp_path / "run")


def change(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def refusal(read, *arguments):
    with pytest.raises(InputError) as caught:
        read(*arguments)
    return str(caught.value)


def test_a_run_is_read_as_it_was_written(written):
    path, result = written
    found = run.RunFolder.read(path)
    assert found.summary == run.RunSummary.of(result)
    assert found.details.to_json() == json.loads((path / run.DETAILS).read_text())
    assert found.curves.reward_mean == result.returns.mean(axis=0).tolist()
    assert found.summary.microseconds_per_step == pytest.approx(result.microseconds_per_step())
    assert found.seed_counter("leaves") == result.stats["leaves"].tolist()
    assert found.details.share_last100 == result.share(100)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"format": 2}, "is of format 2, this version reads 1"),
        ({"episodes": "30"}, "episodes is '30', not a whole number"),
        ({"problem": 3}, "problem is 3, not text"),
        ({"reward_last100": {"mean": 1.0}}, "has no 'reward_last100.ci95'"),
        ({"seconds": {"agent": None}}, "seconds.agent is None, not a number"),
    ],
)
def test_a_wrong_value_is_named_with_its_file_and_field(folder, values, said):
    change(folder / run.RUN, **values)
    text = refusal(run.RunFolder.read, folder)
    assert said in text and str(folder / run.RUN) in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("episode,reward_mean\n1,2.0\n", "has no column 'reward_ci95'"),
        ("episode,reward_mean\n1,inf\n", "reward_mean is 'inf'"),
        (None, "has no curves.csv"),
    ],
)
def test_a_table_without_a_column_or_a_file_is_refused(folder, content, said):
    (folder / run.CURVES).unlink()
    if content is not None:
        (folder / run.CURVES).write_text(content)
    assert said in refusal(lambda: run.RunFolder.read(folder).curves)


def row(**values):
    common = {
        "problem": "oil", "agent": "adamb", "bonus": None, "budget_bytes": 1024, "seeds": 2, "refused": None,
        "reward_per_episode_mean": 3.25, "reward_per_episode_ci95": None, "optimal_mean": 4.0,
        "bytes_peak_max": 1000,
    }  # fmt: skip
    return sweep.SummaryRow(**common | values)


def test_rows_of_a_sweep_are_read_as_they_were_written(tmp_path):
    rows = [row(), row(agent="a, b", bonus="0.5", budget_bytes=None, refused="too small", seeds=0)]
    (tmp_path / sweep.SUMMARY).write_bytes(rows_as_csv(sweep.SummaryRow, rows))
    assert read_rows(sweep.SummaryRow, tmp_path / sweep.SUMMARY) == rows
    (tmp_path / sweep.SUMMARY).write_bytes(rows_as_csv(sweep.SummaryRow, [row(seeds="many")]))
    text = refusal(read_rows, sweep.SummaryRow, tmp_path / sweep.SUMMARY)
    assert "summary.csv:2" in text and "seeds is 'many', not a whole number" in text


@pytest.mark.parametrize("finished", [True, False])
def test_only_a_sweep_that_is_not_finished_may_have_no_table(tmp_path, finished):
    meta = sweep.SweepMeta(name="s", spec_hash="x", command="", seeds=[0], cells=1, finished=finished, versions={})
    (tmp_path / sweep.META).write_text(json.dumps(meta.to_json()))
    found = sweep.SweepFolder.read(tmp_path)
    assert found.meta == meta
    if finished:
        assert "has no summary.csv" in refusal(lambda: found.rows)
    else:
        assert found.rows == []


def test_a_profile_is_read_as_it_was_written(tmp_path):
    point = measurements.ProfilePoint(mode="paper", run="capped", episode=3, bytes=9.5, bytes_max=10, bound_exact=20)
    made = measurements.ProfileSummary(
        problem="oil", episodes=3, seeds=1, seed_base=0, budget_bytes=None, points=[point],
        exponents={"paper": measurements.GrowthExponents(measured=None, ci95=None, paper=0.5)},
        cap_bound_at={"paper": None}, violations=[],
    )  # fmt: skip
    (tmp_path / measurements.PROFILE).write_text(json.dumps(made.to_json()))
    found = measurements.read_profile(tmp_path)
    assert found == made and found.modes == ["paper"] and found.worst_bytes("capped") == 10
