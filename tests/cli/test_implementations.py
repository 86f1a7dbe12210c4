"""`adamb latency --target implementations`: steps in C beside those of the paper's algorithm in Python."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adamb.host_sim import make_agent, simulate
from adamb.host_sim.problems import make_problem
from adamb.tools.measure import paper_times
from support.command import adamb, refused

QUICK = ["latency", "oil-laplace", "--target", "implementations", "--episodes", "40"]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(paper_times, "MANY", 8)


def test_every_implementation_has_its_time_and_its_ratio(capsys):
    code, out, err = adamb(capsys, *QUICK, "--json", "-")
    assert code == 0 and err == ""
    content = json.loads(out)
    rows = content["rows"]
    assert [row["implementation"] for row in rows] == ["C, 8 learners", "C, one learner", paper_times.IN_PYTHON]
    times = [row["step_ns"] for row in rows]
    assert [row["ratio"] for row in rows] == pytest.approx([each / min(times) for each in times])
    assert list(content["times_faster"].values()) == pytest.approx([times[2] / each for each in times[:2]])
    assert (content["episodes"], content["seed"]) == (40, 0)
    code, out, _ = adamb(capsys, *QUICK)
    shown = " ".join(out.split())
    assert code == 0 and "C, one learner" in shown and "times faster" in shown and "seeds from 0" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--episodes", "0"], "from 1"),
        (["--agent-set", "sharing=on"], "did you mean share"),
        (["--board", "pico"], "is about this computer"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, options, message):
    assert message in refused(capsys, *QUICK, *options)


def test_time_that_other_programs_were_given_does_not_count(monkeypatch):
    """A clock that runs twice as fast as the processor's: half of it was ours."""
    now = [0]
    monkeypatch.setattr(paper_times.time, "perf_counter", lambda: 2 * now[0])
    monkeypatch.setattr(paper_times.time, "process_time", lambda: now[0])

    def measure():
        now[0] += 1000
        return 600.0

    assert paper_times.of_processor(measure) == 300


def test_the_papers_algorithm_plays_the_games_of_its_compiled_form(monkeypatch):
    """So the two can be compared: the row takes the same decisions as `--core double`."""
    compiled, played = (make_problem("oil-noisy", [5], episodes=60) for _ in range(2))
    expected = simulate(compiled, make_agent("adamb", compiled, core="double", **paper_times.PAPER), optimum=False)
    earned, step = [], played.step

    def watched(h, actions):
        rewards, states = step(h, actions)
        earned.append(rewards[0])
        return rewards, states

    monkeypatch.setattr(played, "step", watched)
    assert paper_times.in_python(played) > 0
    assert np.reshape(earned, (60, -1)).sum(axis=1) == pytest.approx(expected.returns[0])
