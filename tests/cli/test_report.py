"""`adamb report` judges before it draws: what is broken comes first, in red, and is an exit code."""

from __future__ import annotations

import base64
import json
import re
import zlib
from itertools import accumulate

import numpy as np

from adamb.firmware_model.host.reader import BlockView
from adamb.host_sim.recording import Recording
from adamb.tools.report.blocks import replay
from support.command import adamb
from support.reports import change, first_line

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
    counters = json.loads((run / "details.json").read_text())["seed_counters"]
    change(run, "details.json", seed_counters=counters | {"leaves": [5, 10_000]})
    code, _, error = adamb(capsys, "report", run)
    assert code == 1 and "Bound broken: 999999 bytes after episode 120, the upper bound is" in error
    assert "10000 leaves, the upper bound is" in (run / "report.html").read_text()


def test_json_has_the_verdict_and_every_answer(capsys, run):
    code, out, error = adamb(capsys, "report", run, "--json", "-")
    found = json.loads(out)
    assert code == 0 and found["ok"] and found["bytes"] == len((run / "report.html").read_bytes())
    (source,) = found["sources"]
    questions = {answer["question"]: answer for answer in source["answers"]}
    assert set(questions) == {
        "Did it fit?", "Did it learn?", "How fast does it decide?", "When memory ran out",
    }  # fmt: skip
    assert re.fullmatch(r"Yes: (1 KiB|10[012]\d B) of 1 KiB", questions["Did it fit?"]["short"])
    assert "% of the optimum" in questions["Did it learn?"]["short"]
    assert "kept" in error


def test_the_report_and_the_plan_name_the_same_bytes_for_the_same_job(capsys, run):
    """The most in use and the block that never fills are two numbers with two names."""
    _, out, _ = adamb(capsys, "report", run, "--json", "-")
    text = json.loads(out)["sources"][0]["answers"][0]["text"]
    _, out, _ = adamb(capsys, "plan", "--dims", "1+1", "--horizon", "5", "--episodes", "120", "--no-costs",
                      "--json", "-")  # fmt: skip
    plan = json.loads(out)
    in_use = plan["header_bytes"] + 8 * plan["units"]
    assert f"can use more than {in_use:,} bytes" in text and plan["bytes"] > in_use
    assert f"a block of {plan['bytes']:,} bytes never fills" in text
    page = (run / "report.html").read_text()
    cells = f'<td class="number">{in_use:,}</td><td class="number">{plan["bytes"]:,}</td>'
    assert cells in page and "most in use</th>" in page and "never fills</th>" in page


def test_the_page_and_the_table_of_the_run_tell_the_same_number_of_reclaims(capsys, run):
    counted = json.loads((run / "details.json").read_text())["seed_counters"]
    change(run, "details.json", seed_counters=counted | {"reclaims": [0, 1, 1]})
    adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    assert re.search(r"Seed 0 ran low after episode \d+\. A seed had \d+ splits refused", page)
    assert "0.6667 pieces of its partition" in page


def test_the_measurement_that_is_proposed_is_of_the_problem_that_was_played(capsys, run):
    """A run with another horizon, or of an environment, had got a command for the default one."""
    typed = "adamb run oil-laplace --set horizon=5 --budget 1KiB --set lam=9 --set=c=.5 --agent-set share=on --seeds 2"
    change(run, "details.json", command=typed)
    _, out, _ = adamb(capsys, "report", run, "--json", "-")
    found = {a["question"]: a for a in json.loads(out)["sources"][0]["answers"]}["How fast does it decide?"]
    assert "adamb latency oil-laplace --set horizon=5 --set lam=9 --set=c=.5 --agent-set share=on --budget" in str(
        found
    )


def test_an_agent_without_bounds_or_blocks_has_a_report(capsys, tmp_path):
    random = ["run", "oil-laplace", "--agent", "random", "--episodes", 30, "--seeds", 2, "--quiet", "--plot"]
    assert adamb(capsys, *random, "--out", tmp_path)[0] == 0
    assert not (tmp_path / "partition.png").exists()
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


def test_a_replay_holds_every_ball_of_every_frame(run):
    """The page undoes the differences in the same way; with a browser its numbers are compared too."""
    recording = Recording.load(run / "recording.npz")
    made = replay("run", recording.frames, recording.episodes.tolist(), recording.optimum)
    found = json.loads(zlib.decompress(base64.b64decode(made.text)))
    assert found["episodes"] == recording.episodes.tolist() and len(found["trees"]) == 1
    tree = found["trees"][0]
    rows = [
        (level, low, first, list(accumulate(n)), [list(accumulate(q)) for q in steps])
        for level, low, first, n, steps in zip(*(tree[k] for k in ("level", "low", "first", "n", "q")), strict=True)
    ]
    for at, frame in enumerate(recording.frames):
        view = BlockView(frame)
        alive = [
            (level, low, n[at - f], [s[at - f] for s in q]) for level, low, f, n, q in rows if 0 <= at - f < len(n)
        ]
        assert sorted(alive) == sorted(
            (b.level, [int(x * 2**b.level) for x in view.box(b)[0]], b.n if b.visited else -1,
             [view.q_raw(b, h) for h in range(view.horizon)])
            for b in view.balls(0)
        )  # fmt: skip
    steps = np.array(found["optimum"]["steps"]).reshape(found["optimum"]["shape"])
    assert (steps.cumsum(axis=-1).cumsum(axis=-2) == recording.optimum.scaled).all()


def test_large_recordings_are_thinned_until_they_fit(run):
    recording = Recording.load(run / "recording.npz")
    given = recording.frames, recording.episodes.tolist(), recording.optimum
    whole, made = replay("run", *given), replay("run", *given, limit=8000)
    assert len(made.text) <= 8000 < len(whole.text) and whole.episodes == given[1]
    assert made.episodes[0] == 0 and made.episodes[-1] == 120 and 5 <= len(made.episodes) < len(whole.episodes)


def test_names_cannot_break_out_of_the_page(capsys, run):
    change(run, "run.json", problem="</script><script>alert(1)</script><!--{data}-->")
    adamb(capsys, "report", run)
    page = (run / "report.html").read_text()
    assert "<script>alert" not in page
    assert page.count("<script") == page.count("</script>")
