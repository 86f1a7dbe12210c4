"""The report in a real browser: it opens by itself, on any screen, in print, without its script; tables and seeds."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from support.reports import CAMPAIGN, KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_opens_without_errors_and_without_the_network(visit, reports, kind):
    with visit(reports[kind]) as found:
        assert found.page.locator("h1").first.inner_text().startswith("✓")
        assert found.page.locator("#explorer canvas").count() > 1


def test_charts_tell_their_values(visit, reports):
    with visit(reports["full"]) as found:
        page = found.page
        page.locator("#learning").focus()
        page.keyboard.press("ArrowLeft")
        tip = page.locator("#learning .tip")
        tip.wait_for(state="visible")
        assert "reward" in tip.inner_text() and "optimum V*" in tip.inner_text()
        page.locator("label", has_text="share of V*").click()
        assert "%" in page.locator("#learning svg").inner_html()
        page.keyboard.press("Escape")


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_follows_the_scheme_and_the_button_turns_it(visit, reports, scheme, dark):
    background = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    with visit(reports["full"], scheme=scheme) as found:
        assert (sum(found.page.evaluate(background)) < 200) == dark
        found.page.locator("#theme").click()
        assert (sum(found.page.evaluate(background)) < 200) != dark


@pytest.mark.parametrize("kind", ["full", *(pytest.param(name, marks=CAMPAIGN) for name in ("wide", "compared"))])
def test_a_phone_needs_no_sideways_scrolling(visit, reports, kind):
    with visit(reports[kind], width=390, height=844) as found:
        assert found.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print_is_on_white_without_the_controls_and_with_the_answers(visit, reports, scheme):
    with visit(reports["full"], scheme=scheme) as found:
        found.page.emulate_media(media="print")
        assert found.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not found.page.locator(".transport").is_visible()
        assert not found.page.locator("#theme").is_visible()
        assert found.page.locator(".card").first.is_visible()
        assert found.page.locator("#explorer canvas").first.is_visible()


def test_colours_keep_their_order_without_colour(visit, reports):
    """In greys the palette still rises, so print and every kind of colour vision can read it."""
    script = """palette('viridis', [255, 255, 255]).css.map(c => {
        const [r, g, b] = c.match(/\\d+/g).map(Number); return 0.2126 * r + 0.7152 * g + 0.0722 * b; })"""
    with visit(reports["full"]) as found:
        greys = found.page.evaluate(script)
        assert all(b >= a - 0.5 for a, b in pairwise(greys)) and greys[-1] > greys[0] + 150


def test_the_four_questions_are_answered_without_the_script(browser, reports):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(reports["full"].as_uri())
        text = page.locator("main").inner_text()
    finally:
        context.close()
    for question, answer in (
        ("Did it fit?", "of 1 KiB"),
        ("Did it learn?", "% of the optimum"),
        ("How fast does it decide?", "µs per step"),
        ("When memory ran out", "made room"),
    ):
        assert question in text and answer in text, question


LEDGER = "#ledger-section table"


def column(page, table, number):
    return page.locator(f"{table} tbody tr td:nth-child({number})").all_inner_texts()


def whole(texts):
    return [int(text.replace(",", "")) for text in texts]


def test_a_heading_sorts_its_column_and_the_total_stays_last(visit, reports):
    with visit(reports["full"]) as found:
        page = found.page
        heading = page.locator(f"{LEDGER} th", has_text="bytes")
        heading.locator("button").click()
        sizes = whole(column(page, LEDGER, 2))
        assert heading.get_attribute("aria-sort") == "descending"
        assert sizes[:-1] == sorted(sizes[:-1], reverse=True) and sizes[-1] == sum(sizes[:-1])
        heading.locator("button").press("Enter")
        assert heading.get_attribute("aria-sort") == "ascending"
        assert whole(column(page, LEDGER, 2))[:-1] == sorted(sizes[:-1])
        page.locator(f"{LEDGER} th", has_text="owner").locator("button").click()
        owners = column(page, LEDGER, 1)
        assert owners[:-1] == sorted(owners[:-1]) and page.locator(f"{LEDGER} th[aria-sort]").count() == 1


def test_numbers_sort_as_numbers_and_what_is_none_comes_last(visit, reports):
    script = """() => {
        const table = node('table');
        const cells = ['9', 'never', '1,024', '−3.5', '2.5e3', '94.6 ± 2.2 %'];
        const rows = cells.map(v => `<tr><td>${v}</td></tr>`);
        table.innerHTML = `<thead><tr><th class="number">v</th></tr></thead><tbody>${rows.join('')}</tbody>`;
        sortRows(table, 0, false);
        const up = [...table.tBodies[0].rows].map(r => r.textContent);
        sortRows(table, 0, true);
        return [up, [...table.tBodies[0].rows].map(r => r.textContent)];
    }"""
    with visit(reports["full"]) as found:
        up, down = found.page.evaluate(script)
    assert up == ["−3.5", "9", "94.6 ± 2.2 %", "1,024", "2.5e3", "never"]
    assert down == ["2.5e3", "1,024", "94.6 ± 2.2 %", "9", "−3.5", "never"]


def test_on_a_phone_a_wide_table_scrolls_and_says_how_many_columns_are_hidden(visit, reports):
    with visit(reports["full"], width=390, height=844, touch=True) as found:
        page = found.page
        frame = page.locator("#storage-section .scroll")
        hint = page.locator("#storage-section .scroll-hint")
        frame.scroll_into_view_if_needed()
        hint.wait_for(state="visible")
        assert hint.inner_text().startswith("Swipe sideways for")
        frame.evaluate("frame => frame.scrollTo({left: frame.scrollWidth, behavior: 'instant'})")
        hint.wait_for(state="hidden")


def test_on_a_wide_screen_no_table_asks_for_scrolling(visit, reports):
    with visit(reports["full"], width=1400) as found:
        assert found.page.locator(".scroll-hint:visible").count() == 0


def test_a_tap_on_a_chart_shows_its_values_until_a_tap_elsewhere(visit, reports):
    with visit(reports["full"], width=390, height=844, touch=True) as found:
        page = found.page
        chart, tip = page.locator("#learning svg").last, page.locator("#learning .tip")
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2)
        tip.wait_for(state="visible")
        assert "reward" in tip.inner_text()
        page.locator("#learning-curves").tap()
        tip.wait_for(state="hidden")


def test_a_tap_on_the_partition_names_the_ball(visit, reports):
    with visit(reports["full"], width=390, height=844, touch=True) as found:
        page = found.page
        stage = page.locator("#explorer .stage").first
        stage.scroll_into_view_if_needed()
        box = stage.bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.locator("#explorer .ball dd").count() >= 3


def test_fingers_find_every_button(visit, reports):
    """At least 36 pixels high, as platforms advise for a finger."""
    with visit(reports["full"], width=390, height=844, touch=True) as found:
        sizes = found.page.locator("button:visible, select:visible, .segmented span:visible").evaluate_all(
            "all => all.map(e => [e.textContent.slice(0, 30), e.getBoundingClientRect().height])"
        )
        assert sizes and [each for each in sizes if each[1] < 36] == []


def test_an_axis_of_whole_numbers_has_each_number_once(visit, reports):
    script = """() => {
        const place = document.body.appendChild(document.createElement('div'));
        const series = [{name: 'pieces', x: [1, 2], y: [0, 2]}];
        const y = {label: 'so far', format: 'integer'};
        new LineChart(place, {x: {label: 'episode'}, y, series, height: 210});
        return [...place.querySelectorAll('text.tick[text-anchor=end]')].map(each => each.textContent);
    }"""
    with visit(reports["full"]) as found:
        assert found.page.evaluate(script) == ["0", "1", "2"]


def series(page, chart):
    return page.evaluate(f"adambReport.charts['{chart}'].options.series.map(s => [s.name || '', s.y.at(-1)])")


def test_the_learning_chart_has_lines_of_random_static_and_the_optimum(visit, reports, folders):
    lines = json.loads((folders["full"] / "lines.json").read_text())["references"]
    with visit(reports["full"]) as found:
        page = found.page
        rules = {r["name"]: r["y"] for r in page.evaluate("adambReport.charts.learning.options.rules")}
        assert rules == {name: lines[name]["mean"] for name in ("random", "static")}
        written = page.locator("#learning svg text.name").all_text_contents()
        assert {"random", "static", "optimum V*", "reward"} <= set(written)
        page.locator("label", has_text="share of V*").click()
        rules = {r["name"]: r["y"] for r in page.evaluate("adambReport.charts.learning.options.rules")}
        best = json.loads((folders["full"] / "run.json").read_text())["optimal"]
        assert abs(rules["static"] - lines["static"]["mean"] / best) < 1e-9 and rules["optimum V*"] == 1


def test_a_seed_that_is_chosen_is_drawn_with_its_own_curve(visit, reports, folders):
    lines = json.loads((folders["full"] / "lines.json").read_text())
    with visit(reports["full"]) as found:
        page = found.page
        assert page.locator("#seeds-section tbody tr").count() == 3
        for row, seed in enumerate(lines["seeds"]):
            button = page.locator(f".seed[data-row='{row}']")
            button.click()
            names = dict(series(page, "seeds-0"))
            assert names[f"seed {seed}"] == lines["reward"][row][-1] and "mean of the seeds" in names
            assert button.get_attribute("aria-pressed") == "true"
            assert page.locator("#seeds-section tr.chosen").count() == 1


def test_seeds_can_be_sorted_and_chosen_afterwards(visit, reports, folders):
    rewards = json.loads((folders["full"] / "details.json").read_text())["seed_rewards"]
    with visit(reports["full"]) as found:
        page = found.page
        page.locator("#seeds-section th", has_text="reward").locator("button").click()
        shown = page.locator("#seeds-section tbody td:nth-child(2)").all_inner_texts()
        assert shown == [f"{reward:.3f}" for reward in sorted(rewards, reverse=True)]
        first = page.locator("#seeds-section tbody tr").first
        first.locator("button").press("Enter")
        best = rewards.index(max(rewards))
        assert f"seed {best}" in dict(series(page, "seeds-0")) and "chosen" in first.get_attribute("class")
