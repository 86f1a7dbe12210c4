"""`adamb report` judges before it draws: what is broken comes first, in red, and is an exit code."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from adamb.tools.cli import main
from adamb.tools.report.page import build
from adamb.tools.report.sources import read_sources

RUN = ["run", "oil-laplace", "--budget", "1KiB", "--episodes", "120", "--seeds", "2", "--quiet", "--record"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "recorded"
    assert main([*RUN, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def run(recorded, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(recorded, tmp_path / "run")


def adamb(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def change(folder, name, **values):
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def first_line(page):
    """The first words that a reader sees, and the class that colours them."""
    found = re.search(r'<header class="verdict (\w+)">.*?<h1>(.*?)</h1>', page, re.DOTALL)
    return found[1], found[2]


# ---- the verdict ---------------------------------------------------------------------------------------


def test_a_kept_budget_is_green_and_exit_code_0(capsys, run):
    code, out, error = adamb(capsys, "report", run)
    assert code == 0 and error == "" and "Budget and bounds kept" in out and "report.html" in out
    assert first_line((run / "report.html").read_text()) == ("ok", "✓ Budget and bounds kept")


def test_a_failed_budget_is_red_in_the_first_line_and_exit_code_1(capsys, run):
    change(run, "run.json", bytes_peak=1100)
    code, _, error = adamb(capsys, "report", run)
    assert code == 1 and "Budget broken: 1,100 bytes used, the cap is 1,024 bytes" in error
    page = (run / "report.html").read_text()
    assert first_line(page) == ("bad", "✕ Budget broken: 1,100 bytes used, the cap is 1,024 bytes")
    assert page.count('class="card bad"') >= 1 and "76 above the cap" in page
    assert re.search(r"\.verdict\.bad h1 \{ color: var\(--bad\); \}", page)


def test_a_broken_bound_is_a_violation_too(capsys, run):
    lines = (run / "curves.csv").read_text().splitlines()
    cells = lines[-1].split(",")
    cells[-1] = "999999"
    (run / "curves.csv").write_text("\n".join([*lines[:-1], ",".join(cells)]) + "\n")
    code, _, error = adamb(capsys, "report", run)
    assert code == 1 and "Bound broken: 999999 bytes after episode 120, the exact bound is" in error


def test_too_many_leaves_break_their_bound(capsys, run):
    details = json.loads((run / "details.json").read_text())
    details["seed_counters"]["leaves"] = [5, 10_000]
    change(run, "details.json", **details)
    code, _, error = adamb(capsys, "report", run)
    assert code == 1 and "10000 leaves, the exact bound is" in error


def test_json_has_the_verdict_and_every_answer(capsys, run):
    code, out, error = adamb(capsys, "report", run, "--json", "-")
    found = json.loads(out)
    assert code == 0 and found["ok"] and found["bytes"] == len((run / "report.html").read_bytes())
    (source,) = found["sources"]
    questions = {answer["question"]: answer for answer in source["answers"]}
    assert set(questions) == {
        "Did it fit?", "Did it learn?", "How fast does it decide?", "When memory ran out",
    }  # fmt: skip
    assert questions["Did it fit?"]["short"] == "Yes: 1 KiB of 1 KiB"
    assert "% of the optimum" in questions["Did it learn?"]["short"]
    assert "kept" in error


def test_what_happened_when_memory_ran_out_names_the_episode(capsys, run):
    adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    assert re.search(r"Seed 0 ran low after episode \d+\. A seed had \d+ splits refused", page)


def test_an_agent_without_bounds_or_blocks_has_a_report(capsys, tmp_path):
    assert main(["run", "oil-laplace", "--agent", "random", "--episodes", "30", "--seeds", "2", "--quiet",
                 "--out", str(tmp_path)]) == 0  # fmt: skip
    code, out, _ = adamb(capsys, "report", tmp_path)
    assert code == 0 and "No limit was broken" in out
    assert 'id="explorer"' not in (tmp_path / "report.html").read_text()


# ---- one file, nothing else ----------------------------------------------------------------------------


def test_the_page_is_one_file_under_three_megabytes_that_names_no_address(capsys, run):
    adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    assert len(page) < 3_000_000
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}[^\s\"']*", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}, addresses
    assert not re.findall(r'<(?:script|img|iframe|link)[^>]+(?:src|href)="(?!data:)', page)
    assert "default-src 'none'" in page


def test_large_recordings_are_thinned_until_they_fit(run):
    import numpy as np

    from adamb.tools.report import payload

    rng = np.random.default_rng(1)
    frames = [rng.integers(0, 65536, 20_000).astype(np.uint16) for _ in range(120)]
    made = payload.explorer(0, "noise", frames, list(range(120)), None, limit=500_000)
    assert sum(len(text) for text in made.blobs.values()) <= 500_000
    kept = made.info["episodes"]
    assert kept[0] == 0 and kept[-1] == 119 and 5 <= len(kept) < 20 and made.info["recorded_frames"] == 120


def test_names_cannot_break_out_of_the_page(capsys, run):
    change(run, "run.json", problem="</script><script>alert(1)</script><!--{data}-->")
    adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    assert "<script>alert" not in page
    assert page.count("<script") == page.count("</script>")


def test_data_of_the_page_is_valid_json(capsys, run):
    adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page)[1])
    assert len(data["runs"]) == 1 and data["runs"][0]["cap"] == 1024
    assert data["explorers"][0]["episodes"][-1] == 120


# ---- folders of every kind -----------------------------------------------------------------------------


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
    (folder / "latency.csv").write_text(
        "episode,act_mean,act_max,observe_mean,observe_max,bound_act\n" + rows
    )
    return folder


def test_a_measurement_answers_how_fast_the_run_decides(capsys, run, tmp_path):
    measured = write_latency(tmp_path / "latency")
    code, out, _ = adamb(capsys, "report", run, measured, "--out", tmp_path / "r.html", "--json", "-")
    answers = {a["question"]: a for a in json.loads(out)["sources"][0]["answers"]}
    assert code == 0 and answers["How fast does it decide?"]["short"] == "152 instructions at most"
    assert "no act can take more than 160" in answers["How fast does it decide?"]["text"]


def test_a_measurement_of_another_controller_is_not_taken_for_this_ones(capsys, run, tmp_path):
    measured = write_latency(tmp_path / "latency", budget_bytes=8192)
    _, out, _ = adamb(capsys, "report", run, measured, "--out", tmp_path / "r.html", "--json", "-")
    answers = {a["question"]: a for a in json.loads(out)["sources"][0]["answers"]}
    assert "on a host" in answers["How fast does it decide?"]["short"]


def test_a_broken_bound_on_time_is_a_violation(capsys, tmp_path):
    measured = write_latency(tmp_path / "latency", violations=["act took 170 instructions, the bound is 160"])
    code, _, error = adamb(capsys, "report", measured)
    assert code == 1 and "Bound broken: act took 170 instructions" in error


def write_sweep(folder, refused="", peak="900"):
    folder.mkdir()
    (folder / "meta.json").write_text(json.dumps({
        "name": "caps", "spec_hash": "x", "seeds": [0, 1], "cells": 2, "finished": True,
        "command": "adamb sweep", "versions": {"adamb": "0.1.0"},
    }))  # fmt: skip
    header = "problem,agent,bonus,budget_bytes,seeds,refused,reward_per_episode_mean,"
    header += "reward_per_episode_ci95,optimal_mean,bytes_peak_max\n"
    rows = f"oil,adamb,auto,1024,2,,3.1,0.1,4.0,{peak}\noil,adamb,auto,2048,2,{refused},3.2,0.1,4.0,1500\n"
    (folder / "summary.csv").write_text(header + rows)
    return folder


def test_a_sweep_folder_becomes_a_table(capsys, tmp_path):
    code, _, _ = adamb(capsys, "report", write_sweep(tmp_path / "sweep"))
    page = (tmp_path / "sweep" / "report.html").read_text()
    assert code == 0 and "3.100 ± 0.100" in page and "77.5 %" in page


@pytest.mark.parametrize("trouble", [{"refused": "500 bytes required"}, {"peak": "2000"}])
def test_a_sweep_with_a_combination_that_does_not_fit_is_red(capsys, tmp_path, trouble):
    code, _, error = adamb(capsys, "report", write_sweep(tmp_path / "sweep", **trouble))
    assert code == 1 and "Budget broken: oil, adamb" in error


def write_profile(folder, **changes):
    points = [
        {
            "mode": "tracking",
            "run": name,
            "episode": k,
            "bytes": size,
            "bytes_max": size,
            "bound_exact": 900 * k,
        }
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


# ---- folders that are not whole ------------------------------------------------------------------------


def test_a_run_without_details_still_has_its_report(capsys, run):
    for name in ("details.json", "recording.npz", "block.bin"):
        (run / name).unlink()
    code, _, _ = adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    assert code == 0 and "% of the optimum" in page and "Add --record" in page


def test_a_recording_of_another_core_is_left_out_and_said(capsys, run):
    from adamb.host_sim.recording import Recording

    recording = Recording.load(run / "recording.npz")
    recording.meta["spec_hash"] = 1
    (run / "recording.npz").write_bytes(recording.to_bytes())
    code, _, _ = adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    assert code == 0 and "made by another version of the core" in page and 'id="explorer"' not in page


def mistakes(run, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    yield [tmp_path / "empty"], "holds none of run.json"
    yield [tmp_path / "missing"], "is not there"
    yield [tmp_path / "file"], "is not a folder"
    yield [run, "--out", tmp_path], "is a folder"
    yield [run, "--out", tmp_path / "file"], "is not a report"


def test_mistakes_are_one_line_and_exit_code_2(capsys, run, tmp_path):
    for arguments, said in mistakes(run, tmp_path):
        code, _, error = adamb(capsys, "report", *arguments)
        assert code == 2 and said in error and error.count("\n") == 1, (arguments, error)


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
    code, _, error = adamb(capsys, "report", run)
    assert code == 2 and said in error and name in error, error


def test_a_report_may_replace_a_report_but_nothing_else(capsys, run, tmp_path):
    target = tmp_path / "page.html"
    assert adamb(capsys, "report", run, "--out", target)[0] == 0
    assert adamb(capsys, "report", run, "--out", target)[0] == 0
    target.write_text("my own page")
    assert adamb(capsys, "report", run, "--out", target)[0] == 2
    assert target.read_text() == "my own page"
    assert adamb(capsys, "report", run, "--out", target, "--force")[0] == 0


def test_labels_say_only_what_differs(recorded, run):
    change(run, "run.json", budget_bytes=2048)
    labels = [source.label for source in read_sources([recorded, run])]
    assert labels == ["1 KiB", "2 KiB"]
    assert len({source.label for source in read_sources([recorded, recorded])}) == 2


def test_a_report_of_the_same_folder_repeats(recorded):
    first, second = (build(read_sources([recorded])).html for _ in range(2))
    assert first == second
