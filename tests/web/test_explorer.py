"""The explorer of the report in a real browser: it replays what was recorded and tells the truth on hover."""

from __future__ import annotations

import random
import time

import pytest

from adamb.firmware_model.host.reader import BlockView, coordinates
from adamb.host_sim.recording import Recording
from adamb.tools.cli import main
from support.reports import RECORDED

PIXELS = "document.querySelector('#explorer .learned canvas').toDataURL()"


def set_frame(page, frame):
    """Move the slider as a user's drag does."""
    page.locator("input.frames").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", frame
    )


def wait(page, script, seconds=300):
    """Until an expression is true in the page; its policy forbids the browser driver's own way to wait."""
    end = time.monotonic() + seconds
    while not page.evaluate(script):
        assert time.monotonic() < end, script
        page.wait_for_timeout(20)


def plane(page):
    """The two drawn axes and where the others are cut."""
    state = "adambReport.explorers[0].state"
    found = page.evaluate(f"[{state}.axisX, {state}.axisY, {state}.slice]")
    return found[0], found[1], found[2]


def hover(page, x, y):
    """Put the mouse on a point of the learned partition, both coordinates in [0,1)."""
    stage = page.locator("#explorer .stage").first
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    page.mouse.move(box["x"] + x * box["width"], box["y"] + (1 - y) * box["height"])


def shown(page):
    """The panel about the ball: its texts and exact values by key, and the counts of next states."""
    pairs = "all => all.map(d => [d.dataset.key, d.textContent, Number(d.dataset.exact)])"
    rows = page.locator("#explorer .ball dd").evaluate_all(pairs)
    cells = {key: text for key, text, _ in rows} | {f"exact {key}": exact for key, _, exact in rows}
    entries = page.locator("#explorer .next li").evaluate_all(
        "all => all.map(e => [e.dataset.low.split(' ').map(Number), Number(e.dataset.count)])"
    )
    return cells, sorted(entries)


def last_view(folder):
    return BlockView(Recording.load(folder / "recording.npz").frames[-1])


def next_places(view, ball):
    """Corner and count of the next states of a ball."""
    bits = view.d_s * ball.level
    found = [(coordinates(cell << (16 - bits), view.d_s, bits), count) for cell, count in view.next_states(ball)]
    return sorted([list(low), count] for low, count in found)


def in_plane(view, ball, axis_x, axis_y, slice_):
    low, side = view.box(ball)
    return all(axis in (axis_x, axis_y) or low[axis] <= slice_[axis] < low[axis] + side for axis in range(len(low)))


@pytest.mark.parametrize("kind", RECORDED)
def test_the_slider_moves_the_partition(visit, reports, folders, kind):
    recording = Recording.load(folders[kind] / "recording.npz")
    with visit(reports[kind]) as found:
        seen = {}
        for frame in (0, len(recording.frames) // 3, len(recording.frames) - 1):
            set_frame(found.page, frame)
            balls = int(found.page.locator("#explorer").get_attribute("data-balls"))
            assert balls == len(BlockView(recording.frames[frame]).balls(0))
            episode = f"{recording.episodes[frame]:,}"
            assert f"episode {episode} of" in found.page.locator(".transport output").inner_text()
            seen[frame] = found.page.evaluate(PIXELS)
        assert len(set(seen.values())) == len(seen)


@pytest.mark.parametrize("kind", RECORDED)
def test_hover_text_equals_the_recorded_data(visit, reports, folders, kind):
    recording, rng = Recording.load(folders[kind] / "recording.npz"), random.Random(11)
    compared = 0
    with visit(reports[kind]) as found:
        page = found.page
        for frame in (1, len(recording.frames) // 2, len(recording.frames) - 1):
            set_frame(page, frame)
            view = BlockView(recording.frames[frame])
            for h in (0, view.horizon - 1):
                page.locator(f".step[data-h='{h}']").click()
                axis_x, axis_y, cut = plane(page)
                balls = [ball for ball in view.balls(h) if in_plane(view, ball, axis_x, axis_y, cut)]
                visited = [ball for ball in balls if ball.visited]
                for ball in rng.sample(visited, min(4, len(visited))) + rng.sample(balls, min(2, len(balls))):
                    low, side = view.box(ball)
                    if side < 1 / 64:
                        continue
                    hover(page, low[axis_x] + side / 2, low[axis_y] + side / 2)
                    texts, entries = shown(page)
                    check_texts(view, ball, h, texts)
                    assert entries == next_places(view, ball)
                    compared += 1
    assert compared >= 12


def check_texts(view, ball, h, texts):
    assert texts["level"] == str(ball.level)
    assert texts["exact q"] == view.q(ball, h) == pytest.approx(float(texts["q"]), abs=5.1e-5)
    assert texts["n"] == (f"{ball.n:,}" if ball.visited else "never visited")
    assert ("reward" in texts) == ball.visited
    if ball.visited:
        reward = view.reward(ball)
        assert texts["exact reward"] == reward == pytest.approx(float(texts["reward"]), abs=5.1e-5)
    low, side = view.box(ball)
    for axis, start in enumerate(low):
        first, last = (float(part) for part in texts[f"axis{axis}"].split(" to "))
        assert (first, last) == pytest.approx((start, start + side), abs=side / 2)


@pytest.mark.parametrize("kind", RECORDED)
def test_the_page_shows_every_ball_as_the_host_reads_it(visit, reports, folders, kind):
    recording = Recording.load(folders[kind] / "recording.npz")
    frames = list(range(0, len(recording.frames), 9))
    script = """([frames, h]) => frames.map(f => {
        const replay = adambReport.explorers[0].replay, balls = replay.balls(f, h);
        return balls.id.map((id, i) => [
            [...balls.low.slice(i * balls.axes, (i + 1) * balls.axes)], balls.level[i], balls.n[i],
            Math.round(balls.q[i] * replay.one), replay.nextStates(f, h, id).map(next => [next.low, next.count])]);
    })"""
    with visit(reports[kind]) as found:
        for h in (0, 2):
            for frame, rows in zip(frames, found.page.evaluate(script, [frames, h]), strict=True):
                view = BlockView(recording.frames[frame])
                expected = [
                    [list(view.box(ball)[0]), ball.level, ball.n if ball.visited else -1, view.q_raw(ball, h),
                     next_places(view, ball)]
                    for ball in view.balls(h)
                ]  # fmt: skip
                assert sorted([*row[:-1], sorted(row[-1])] for row in rows) == sorted(expected)


def test_play_runs_through_the_frames_and_stops_at_the_end(visit, reports):
    with visit(reports["full"]) as found:
        page = found.page
        set_frame(page, 0)
        last = page.evaluate("adambReport.explorers[0].replay.last")
        set_frame(page, last - 12)
        page.locator("button.play").click()
        assert "Pause" in page.locator("button.play").inner_text()
        wait(page, f"document.querySelector('#explorer').dataset.frame === '{last}'")
        wait(page, "document.querySelector('button.play').textContent.includes('Play')")
        page.locator("button.play").click()
        wait(page, "Number(document.querySelector('#explorer').dataset.frame) < 100")
        page.locator("button.play").click()


def test_colours_and_overlays_change_the_picture(visit, reports):
    with visit(reports["full"]) as found:
        page, seen = found.page, set()
        for name in ("q", "visits", "age", "error"):
            page.locator(f"#explorer .segmented input[value={name}]").check()
            assert page.locator(".ramp-text").inner_text()
            seen.add(page.evaluate(PIXELS))
        assert len(seen) == 4
        overlay = "document.querySelector('#explorer canvas.over').toDataURL()"
        before = page.evaluate(overlay)
        page.locator("input[name=policy]").uncheck()
        assert page.evaluate(overlay) != before


def test_the_explorer_works_by_keyboard_alone(visit, reports, folders):
    view = last_view(folders["full"])
    with visit(reports["full"]) as found:
        page = found.page
        page.locator("#explorer .stage").first.focus()
        page.keyboard.press("ArrowLeft")
        visited = set()
        for key in ("ArrowUp", "ArrowRight") * 12 + ("ArrowDown", "ArrowLeft") * 4:
            page.keyboard.press(key)
            texts, _ = shown(page)
            corner = tuple(texts[f"axis{axis}"].split(" to ")[0] for axis in range(2))
            visited.add((texts["level"], *corner))
        assert len(visited) >= 6
        levels = {str(ball.level) for ball in view.balls(0)}
        assert {level for level, *_ in visited} <= levels
        page.keyboard.press("Space")
        assert page.evaluate("adambReport.explorers[0].playing")
        page.keyboard.press("Space")
        assert not page.evaluate("adambReport.explorers[0].playing")
        page.locator("input.frames").focus()
        page.keyboard.press("Home")
        assert page.locator("#explorer").get_attribute("data-frame") == "0"
        page.keyboard.press("ArrowRight")
        assert page.locator("#explorer").get_attribute("data-frame") == "1"
        page.locator(".step[data-h='0'] input").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(".step[data-h='1'] input").is_checked()


def test_with_four_axes_two_are_chosen_and_the_others_cut(visit, reports, folders):
    view = last_view(folders["wide"])
    with visit(reports["wide"]) as found:
        page = found.page
        assert page.locator(".slices input").count() == 2
        page.locator("select[name=axisX]").select_option("1")
        page.locator("select[name=axisY]").select_option("3")
        axes = page.locator(".slices input").evaluate_all("all => all.map(e => Number(e.dataset.axis))")
        assert axes == [0, 2]
        page.locator(".slices input").first.evaluate("e => { e.value = 0.1; e.dispatchEvent(new Event('input')); }")
        axis_x, axis_y, cut = plane(page)
        assert (axis_x, axis_y) == (1, 3) and cut[0] == pytest.approx(0.1)
        cutting = [ball for ball in view.balls(0) if in_plane(view, ball, 1, 3, cut)]
        assert f"{len(cutting)} in this plane" in page.locator(".frame-text").inner_text()
        hover(page, 0.3, 0.7)
        texts, _ = shown(page)
        holding = [ball for ball in cutting if _holds(view, ball, {1: 0.3, 3: 0.7})]
        assert texts["exact q"] == view.q(holding[0], 0)


def _holds(view, ball, point):
    low, side = view.box(ball)
    return all(low[axis] <= value < low[axis] + side for axis, value in point.items())


def test_a_recorded_jump_of_the_world_changes_the_exact_picture(visit, reports):
    best = "document.querySelector('#explorer .best canvas').toDataURL()"
    with visit(reports["steps"]) as found:
        after = found.page.evaluate(best)
        set_frame(found.page, 10)
        assert found.page.evaluate(best) != after


def test_recordings_of_several_runs_can_be_chosen(visit, reports, folders):
    with visit(reports["compared"]) as found:
        page = found.page
        page.locator("#explorer-run").select_option("2")
        wait(page, "adambReport.explorers[0].replay.axes === 4")
        assert page.locator(".slices input").count() == 2


def test_a_dumped_block_shows_its_decisions(visit, reports, folders):
    """The white line of the picture is what act would play."""
    view = last_view(folders["full"])
    cells = view.values(0)
    with visit(reports["block"]) as found:
        line = found.page.evaluate("adambReport.explorers[0]._policy()")
        for column in range(0, 256, 15):
            state = (column + 0.5) / 256
            cell = next(c for c in cells if coordinates(c.code, 1, c.bits)[0] <= state < _end(c))
            assert line[column] == pytest.approx(coordinates(cell.action_code, 1)[0], abs=1e-6)


def _end(cell):
    return coordinates(cell.code, 1, cell.bits)[0] + 2.0**-cell.bits


@pytest.mark.campaign
def test_five_thousand_balls_and_two_hundred_frames_are_painted_one_by_one(visit, tmp_path):
    """Each frame is painted whole, from a page that stays small."""
    command = [
        "run",
        "oil-2d",
        "--agent-set",
        "gamma=1",
        "--agent-set",
        "bonus=0.3",
        "--budget",
        "64KiB",
        "--episodes",
        "6000",
        "--agent-set",
        "share=off",  # no episode is held: all of them divide balls
    ]
    assert main([*command, "--seeds", "1", "--record", "--quiet", "--out", str(tmp_path)]) == 0
    assert main(["report", str(tmp_path)]) == 0
    page_file = tmp_path / "report.html"
    assert page_file.stat().st_size < 3_000_000
    script = """() => {
        const explorer = adambReport.explorers[0], frames = explorer.replay.episodes.length, balls = [];
        for (let frame = 0; frame < frames; frame++) {
            explorer.set({frame});
            balls.push(Number(explorer.host.dataset.balls));
        }
        return balls;
    }"""
    with visit(page_file) as found:
        balls = found.page.evaluate(script)
    assert len(balls) >= 150 and max(balls) >= 5000 and len(set(balls)) > 100 and balls[0] < balls[-1]
