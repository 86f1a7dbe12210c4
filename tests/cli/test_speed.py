"""`adamb speed` measures every implementation on the same run and orders them as they are."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from adamb.host_sim import make_agent, simulate
from adamb.host_sim.registry import make_problem
from adamb.tools.measure import call_times as speeds
from adamb.tools.measure.recorded_calls import record
from support.command import adamb, refused

QUICK = ["--episodes", "40", "--controllers", "8", "--rounds", "2"]


def test_json_has_every_implementation_with_its_ratio(capsys):
    code, out, err = adamb(capsys, "speed", "oil-laplace", *QUICK, "--json", "-")
    assert code == 0 and err == ""
    content = json.loads(out)
    rows = content["rows"]
    assert [row["implementation"] for row in rows] == [
        "C, whole episodes of 8",
        "C, whole episodes of 1",
        "C, 8 controllers a call",
        "C, one controller a call",
        "Python twin (CPython)",
        "paper's algorithm in Python",
    ]
    fastest = min(row["step_ns"] for row in rows)
    for row in rows:
        assert row["step_ns"] == pytest.approx(row["act_ns"] + row["observe_ns"], abs=0.2)
        assert row["ratio"] == pytest.approx(row["step_ns"] / fastest, rel=0.02)
    step_ns = [row["step_ns"] for row in rows]
    for fast, name in enumerate(("episodes", "episodes-alone")):
        slow = {"reference": step_ns[5] / step_ns[fast]}
        assert content["times_faster"][name] == pytest.approx(slow, rel=0.02)
    assert (content["episodes"], content["controllers"], content["mode"]) == (40, 8, "tracking")


def test_the_table_shows_times_ratios_and_seeds(capsys):
    code, out, _ = adamb(capsys, "speed", *QUICK, "--only", "c,reference", "--seed-base", 7)
    assert code == 0
    for promised in ("speed on oil-laplace", "act", "observe", "ratio", "C, one controller", "seeds from 7"):
        assert promised in " ".join(out.split())
    assert "Python twin" not in out


@pytest.mark.parametrize("options", [["--mode", "paper"], ["--share", "off"], ["--budget", "2KiB"]])
def test_options_reach_the_controller(capsys, options):
    code, out, _ = adamb(capsys, "speed", "oil-2d", *QUICK, *options, "--json", "-")
    content = json.loads(out)
    assert code == 0
    told = {"--mode": content["mode"], "--share": content["share"], "--budget": content["budget_bytes"]}
    assert told[options[0]] == {"2KiB": 2048}.get(options[1], options[1])


def test_json_goes_to_a_file_beside_the_table(capsys, tmp_path):
    target = tmp_path / "speed.json"
    code, out, _ = adamb(capsys, "speed", *QUICK, "--only", "c", "--json", target)
    assert code == 0 and "implementation" in out
    assert len(json.loads(target.read_text())["rows"]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["oil-laplac"], "did you mean"),
        (["--only", "c,fortran"], "episodes, episodes-alone, c-batch, c, python, reference"),
        (["plant-clock", "--only", "c,episodes"], "plant-clock has no step in C"),
        (["--episodes", "0"], "from 1"),
        (["--controllers", "0"], "controllers"),
        (["--rounds", "0"], "rounds"),
        (["--budget", "10B"], "bytes"),
        (["--share", "some"], "share"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, options, message):
    assert message in refused(capsys, "speed", *options)


def test_what_is_measured_is_the_call_and_not_the_clock(monkeypatch):
    """By a clock that takes 50 ns to read: a call of known length is found to be that long, per learner."""
    recording = record(make_problem("oil-laplace", [1], episodes=10), None, {})
    now = [0]

    def read():
        now[0] += 50
        return now[0]

    def takes(nanoseconds):
        def call(k, h):
            now[0] += nanoseconds

        return call

    slow = lambda _: speeds.Subject("slow", 2, takes(400), takes(900), lambda: None)  # noqa: E731
    monkeypatch.setattr(speeds.time, "perf_counter_ns", read)
    monkeypatch.setattr(speeds.time, "process_time_ns", read)
    monkeypatch.setitem(speeds.SUBJECTS, "slow", slow)
    timing = speeds.measure("slow", recording, 3)
    assert (timing.act_ns, timing.observe_ns, timing.step_ns) == (200, 450, 650)


def test_time_that_other_programs_were_given_does_not_count(monkeypatch):
    """A clock that runs twice as fast as the processor's: half of it was ours."""
    now = [0]
    monkeypatch.setattr(speeds.time, "perf_counter_ns", lambda: 2 * now[0])
    monkeypatch.setattr(speeds.time, "process_time_ns", lambda: now[0])
    share = speeds.ProcessorShare()
    now[0] = 1000
    assert share.of(600, 100) == (300, 50)


def test_every_implementation_replays_the_recorded_run():
    """All take the whole recording without an error."""
    problem = make_problem("oil-2d", [3, 4], episodes=30)
    recording = record(problem, 4096, {"share": "off"})
    for name in speeds.SUBJECTS:
        subject = speeds.SUBJECTS[name](recording)
        for k in range(30):
            for h in range(problem.horizon):
                assert subject.act(k, h) in (0, None)
                assert subject.observe(k, h) in (0, None)
            assert subject.end_episode() in (0, None)


def test_a_problem_without_a_step_in_c_has_the_other_rows(capsys):
    code, out, _ = adamb(capsys, "speed", "plant-light", *QUICK, "--json", "-")
    names = [row["implementation"] for row in json.loads(out)["rows"]]
    assert code == 0 and not any("episodes" in name for name in names)
    assert len(names) == len(speeds.SUBJECTS) + 1


def test_the_papers_algorithm_plays_the_games_of_its_compiled_form(monkeypatch):
    """So the two can be compared: the row takes the same decisions as `--core double`."""
    recorded, compiled, played = (make_problem("oil-noisy", [5], episodes=60) for _ in range(3))
    expected = simulate(compiled, make_agent("adamb", compiled, core="double", **speeds.PAPER), optimum=False)
    earned, step = [], played.step

    def watched(h, actions):
        rewards, states = step(h, actions)
        earned.append(rewards[0])
        return rewards, states

    monkeypatch.setattr(played, "step", watched)
    recording = replace(record(recorded, None, {}), problem=lambda seeds: played)
    assert min(speeds.paper_run(recording)) > 0
    assert np.reshape(earned, (60, -1)).sum(axis=1) == pytest.approx(expected.returns[0])


def test_whole_episodes_play_the_recorded_run(monkeypatch):
    """What is timed is the run that was recorded: the same rewards, whichever learners play."""
    problem = make_problem("oil-noisy", [5, 6, 7], episodes=50)
    recording = record(problem, 2048, {"mode": "paper"})
    played = []
    play = speeds.CompiledPlay.play
    monkeypatch.setattr(
        speeds.CompiledPlay, "play", lambda self, *rest: (play(self, *rest), played.append(rest[2]))[0]
    )
    for learners in (3, 1):
        played.clear()
        times = speeds.whole_episodes(recording, learners)
        returns = np.concatenate(played, axis=1)
        assert min(times) > 0 and returns.shape == (learners, 50)
        np.testing.assert_allclose(returns, recording.rewards.sum(axis=1).T[:learners], rtol=1e-12)
