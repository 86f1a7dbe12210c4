"""Reference lines and the seeds one by one, in a real browser."""

from __future__ import annotations

import json


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
