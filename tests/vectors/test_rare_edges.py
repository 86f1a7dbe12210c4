"""Edges that random blocks hardly meet: a drop at the very limit, full counts folded into full counts."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from adamb.firmware_model import _spec as spec
from support.exact import counts
from support.exact.memory import Record
from support.exact.model import Config
from support.exact.reference import Exact, init, required_words
from support.replay import TWINS, first_difference, start


def both(core: str, config: Config, spare: int) -> tuple[Exact, Any]:
    words = required_words(config) + spec.UNIT_WORDS * spare
    mine = init(config, words)
    assert isinstance(mine, Exact)
    return mine, start(core, config, words)


@pytest.mark.parametrize("core", TWINS)
@pytest.mark.parametrize("beyond", (-1, 0, 1))
def test_an_alarm_needs_a_drop_that_reaches_the_limit(core: str, beyond: int) -> None:
    mine, theirs = both(core, Config(detect=1), 0)
    dev, fall = 100, 2000
    most = (spec.DETECT_ALARM * dev + (1 << mine.m.f) // 2) >> spec.DETECT_SPELL_SHIFT
    mine.m.learned |= {
        "since": spec.DETECT_WARMUP,
        "return_mean": fall,
        "return_dev": dev,
        "drop": (most << spec.DETECT_SPELL_SHIFT) - most + beyond,
        "seen": mine.m.horizon,
    }
    theirs.w[:] = array("H", mine.words())
    mine.end_episode()
    theirs.end_episode()
    assert first_difference(mine, theirs.w) is None
    assert mine.m.counters["restarts"] == (beyond >= 0)


def fill(controller: Exact) -> None:
    """Every count full or one less (odd and even halve differently), and nothing used lately."""
    for resident in controller.m.pool.residents.values():
        if isinstance(resident, Record):
            resident.credit = 0
            for entry in resident.entries():
                entry.count = entry.limit - (entry.limit > 1 and entry.cell & 1)


@pytest.mark.parametrize("core", TWINS)
@pytest.mark.parametrize("paper", (0, 1))
def test_full_counts_fold_into_full_counts(core: str, paper: int, monkeypatch: pytest.MonkeyPatch) -> None:
    added = []
    honest = counts.add

    def watched(m: Any, record: Record, cell: int, depth: int, k: int) -> None:
        before = m.counters["saturations"]
        honest(m, record, cell, depth, k)
        if m.counters["saturations"] > before:
            added.append(k)

    monkeypatch.setattr(counts, "add", watched)
    config = Config(horizon=2, paper=paper, bonus=4096, thresholds=[1, 1, 2, 2, 3, 3] + [65535] * 9)
    mine, theirs = both(core, config, 20)
    x = 1
    for episode in range(400):
        for h in range(2):
            point = [(x := (x * 75 + 74) % 65537) & 0xFFFF]
            for controller in (mine, theirs):
                controller.act(h, point, [0])
                controller.observe(h, x & 0xFFFF, [(x * 3) & 0xFFFF])
            difference = first_difference(mine, theirs.w)
            assert difference is None, f"episode {episode}, step {h}: {difference}"
        if episode % 3 == 0:
            fill(mine)
            theirs.w[:] = array("H", mine.words())
    assert {k % 2 for k in added if k > 1} == {0, 1}, "no fold halved odd and even counts: nothing was tested"
