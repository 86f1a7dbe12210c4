"""Tables of the report in a real browser: they sort, and on a phone they scroll and say so."""

from __future__ import annotations

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
        assert hint.is_visible() and hint.inner_text().startswith("Swipe sideways for")
        frame.evaluate("frame => frame.scrollTo({left: frame.scrollWidth, behavior: 'instant'})")
        page.wait_for_timeout(100)
        assert not hint.is_visible()


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
        assert tip.is_visible() and "reward" in tip.inner_text()
        page.locator("#learning-curves").tap()
        assert not tip.is_visible()


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
