"""A recorded run for the tests that report on one."""

from __future__ import annotations

import shutil

import pytest

from adamb.tools.cli import main

RUN = ["run", "oil-laplace", "--budget", "1KiB", "--episodes", "120", "--seeds", "2", "--quiet", "--record"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "recorded"
    assert main([*RUN, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def run(recorded, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(recorded, tmp_path / "run")
