"""The report as a page in a real browser: it opens by itself, on any screen, in print, without its script."""

from __future__ import annotations

from itertools import pairwise

import pytest

from support.browser import CAMPAIGN, KINDS


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
        assert tip.is_visible() and "reward" in tip.inner_text() and "optimum V*" in tip.inner_text()
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


@pytest.mark.parametrize(
    "kind", ["full", *(pytest.param(name, marks=CAMPAIGN) for name in ("wide", "compared"))]
)
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
        ("How fast does it decide?", "µs a step"),
        ("When memory ran out", "made room"),
    ):
        assert question in text and answer in text, question
