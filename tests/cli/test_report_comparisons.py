"""`adamb report` of a benchmark and of the paper's claims."""

from __future__ import annotations

import json
import re

from support.command import adamb, refused
from support.reports import NASTY, add_claims, score, write_benchmark, write_sweep


def test_a_benchmark_folder_shows_who_won_every_target_and_every_score(capsys, tmp_path):
    folder = write_benchmark(tmp_path / "benchmark")
    code, out, _ = adamb(capsys, "report", folder, "--json", "-")
    answers = {a["question"]: a for a in json.loads(out)["sources"][0]["answers"]}
    assert code == 0 and answers["Is it ahead?"]["short"] == "1 of 2 cells won"
    assert answers["Are the targets met?"]["short"] == "0 of 1"
    page = (folder / "report.html").read_text()
    assert "+12.0 ± 1.0 win" in page and "-5.0 ± 1.0 loss" in page and "within 1 %" in page
    assert page.count("<td>adaql</td>") == 4 and "90.0 ± 1.0" in page


def test_a_benchmark_of_an_own_agent_shows_its_gain_and_counts_only_what_was_measured(capsys, tmp_path):
    folder = write_benchmark(tmp_path / "benchmark")
    file = folder / "benchmark.json"
    content = json.loads(file.read_text())
    content["cells"] = [dict(content["cells"][0], against="your own", baseline="mine.py:Mine")]
    content["verdicts"] = [dict(content["verdicts"][0], verdict=v) for v in ("holds", *["not measured"] * 3)]
    file.write_text(json.dumps(content))
    _, out, _ = adamb(capsys, "report", folder, "--json", "-")
    answers = {a["question"]: a for a in json.loads(out)["sources"][0]["answers"]}
    assert answers["Is it ahead?"]["short"] == "No tuned baseline has played"
    assert answers["Are the targets met?"]["short"] == "1 of 1"
    assert "3 of 4 were not measured" in answers["Are the targets met?"]["text"]
    page = (folder / "report.html").read_text()
    assert "Gain in % over the best agent of your own" in page and "+12.0 ± 1.0 win" in page


def test_the_claims_of_the_paper_are_counted_and_listed(capsys, tmp_path):
    folder = add_claims(write_sweep(tmp_path / "sweep"))
    code, out, _ = adamb(capsys, "report", folder, "--json", "-")
    answers = {a["question"]: a for a in json.loads(out)["sources"][0]["answers"]}
    assert code == 0 and answers["Do the paper's claims hold?"]["short"] == "1 of 3 comparisons"
    page = (folder / "report.html").read_text()
    assert page.count("35 : 245 leaves") == 3 and "adaptive partitions are smaller" in page
    counted = re.search(r"AdaMB : epsilonMB</td>((?:<td class=\"number\">\d</td>){3})", page)[1]
    assert re.findall(r">(\d)<", counted) == ["1", "1", "3"]


def test_names_of_contenders_and_problems_stay_text(capsys, tmp_path):
    benchmark, paper = write_benchmark(tmp_path / "benchmark"), add_claims(write_sweep(tmp_path / "sweep"))
    assert adamb(capsys, "report", benchmark, paper, "--out", tmp_path / "both.html")[0] == 0
    page = (tmp_path / "both.html").read_text()
    assert NASTY not in page and "<img" not in page and page.count("<script") == page.count("</script>")


def test_a_damaged_benchmark_is_named_with_its_field(capsys, tmp_path):
    folder = write_benchmark(tmp_path / "benchmark", score("adaql", "much", 10))
    error = refused(capsys, "report", folder)
    assert "benchmark.json" in error and "scores[12].score is 'much'" in error


def test_a_score_above_its_cap_makes_the_benchmark_red(capsys, tmp_path):
    folder = write_benchmark(tmp_path / "benchmark", score("adaql", 0.9, 3000))
    code, _, error = adamb(capsys, "report", folder)
    assert code == 1 and "Budget broken: oil-laplace, adaql: 3,000 bytes used, the cap is 2,048 bytes" in error
