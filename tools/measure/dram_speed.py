"""Requests a second of the DRAM model on one core: `python -m adamb.tools.measure.dram_speed`.

Exit code 1 below five million a second: a run should wait for the learner, not for the model.
"""

from __future__ import annotations

import sys
import time

from adamb.host_sim.problems.dram.channel import DEVICES, Channel, Knobs, Streams

REQUESTS, ROUNDS, SEED, WANTED = 1_000_000, 5, 1, 5e6
#: (label, streams, mean gap to the same row, write share)
CASES = (
    ("idle, 4 banks", 4, 100.0, 0.0),
    ("half load, 16 banks", 16, 120.0, 0.3),
    ("overload, 16 banks", 16, 10.0, 0.3),
)


def measure(streams: int, gap: float, writes: float) -> float:
    """Best of ROUNDS, in requests a second."""
    requests = Streams(streams, SEED, 0.5, gap, 3 * gap).next(REQUESTS, SEED + 1, 0.5, gap, 3 * gap, writes)
    policy = Knobs(timeout=200, refresh=True).as_c()
    best = float("inf")
    for _ in range(ROUNDS):
        channel = Channel(DEVICES["DDR4-2400"])
        began = time.perf_counter()
        channel.serve(requests, policy)
        best = min(best, time.perf_counter() - began)
    return REQUESTS / best


def main() -> int:
    least = float("inf")
    for label, streams, gap, writes in CASES:
        found = measure(streams, gap, writes)
        least = min(least, found)
        print(f"{label:<22} {found / 1e6:6.1f} million requests/s (seed {SEED})")
    return int(least < WANTED)


if __name__ == "__main__":
    sys.exit(main())
