"""Live pages in a real browser: they follow the work and say when it has ended."""

from __future__ import annotations

import pytest

from support.reports import LONG, change, interrupt, served


@pytest.fixture
def tab(browser):
    """An empty page that collects what goes wrong in it."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda message: page.wrong.append(message.text))
    yield page
    context.close()


def until(page, script):
    """Its policy forbids the browser driver's own way to wait."""
    for _ in range(6000):
        if page.evaluate(script):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"waited in vain for {script}")


def test_a_browser_follows_a_run_until_it_is_stopped(tab):
    with served(*LONG, "--live", 0) as (process, address):
        tab.goto(address)
        until(tab, "document.querySelectorAll('.card').length === 4")
        assert tab.locator("h1").inner_text() == "The run is under way"
        far = "Number(document.querySelector('.card .short').textContent.split(' ')[0].replaceAll(',', ''))"
        first = tab.evaluate(far)
        until(tab, f"{far} > {first}")
        assert tab.locator("#learning svg path.line").count() == 2
        assert "of 4 KiB" in tab.locator(".card").nth(2).inner_text()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert interrupt(process)[0] == 130
        until(tab, "document.getElementById('footer').textContent !== ''")
        assert tab.locator("h1").inner_text() == "The run has been stopped"
    assert tab.wrong == []


def test_a_browser_sees_the_end_of_a_run_that_finishes(tab):
    command = ["run", "oil-laplace", "--budget", "1KiB", "--episodes", 50_000, "--seeds", 3, "--quiet"]
    with served(*command, "--live", 0) as (process, address):
        tab.goto(address)
        until(tab, "document.getElementById('footer').textContent !== ''")
        process.wait(60)
    assert tab.locator("h1").inner_text() == "The run has finished"
    assert tab.locator(".card .short").first.inner_text() == "50,000 of 50,000" and tab.wrong == []


def test_a_watched_report_loads_itself_again_when_its_folder_changes(tab, folders, tmp_path):
    for path in folders["full"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with served("report", tmp_path, "--watch", 0) as (_, address):
        tab.goto(address)
        assert tab.locator("h1").inner_text().startswith("✓")
        change(tmp_path, "run.json", bytes_peak=1100)
        tab.locator("h1", has_text="✕ Budget broken").wait_for()
    assert tab.wrong == []
