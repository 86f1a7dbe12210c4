"""Trace files: DRAM and cache requests from every supported format, recognised by content."""

from __future__ import annotations

from adamb.host_sim.traces_series import read_series

__all__ = ["read_series"]
