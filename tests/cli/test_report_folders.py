"""`adamb report` reads folders of every kind, says what is missing in one, and refuses what is none."""

from __future__ import annotations

import json

import pytest

from adamb.tools.cli import main
from adamb.tools.report.page import build
from adamb.tools.report.sources import read_sources
from support.command import adamb, refused
from support.reports import change, first_line, write_sweep


def test_several_runs_are_compared(capsys, run, tmp_path):
    other = tmp_path / "other"
    assert main(["run", "oil-laplace", "--agent", "adaql", "--episodes", "60", "--seeds", "2", "--budget",
                 "4KiB", "--quiet", "--out", str(other)]) == 0  # fmt: skip
    code, out, _ = adamb(capsys, "report", run, other, "--out", tmp_path / "both.html")
    assert code == 0 and "Every budget and every bound was kept" in out
    page = (tmp_path / "both.html").read_text()
    assert "adamb tracking · 1 KiB" in page and "adaql · 4 KiB" in page
    assert page.count("<h3>Did it fit?</h3>") == 2


def test_one_broken_run_among_several_makes_the_first_line_red(capsys, recorded, run, tmp_path):
    change(run, "run.json", bytes_peak=2000)
    code, _, _ = adamb(capsys, "report", recorded, run, "--out", tmp_path / "both.html")
    status, text = first_line((tmp_path / "both.html").read_text())
    assert code == 1 and status == "bad" and text.startswith("✕ Budget broken: 2,000 bytes")


LATENCY = {
    "problem": "oil-laplace", "target": "cortex-m0", "unit": "instructions", "note": "counted",
    "mode": "tracking", "budget_bytes": 1024, "episodes": 3, "horizon": 5, "seed": 0,
    "act": {"mean": 140.0, "p99": 150.0, "p999": 151.0, "max": 152.0},
    "observe": {"mean": 2000.0, "p99": 5000.0, "p999": 6000.0, "max": 8000.0},
    "bound_act": 160, "bound_observe": None, "stack_bytes": 400, "violations": [],
}  # fmt: skip


def write_latency(folder, **changes):
    folder.mkdir(exist_ok=True)
    (folder / "latency.json").write_text(json.dumps(LATENCY | changes))
    rows = "".join(f"{k},140.0,{150 + k},2000.0,8000,{155 + k}\n" for k in range(3))
    (folder / "latency.csv").write_text("episode,act_mean,act_max,observe_mean,observe_max,bound_act\n" + rows)
    return folder


def test_a_measurement_answers_how_fast_the_run_decides_and_one_of_another_controller_does_not(capsys, run, tmp_path):
    def answer(**changes):
        measured = write_latency(tmp_path / "latency", **changes)
        code, out, error = adamb(capsys, "report", run, measured, "--out", tmp_path / "r.html", "--json", "-")
        answers = {a["question"]: a for a in json.loads(out)["sources"][0]["answers"]}
        return code, answers["How fast does it decide?"], error

    code, found, _ = answer()
    assert code == 0 and found["short"] == "152 instructions at most"
    assert "no act can take more than 160" in found["text"]
    assert "on a host" in answer(budget_bytes=8192)[1]["short"]
    code, _, error = answer(violations=["act took 170 instructions, the bound is 160"])
    assert code == 1 and "Bound broken: act took 170 instructions" in error


def test_a_sweep_in_progress_says_how_many_results_are_stored(capsys, tmp_path):
    folder = write_sweep(tmp_path / "sweep")
    change(folder, "meta.json", finished=False)
    (folder / "summary.csv").unlink()
    (folder / "cells").mkdir()
    for name in ("a.json", "b.json", ".c.json.part"):
        (folder / "cells" / name).write_text("{}")
    _, out, _ = adamb(capsys, "report", folder, "--json", "-")
    assert "2 results are stored so far" in json.loads(out)["sources"][0]["answers"][0]["text"]


@pytest.mark.parametrize("trouble", [{"refused": "500 bytes required"}, {"peak": "2000"}])
def test_a_sweep_with_a_combination_that_does_not_fit_is_red(capsys, tmp_path, trouble):
    code, _, error = adamb(capsys, "report", write_sweep(tmp_path / "sweep", **trouble))
    assert code == 1 and "Budget broken: oil, adamb" in error


def write_profile(folder, **changes):
    points = [
        {"mode": "tracking", "run": name, "episode": k, "bytes": size, "bytes_max": size, "bound_exact": 900 * k}
        for name, size in (("uncapped", 1400), ("capped", 1000))
        for k in (1, 10, 100)
    ]
    content = {
        "problem": "oil-laplace", "episodes": 100, "seeds": 2, "seed_base": 0, "budget_bytes": 1024,
        "points": points, "exponents": {"tracking": {"measured": 0.25, "ci95": 0.01, "paper": 0.75}},
        "cap_bound_at": {"tracking": {"earliest": 70}}, "violations": [],
    } | changes  # fmt: skip
    folder.mkdir()
    (folder / "profile.json").write_text(json.dumps(content))
    return folder


def test_a_profile_folder_shows_growth_and_bounds(capsys, tmp_path):
    code, _, _ = adamb(capsys, "report", write_profile(tmp_path / "profile"))
    page = (tmp_path / "profile" / "report.html").read_text()
    assert code == 0 and "0.250 ± 0.010" in page and "episode 70" in page


def test_a_profile_that_was_stopped_tells_the_episodes_of_the_mode_it_means(capsys, tmp_path):
    """Modes are stopped at different episodes; the largest number had been told of whichever used most."""
    folder = write_profile(tmp_path / "profile", episodes=500)
    known = json.loads((folder / "profile.json").read_text())
    further = known["points"][0] | {"mode": "paper", "episode": 500, "bytes": 700, "bytes_max": 700}
    exponents = known["exponents"] | {"paper": known["exponents"]["tracking"]}
    felt = known["cap_bound_at"] | {"paper": None}
    change(folder, "profile.json", points=[*known["points"], further], exponents=exponents, cap_bound_at=felt)
    adamb(capsys, "report", folder)
    page = (folder / "report.html").read_text()
    assert "the worst seed used 1,400 bytes in 100 episodes" in page


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"violations": ["leaves = 9 above the bound 8"]}, "Bound broken: leaves"),
        ({"budget_bytes": 512}, "Budget broken"),
    ],
)
def test_a_profile_above_a_bound_or_its_cap_is_red(capsys, tmp_path, changes, said):
    code, _, error = adamb(capsys, "report", write_profile(tmp_path / "profile", **changes))
    assert code == 1 and said in error


def test_a_recording_of_another_core_is_left_out_and_said(capsys, run):
    from adamb.host_sim.recording import Recording

    recording = Recording.load(run / "recording.npz")
    recording.meta["spec_hash"] = 1
    (run / "recording.npz").write_bytes(recording.to_bytes())
    code, _, _ = adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    assert code == 0 and "made by another version of the core" in page and 'id="explorer"' not in page


def test_mistakes_are_one_line_and_exit_code_2(capsys, run, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for arguments, said in (
        ([tmp_path / "empty"], "holds none of run.json"),
        ([tmp_path / "missing"], "is not there"),
        ([tmp_path / "file"], "is not a folder"),
        ([run, "--out", tmp_path], "is a folder"),
        ([run, "--out", tmp_path / "file"], "is not a report"),
    ):
        assert said in refused(capsys, "report", *arguments), arguments
    assert (tmp_path / "file").read_text() == "x", "a report may replace a report but nothing else"
    page = tmp_path / "page.html"
    assert [adamb(capsys, "report", run, "--out", page)[0] for _ in range(2)] == [0, 0]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("run.json", "{", "is not JSON"),
        ("run.json", "[]", "is not a JSON object"),
        ("run.json", "{}", "was not written by this command"),
        ("details.json", "nonsense", "is not JSON"),
        ("curves.csv", "episode,bytes_max\n1\n", "cells"),
        ("curves.csv", "episode,bytes_max\n1,many\n", "not a number"),
        ("recording.npz", "PK", "not a whole recording"),
    ],
)
def test_a_damaged_file_is_named(capsys, run, name, content, said):
    (run / name).write_text(content)
    error = refused(capsys, "report", run)
    assert said in error and name in error, error


def test_labels_say_only_what_differs(recorded, run):
    change(run, "run.json", budget_bytes=2048)
    labels = [source.label for source in read_sources([recorded, run])]
    assert labels == ["1 KiB", "2 KiB"]
    assert len({source.label for source in read_sources([recorded, recorded])}) == 2


def test_a_report_of_the_same_folder_repeats(recorded):
    first, second = (build(read_sources([recorded])).html for _ in range(2))
    assert first == second


def test_a_sweep_folder_becomes_a_table(capsys, tmp_path):
    code, _, _ = adamb(capsys, "report", write_sweep(tmp_path / "sweep"))
    page = (tmp_path / "sweep" / "report.html").read_text()
    assert code == 0 and "3.100 ± 0.100" in page and "77.5 %" in page
