"""Table 1 of the paper: regret, time and space of algorithms as powers of H and K, for given dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from adamb.budgets.bounds.paper import check_dims, paper_gamma


@dataclass(frozen=True)
class Row:
    """Exponents of one algorithm, up to constants and logarithms; None where the table gives none."""

    algorithm: str
    regret_h: float
    regret_k: float
    time_k: float | None
    space_k: float | None
    note: str = ""


def table_one(d: float, d_s: float) -> list[Row]:
    """All rows for d dimensions in all, d_s of them of states. Time and space also grow as H.

    >>> [round(row.regret_k, 3) for row in table_one(2, 1)]
    [0.8, 0.75, 0.8, 0.75, 0.75]
    """
    check_dims(d, d_s)
    gamma = paper_gamma(d_s)
    free, kernel = 1 - 1 / (d + 2), 1 - 1 / (2 * d + 1)
    ours = (1 + 1 / (d + 1), 1 - 1 / (d + gamma), 1 + d_s / (d + gamma), (d + d_s) / (d + gamma))
    return [
        Row("AdaMB", *ours),
        Row("adaptive Q-learning", 2.5, free, 1.0, 1 - 2 / (d + 2), "time also grows as log K"),
        Row("kernel UCBVI", 3.0, kernel, 2.0, 1.0, "time also grows as the number of actions"),
        Row("net-based Q-learning", 2.5, free, 2.0, 1.0),
        Row("lower bound", 1.0, free, None, None),
    ]
