"""Pictures of the partition show every ball that the plane cuts, and stay small."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.firmware_model.host.reader import BlockView
from adamb.host_sim import make_agent, make_problem
from adamb.host_sim.recording import Recording
from adamb.tools.cli import main
from adamb.tools.figures import run as partition_plot
from support.pictures import outside, overlaps, texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("runs") / "wide"
    command = ["run", "ambulance-2", "--budget", "4KiB", "--episodes", "80", "--seeds", "1", "--quiet"]
    assert main([*command, "--record", "--plot", "--out", str(found)]) == 0
    return found


def test_plot_leaves_a_picture_of_the_partition(folder):
    assert (folder / "partition.png").read_bytes().startswith(b"\x89PNG")
    text = (folder / "partition.svg").read_text()
    assert "learned" in text and "exact Q*" in text and "h = 4" in text
    assert len(text) < 1_000_000


@pytest.mark.parametrize(("horizon", "drawn"), [(10, 10), (31, 12)])
def test_a_picture_that_leaves_steps_out_says_so(horizon, drawn):
    agent = make_agent("adamb", make_problem("oil-laplace", [3], horizon=horizon), budget_bytes="8KiB")
    figure = partition_plot.partition_figure(BlockView(agent.blocks[0]), "title")
    assert len([axes for axes in figure.axes if axes._left_title.get_text()]) == drawn
    assert (f"{drawn} of {horizon} steps are shown" in figure.get_suptitle()) == (drawn < horizon)
    assert overlaps(figure) == [] and outside(figure) == []


def test_all_steps_and_the_optimum_have_one_scale_and_a_colour_bar(folder):
    recording = Recording.load(folder / "recording.npz")
    view = BlockView(recording.frames[-1])
    figure = partition_plot.partition_figure(view, "title", recording.optimum)
    pictures = [each for axes in figure.axes for each in (*axes.collections, *axes.images)]
    limits = {each.get_clim() for each in pictures if each.get_array() is not None}
    assert len(pictures) >= 2 * view.horizon and len(limits) == 1
    assert partition_plot.SCALE in {text for text, _ in texts(figure)} and overlaps(figure) == []


def test_the_boxes_of_a_plane_cover_it_once(folder):
    view = BlockView(Recording.load(folder / "recording.npz").frames[-1])
    for h in (0, view.horizon - 1):
        corners, side, q, visited = partition_plot.slice_boxes(view, h)
        assert (side**2).sum() == pytest.approx(1.0)
        assert len(corners) == len(q) == len(visited)
        assert ((q >= 0) & (q <= view.horizon - h)).all()
        for x, y in np.random.default_rng(3).random((50, 2)):
            inside = (corners[:, 0] <= x) & (x < corners[:, 0] + side)
            inside &= (corners[:, 1] <= y) & (y < corners[:, 1] + side)
            assert inside.sum() == 1


def test_many_balls_become_pixels_in_the_drawing(folder, monkeypatch):
    recording = Recording.load(folder / "recording.npz")
    monkeypatch.setattr(partition_plot, "RASTER_ABOVE", 10)
    files = partition_plot.partition_files(recording.frames[-1], "many", recording.optimum)
    assert files["partition.svg"].count(b"<image") > 5
    again = partition_plot.partition_files(recording.frames[-1], "many", recording.optimum)
    assert files == again
