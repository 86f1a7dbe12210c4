"""Pictures of the partition show every ball that the plane cuts, and stay small."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.host_sim.block_view import BlockView
from adamb.host_sim.recording import Recording
from adamb.tools import partition_plot
from adamb.tools.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("runs") / "wide"
    command = ["run", "ambulance-2", "--budget", "4KiB", "--episodes", "80", "--seeds", "1", "--quiet"]
    assert main([*command, "--record", "--plot", "--out", str(found)]) == 0
    return found


def test_plot_leaves_a_picture_of_the_partition(folder):
    assert (folder / "partition.png").read_bytes().startswith(b"\x89PNG")
    text = (folder / "partition.svg").read_text()
    assert "Q of each ball" in text and "exact Q*" in text and "h = 4" in text
    assert len(text) < 1_000_000


def test_an_agent_without_a_block_has_none(tmp_path):
    command = ["run", "oil-laplace", "--agent", "random", "--episodes", "5", "--seeds", "1", "--quiet"]
    assert main([*command, "--plot", "--out", str(tmp_path)]) == 0
    assert not (tmp_path / "partition.png").exists()


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


@pytest.mark.slow
def test_many_balls_become_pixels_in_the_drawing(folder, monkeypatch):
    recording = Recording.load(folder / "recording.npz")
    monkeypatch.setattr(partition_plot, "RASTER_ABOVE", 10)
    files = partition_plot.plot_files(recording.frames[-1], "many", recording.optimum)
    assert files["partition.svg"].count(b"<image") > 5
    again = partition_plot.plot_files(recording.frames[-1], "many", recording.optimum)
    assert files == again
