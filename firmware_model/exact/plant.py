"""Legal blocks that a stream would take ages to reach: counts, samples and sums near where they stop.

The reference prints every word of its block, so a planted reference is a planted block: copy its words into a
core and continue with both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact.memory import Record
from adamb.firmware_model.exact.model import COUNTERS, Model

Draw = Callable[[], float]


def plant(m: Model, draw: Draw) -> None:
    """Move what learning has counted to other values that its words can hold."""

    def one_of(values: Sequence[int]) -> int:
        return values[int(draw() * len(values))]

    def below(n: int) -> int:
        return int(draw() * n)

    for resident in m.pool.residents.values():
        if isinstance(resident, Record) and draw() < 0.7:
            resident.n = one_of((1, 4, 63, 64, 255, spec.N_MAX - 1, spec.N_MAX, 1 + below(spec.N_MAX)))
            resident.reward = one_of((0, 65535, below(65536)))
            resident.credit = below(spec.CREDIT_FULL + 1)
            for entry in resident.entries():
                entry.count = one_of((1, entry.limit, 1 + below(entry.limit)))
    _plant_header(m, one_of, below)


def _plant_header(m: Model, one_of: Callable[[Sequence[int]], int], below: Callable[[int], int]) -> None:
    m.rng = 1 + below(65535)
    m.episodes = one_of((65534, 65535, 16383, below(1 << 20)))
    for name in COUNTERS:
        m.counters[name] = one_of((m.counters[name], 65534, 65535))
    learned = m.learned
    for step in m.steps:
        step.reward_mean = one_of((0, 65535, below(65536)))
        step.reward_top = one_of((0, 65535, step.reward_mean, below(65536)))
    learned["since"] = one_of((0, 22, 23, 62, 63, 64, 102, 103, 254, 255, 767, 65534, 65535))
    if m.may_hold():
        learned["held"] = below(2)
    for kind in ("held", "steps"):
        learned[f"{kind}_mean"] = below(spec.VALUE_MAX)
        learned[f"{kind}_n"] = one_of((0, 1, 2, 3, 40, spec.DETECT_WINDOW - 1, spec.DETECT_WINDOW))
    learned["return_dev"] = one_of((0, 1, below(spec.VALUE_MAX)))
    limit = spec.DETECT_ALARM * learned["return_dev"] + (1 << m.f) // 2
    learned["drop"] = one_of((0, 65535, below(65536), limit & 0xFFFF))
    if m.share != spec.SHARE_TESTING:
        return
    learned["other_total"] = one_of((0, spec.SHARE_PAIRS_MAX - 2, spec.SHARE_PAIRS_MAX - 1))
    for kind in ("same", "other"):
        learned[f"{kind}_n"] = n = one_of((7, 8, spec.SHARE_PAIRS_MIN - 1, spec.SHARE_PAIRS_MIN, 254, 255))
        for what in ("reward", "next"):
            learned[f"{kind}_{what}"] = one_of((0, 5 * n, 255 * n, below(255 * n)))
