"""What a memory channel did over a run, as text."""

from __future__ import annotations

import math
from typing import Any

BAR = 40


def statistics_table(counts: dict[str, Any]) -> str:
    """Row hits, closed rows and bank conflicts as shares of all requests, and read latency by octaves."""
    served = max(1, counts["reads"] + counts["writes"])
    rows = [
        ("requests", f"{counts['reads']:,} reads, {counts['writes']:,} writes, all seeds and episodes"),
        ("row hits", f"{counts['hits'] / served:.1%}"),
        ("closed rows", f"{counts['closed'] / served:.1%}; {counts['reopened'] / served:.1%} too early"),
        ("bank conflicts", f"{counts['conflicts'] / served:.1%}"),
        ("refreshes", f"{counts['refreshes']:,}"),
        ("read latency", f"{counts['mean_read']:.1f} cycles on average, {counts['worst_read']:,} at worst"),
    ]
    lines = [f"{name:<14}  {value}" for name, value in rows]
    reads = max(1, counts["reads"])
    highest = max((row[2] for row in counts["latency"]), default=1)
    lines += ["", "cycles of a read"]
    for low, below, count in counts["latency"]:
        bar = "#" * math.ceil(BAR * count / highest)
        lines.append(f"{f'{low:,} to {below - 1:,}':>21}  {count / reads:6.1%}  {bar}")
    return "\n".join(lines)
