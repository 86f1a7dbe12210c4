"""A benchmark, the paper's curves and the index of a folder in a real browser."""

from __future__ import annotations

import json
import shutil

import pytest

from adamb.tools.cli import main
from support.reports import add_claims, write_benchmark, write_sweep


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    base = tmp_path_factory.mktemp("comparisons")
    folders = [write_benchmark(base / "benchmark"), add_claims(write_sweep(base / "sweep"))]
    assert main(["report", *map(str, folders), "--out", str(base / "page.html")]) == 0
    return base / "page.html"


def drawn(page, chart):
    script = f"adambReport.charts['{chart}'].options.series.map(s => [s.name, s.y, s.dash || '', s.colour])"
    return {name: (y, dash, colour) for name, y, dash, colour in page.evaluate(script)}


def test_the_curves_of_the_paper_are_drawn_and_no_two_look_alike(visit, page_file):
    curves = json.loads((page_file.parent / "sweep" / "curves.json").read_text())["problems"]
    with visit(page_file) as found:
        page = found.page
        for k, problem in enumerate(curves.values()):
            page.locator("#paper-0-problem").select_option(str(k))
            reward, leaves = drawn(page, "paper-0-reward"), drawn(page, "paper-0-leaves")
            assert {n: y for n, (y, _, _) in reward.items()} == {
                name: agent["reward"]["mean"] for name, agent in problem["agents"].items()
            }
            assert set(reward) - set(leaves) == {"flat"}
            assert len({look for _, *look in map(tuple, reward.values()) for look in [tuple(look)]}) == 8
        rules = page.evaluate("adambReport.charts['paper-0-reward'].options.rules")
        assert [(rule["name"], rule["y"]) for rule in rules] == [("optimum V*", 4.0)]


def test_points_of_a_benchmark_are_drawn_and_named_for_the_chosen_problem(visit, page_file):
    with visit(page_file) as found:
        page = found.page
        page.locator("#benchmark-0-problem").select_option("1")
        series = drawn(page, "benchmark-0")
        assert series["adamb"][0] == pytest.approx([0.8, 0.82]) and len(series) == 3
        assert page.locator("#benchmark-0 circle.dot").count() == 6
        names = page.locator("#benchmark-0 svg text.name").all_text_contents()
        assert {"adamb", "adaql"} <= set(names) and len(names) == 3


def test_a_long_table_says_how_many_rows_are_below(visit, page_file):
    with visit(page_file) as found:
        page = found.page
        frame, hint = page.locator(".long").first, page.locator(".long + .scroll-hint").first
        frame.evaluate("frame => { frame.style.maxHeight = '90px'; }")
        hint.wait_for(state="visible")
        assert "more row" in hint.inner_text()
        frame.evaluate("frame => frame.scrollTo({top: frame.scrollHeight, behavior: 'instant'})")
        hint.wait_for(state="hidden")


@pytest.mark.parametrize("width", [390, 1280])
def test_comparisons_fit_every_screen(visit, page_file, width):
    with visit(page_file, width=width, touch=width < 600) as found:
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_combination_of_a_sweep_is_shown_seed_by_seed(visit, page_file):
    with visit(page_file) as found:
        page = found.page
        assert page.locator(".seed[data-sweep]").count() == 1 and not page.locator("#sweep-seeds-0").is_visible()
        page.locator(".seed[data-sweep]").click()
        panel = page.locator("#sweep-seeds-0")
        assert "oil · adamb · 1 KiB" in panel.inner_text()
        panel.locator("th", has_text="reward").locator("button").click()
        assert panel.locator("td:nth-child(2)").all_inner_texts() == ["3.150", "3.050"]
        assert panel.locator("td:nth-child(1)").all_inner_texts() == ["1", "0"]


@pytest.fixture(scope="module")
def base(folders, tmp_path_factory):
    base = tmp_path_factory.mktemp("index")
    shutil.copytree(folders["full"], base / "full")
    write_benchmark(base / "benchmark")
    assert main(["report", "--index", str(base)]) == 0
    return base


@pytest.mark.parametrize("width", [390, 1280])
def test_an_index_sorts_filters_and_fits_the_screen(visit, base, width):
    with visit(base / "index.html", width=width, touch=width < 600) as found:
        page = found.page
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        folders = page.locator("#folders-section tbody tr:visible td:first-child")
        page.locator("th", has_text="folder").locator("button").click()
        page.locator("th", has_text="folder").locator("button").click()
        assert folders.all_inner_texts() == ["full", "benchmark"]
        page.locator("#filter").fill("OIL adamb")
        assert folders.all_inner_texts() == ["full"]


def test_a_link_of_the_index_opens_the_report(browser, base):
    page = browser.new_page()
    try:
        page.goto((base / "index.html").as_uri())
        page.get_by_role("link", name="full").click()
        page.evaluate("adambReport.ready")
        assert "Budget and bounds kept" in page.locator("h1").inner_text()
    finally:
        page.close()
