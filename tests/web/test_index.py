"""The page over several runs in a real browser."""

from __future__ import annotations

import shutil

import pytest

from adamb.tools.cli import main
from support.contests import write_league


@pytest.fixture(scope="module")
def base(folders, tmp_path_factory):
    base = tmp_path_factory.mktemp("index")
    shutil.copytree(folders["full"], base / "full")
    write_league(base / "league")
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
        assert folders.all_inner_texts() == ["league", "full"]
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
