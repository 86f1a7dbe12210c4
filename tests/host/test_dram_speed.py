"""The DRAM model serves five million requests a second on one core, so that a run waits for the learner."""

from __future__ import annotations

import pytest

from adamb.tools.bench.dram_speed import CASES, measure

WANTED = 5e6


@pytest.mark.slow
@pytest.mark.parametrize(("label", "streams", "gap", "writes"), CASES)
def test_the_model_serves_five_million_requests_a_second(label, streams, gap, writes):
    """The best of a few tries: other work on the machine must not decide."""
    best = 0.0
    for _ in range(4):
        best = max(best, measure(streams, gap, writes))
        if best >= WANTED:
            break
    print(f"{label}: {best / 1e6:.1f} million requests/s")
    assert best >= WANTED
