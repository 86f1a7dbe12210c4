"""`adamb report --index`: one table over all folders, each with its own report."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from support.command import adamb, refused
from support.reports import change, first_line, write_benchmark


@pytest.fixture
def base(recorded, tmp_path):
    """Two runs, one of them deeper and with a name that wants to be markup, and a benchmark."""
    base = tmp_path / "runs"
    shutil.copytree(recorded, base / "first")
    shutil.copytree(recorded, base / "deep" / 'a<b>&"c" #1')
    write_benchmark(base / "benchmark")
    return base


def test_an_index_lists_every_folder_and_links_to_its_report(capsys, base):
    code, out, error = adamb(capsys, "report", "--index", base)
    assert code == 0 and error == "" and "3 folders, 0 with a broken limit" in out
    page = (base / "index.html").read_text()
    links = re.findall(r'<a href="([^"#]+)">', page)
    assert links == ["benchmark/report.html", "deep/a%3Cb%3E%26%22c%22%20%231/report.html", "first/report.html"]
    assert all((base / place / "report.html").is_file() for place in ("first", "benchmark", 'deep/a<b>&"c" #1'))
    assert first_line(page) == ("ok", "✓ 3 folders, every limit kept")
    assert "a<b>" not in page and "benchmark, quick version" in page and "1,024" in page


def test_a_broken_limit_below_makes_the_index_red(capsys, base):
    change(base / "first", "run.json", bytes_peak=1100)
    code, _, _ = adamb(capsys, "report", "--index", base)
    status, text = first_line((base / "index.html").read_text())
    assert code == 1 and status == "bad" and text == "✕ 1 of 3 folders with trouble"


def test_a_folder_that_cannot_be_read_is_listed_and_the_others_are_written(capsys, base):
    (base / "first" / "run.json").write_text("{")
    code, out, error = adamb(capsys, "report", "--index", base, "--json", "-")
    assert code == 2 and "run.json" in error and "Traceback" not in error and "it is listed" in error
    assert [entry["ok"] for entry in json.loads(out)["folders"]] == [True, True, False]
    assert "is not JSON" in (base / "index.html").read_text()
    assert (base / "benchmark" / "report.html").is_file() and not (base / "first" / "report.html").exists()


def test_a_page_of_somebody_else_is_left_alone(capsys, base):
    (base / "first" / "report.html").write_text("my own page")
    assert adamb(capsys, "report", "--index", base)[0] == 0
    assert (base / "first" / "report.html").read_text() == "my own page"
    (base / "index.html").write_text("my own index")
    assert "is not a report" in refused(capsys, "report", "--index", base)
    assert "is not there" in refused(capsys, "report", "--index", base / "nowhere")
