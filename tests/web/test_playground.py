"""The playground in a real browser: the same words as a run here, and all that a person may do to a controller."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest

pytest.importorskip("ziglang", reason="pip install adamb[device]")

from adamb.firmware_model.host.reader import BlockView
from adamb.host_sim import make_problem
from adamb.host_sim.runner import simulate
from adamb.tools.cli import main
from adamb.tools.playground.worlds import PLAYABLE
from support.campaigns import few
from support.command import refused

LIMIT = 150 * 1024
SETTINGS = {"ambulance-1": ("2048", 3), "oil-noisy": ("1024", 7), "dram-lite": ("32768", 1)}
"""Bytes and seed, for problems that are not played with 4 KiB and seed 0."""


@pytest.fixture(scope="session")
def playground(tmp_path_factory):
    path = tmp_path_factory.mktemp("playground") / "playground.html"
    assert main(["playground", "--out", str(path), "--quiet"]) == 0
    return path


def choose(page, problem, budget="4096", seed=0):
    page.locator("#problem").select_option(problem)
    page.locator("#budget").select_option(budget)
    page.locator("#seed").select_option(str(seed))


def play(page, hundreds=1):
    for _ in range(hundreds):
        page.locator("#episode").click()


def digest_of(page, episodes):
    page.locator(f"#digest[data-episodes='{episodes}']").wait_for()
    return page.locator("#digest").inner_text()


def block_of(page):
    return np.array(page.evaluate("Array.from(adambReport.playground.live.w)"), dtype=np.uint16)


def said(page, text):
    """Wait until an event says so."""
    page.locator("#events li", has_text=text).first.wait_for()


@pytest.mark.parametrize("name", PLAYABLE)
def test_the_block_is_that_of_a_run_here(visit, playground, name):
    budget, seed = SETTINGS.get(name, ("4096", 0))
    here = simulate(make_problem(name, [seed], episodes=300), "adamb", budget_bytes=budget, optimum=False)
    with visit(playground) as found:
        choose(found.page, name, budget, seed)
        play(found.page, 3)
        assert digest_of(found.page, 300) == here.digest
        command = found.page.locator("#same").inner_text()
        assert f"adamb run {name} --budget {budget} --seeds {seed}..{seed} --episodes 300" in command
        rewards = found.page.evaluate("adambReport.playground.curve.recent")
        assert rewards == here.returns[0, -50:].tolist()


@pytest.mark.parametrize("name", few(["oil-noisy", "dram-drain", "ambulance-1"]))
def test_what_is_drawn_is_what_the_host_reads(visit, playground, name):
    script = """h => {
        const { live } = adambReport.playground, balls = live.balls(0, h), axes = balls.axes;
        return balls.id.map(id => [[...balls.low.slice(id * axes, (id + 1) * axes)], balls.level[id], balls.n[id],
            Math.round(balls.q[id] * live.one), live.nextStates(0, h, id).map(({low, count}) => [low, count])]);
    }"""
    with visit(playground) as found:
        choose(found.page, name)
        play(found.page, 4)
        view = BlockView(block_of(found.page))
        for h in range(view.horizon):
            rows = [[*row[:-1], len(row[-1])] for row in found.page.evaluate(script, h)]
            expected = [
                [list(view.box(ball)[0]), ball.level, ball.n if ball.visited else -1, view.q_raw(ball, h),
                 len(view.next_states(ball))]
                for ball in view.balls(h)
            ]  # fmt: skip
            assert sorted(rows) == sorted(expected)
        owners = dict(found.page.evaluate("adambReport.playground.live.owners()"))
        exact = view.bytes_by_owner()
        for name, size in owners.items():
            mine = {"header": ("header", "thresholds", "steps", "padding"), "held episodes": ("held partition",)}
            assert size == sum(exact[each] for each in mine.get(name, (name,))), name


@pytest.mark.parametrize("name", [name for name in PLAYABLE if name not in ("dram-drain", "dram-refresh")])
def test_the_optimum_is_nearly_the_exact_one(visit, playground, name):
    problem = make_problem(name, [0])
    exact = problem.optimal()
    script = """([h, rows, columns]) => Array.from({length: rows}, (_, i) => Array.from({length: columns}, (_, j) =>
        adambReport.playground.live.optimum.grids[0][h].at([i / (rows - 1), j / (columns - 1)])))"""
    with visit(playground) as found:
        choose(found.page, name)
        for h in (0, problem.horizon - 1):
            known = exact.q(0, h)
            mine = np.array(found.page.evaluate(script, [h, *known.shape]))
            assert np.abs(mine - known).mean() < 0.02 * problem.horizon
        best = found.page.evaluate("adambReport.playground.live.best")
        assert best["optimum"] == pytest.approx(float(exact.mean[0]), abs=0.02 * problem.horizon)
        assert best["fixed"] <= best["optimum"] + 1e-9


def test_it_runs_and_pauses_and_plays_a_step(visit, playground):
    with visit(playground) as found:
        page = found.page
        page.locator("#speed").select_option("1000")
        page.locator("#run").click()
        page.locator("#when", has_text=re.compile("episode [1-9]")).wait_for()
        page.locator("#run", has_text="Pause").click()
        page.locator("#run", has_text="Run").wait_for()
        page.locator("#again").click()
        page.locator("#step").click()
        assert page.locator("#when").inner_text() == "episode 0, step 1"
        play(page)
        assert page.locator("#when").inner_text() == "episode 100, step 0"
        assert "split in episode" in page.locator("#split").inner_text()
        assert int(page.locator("#explorer").get_attribute("data-balls")) > 10


def test_a_moved_deposit_is_found_again(visit, playground):
    with visit(playground) as found:
        page = found.page
        play(page, 5)
        before = page.evaluate("adambReport.playground.curve.mean()")
        page.locator("#knob").fill("0.2")
        said(page, "deposit: now 0.2")
        play(page)
        page.locator("#episode").click()
        during = page.evaluate("Math.min(...adambReport.playground.curve.y.slice(-200))")
        play(page, 20)
        after = page.evaluate("adambReport.playground.curve.mean()")
        assert during < 0.6 * before < 0.8 * after
        assert page.evaluate("adambReport.playground.bests.x.length") > 2, "what can be earned is solved again"


def test_flipped_bits_are_noticed_and_a_snapshot_brings_it_back(visit, playground):
    with visit(playground) as found:
        page = found.page
        play(page, 2)
        page.locator("#restore").click()
        said(page, "there is no snapshot")
        page.locator("#save").click()
        said(page, "is saved")
        kept = block_of(page)
        stopped = page.locator("#events li", has_text=re.compile("scrub has found damage|core refused a call"))
        while stopped.count() == 0:  # not every flip is damage, and some only the check can see
            page.locator("#flip").click()
            play(page)
        said(page, "The check notices")
        page.locator("#run").click()
        assert page.locator("#run").inner_text() == "▶ Run"
        page.locator("#restore").click()
        said(page, "what it was when the snapshot was saved")
        assert (block_of(page) == kept).all()
        play(page)
        assert page.locator("#when").inner_text() == "episode 300, step 0"


def test_a_cut_of_the_power_loses_the_block_and_not_the_snapshot(visit, playground):
    with visit(playground) as found:
        page = found.page
        play(page, 2)
        page.locator("#save").click()
        kept = block_of(page)
        play(page)
        page.locator("#cut").click()
        said(page, "the block is gone")
        assert not block_of(page).any()
        page.locator("#run").click()
        assert page.locator("#run").inner_text() == "▶ Run", "without a block nothing runs"
        page.locator("#save").click()
        said(page, "not saved: not a block of this version, or damaged")
        page.locator("#restore").click()
        assert (block_of(page) == kept).all()
        play(page)
        assert page.locator("#when").inner_text() == "episode 300, step 0"
        episodes = page.evaluate("adambReport.playground.curve.x")
        assert episodes == sorted(episodes) and episodes[-1] == 400, "the chart goes on"


def test_the_download_is_a_block_that_inspect_reads(visit, playground, tmp_path, capsys):
    with visit(playground) as found:
        play(found.page, 2)
        with found.page.expect_download() as download:
            found.page.locator("#download").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        digest = digest_of(found.page, 200)
        found.requests[:] = found.requests[:1]  # its own memory, as a file
    assert path.name == "block.bin"
    assert main(["inspect", str(path), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == digest


def test_a_block_that_is_too_small_is_not_offered(visit, playground):
    with visit(playground) as found:
        least = found.page.evaluate("adambReport.playground.live.least")
        script = "all => all.map(each => [Number(each.value), each.disabled])"
        options = found.page.locator("#budget option").evaluate_all(script)
        assert [disabled for _, disabled in options] == [size < least for size, _ in options]
        small = next(size for size, disabled in options if not disabled)
        choose(found.page, "oil-laplace", str(small))
        play(found.page, 5)
        assert f"of {small:,} bytes in use" in found.page.locator("#memory").inner_text()


def test_it_can_be_used_by_keyboard_and_read_aloud(visit, playground):
    nameless = """() => [...document.querySelectorAll('button, select, input, [role]')].filter(each =>
        !(each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length || each.ariaHidden))
        .map(each => each.outerHTML)"""
    with visit(playground) as found:
        page = found.page
        assert page.evaluate(nameless) == []
        assert page.locator("#events").get_attribute("role") == "log"
        reached = set()
        for _ in range(14):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id"))
        assert {"problem", "budget", "seed", "speed", "run", "step", "episode", "again", "knob", "save"} <= reached
        page.locator("#knob").focus()
        before = page.locator("#knob").input_value()
        page.keyboard.press("ArrowLeft")
        said(page, "deposit: now")
        assert page.locator("#knob").input_value() < before
        page.locator("#run").focus()
        page.keyboard.press("Enter")
        page.locator("#when", has_text=re.compile("episode [1-9]")).wait_for()
        page.keyboard.press("Enter")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (390, "light"), (1280, "dark"), (1280, "light")])
def test_it_fits_the_screen_and_follows_the_scheme(visit, playground, width, scheme):
    background = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    with visit(playground, width=width, scheme=scheme, touch=width == 390) as found:
        play(found.page)
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert (sum(found.page.evaluate(background)) < 200) == (scheme == "dark")


def test_the_page_is_small_and_begins_with_the_problem_of_the_command(visit, tmp_path):
    path = tmp_path / "page.html"
    assert main(["playground", "dram-lite", "--out", str(path), "--quiet"]) == 0
    assert path.stat().st_size <= LIMIT
    assert main(["playground", "dram-lite", "--out", str(path), "--quiet"]) == 0, "a page may be replaced by a page"
    with visit(path) as found:
        assert found.page.locator("#problem").input_value() == "dram-lite"


@pytest.mark.campaign
def test_two_builds_give_the_same_bytes(playground, tmp_path, monkeypatch):
    monkeypatch.setenv("ADAMB_CACHE", str(tmp_path / "cache"))
    assert main(["playground", "--out", str(tmp_path / "page.html"), "--quiet"]) == 0
    assert (tmp_path / "page.html").read_bytes() == playground.read_bytes()


def test_what_it_cannot_do_is_one_line(capsys, monkeypatch, tmp_path):
    line = refused(capsys, "playground", "oil-2d", "--out", str(tmp_path / "p.html"))
    assert "problem = 'oil-2d'" in line and "oil-laplace" in line
    from adamb.tools.device.emulator import compile as compiling

    compiling.compiler_version.cache_clear()
    monkeypatch.setitem(sys.modules, "ziglang", None)
    line = refused(capsys, "playground", "--out", str(tmp_path / "p.html"))
    assert "pip install adamb[device]" in line
