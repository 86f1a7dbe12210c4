"""Folders for solutions, as those of an earlier version on this machine must not answer for this one."""

from __future__ import annotations

import pytest

from adamb.host_sim import agents
from adamb.host_sim.agents import register_agent
from support.standin_runs import Growing


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """One folder for the tests of a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADAMB_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """One folder a test."""
    monkeypatch.setenv("ADAMB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def growing(monkeypatch):
    """An agent of that name, for one test."""
    monkeypatch.setattr(agents, "_factories", dict(agents._factories))
    register_agent("growing", Growing)
