"""A million blocks, damaged and random: the engine does what adamb_act does, and no more."""

from __future__ import annotations

import ctypes
from array import array
from pathlib import Path

import pytest

from adamb.tools.device.emulator.core import c_folder, sources
from support.chip import need_chip_tools
from support.chip_blocks import DIMENSIONS, learnt

need_chip_tools()

WORDS = 512
DAMAGED = 1_000_000
RUNS = DAMAGED * 112 // 100
"""Some blocks stay sound, and some damage changes nothing."""
SEED = 20
KINDS = {1: "it did not end", 2: "another code", 3: "another action", 4: "other words", 5: "too many cycles"}


class Report(ctypes.Structure):
    _fields_ = (
        *(
            (name, ctypes.c_uint64)
            for name in ("runs", "damaged", "decided", "refused", "forged", "cycles_max", "failed_at")
        ),
        ("what", ctypes.c_int32),
    )


@pytest.fixture(scope="module")
def model() -> ctypes.CDLL:
    """An SRAM exactly as large as the blocks: its port has no address outside."""
    from adamb.firmware_model.rtl.engine import DecisionEngine
    from adamb.firmware_model.rtl.shape import EngineShape
    from adamb.tools.chip.verilate import library
    from adamb.tools.chip.verilog import verilog

    text = verilog(DecisionEngine(EngineShape(WORDS)), "adamb_engine")
    harness = Path(__file__).parent / "engine.cpp"
    made = library("adamb_engine", {"engine.v": text}, harness, more=sources(), includes=[c_folder()])
    return ctypes.CDLL(str(made))


def corpus() -> array:
    words = array("H")
    for d_s, d_a in DIMENSIONS:
        for mode, action in (("tracking", "centre"), ("tracking", "random"), ("paper", "random")):
            words.extend(learnt(d_s, d_a, 2, WORDS, seed=10 * d_s + d_a, mode=mode, action=action).w)
    return words


def fuzz(model: ctypes.CDLL, blocks: array, runs: int, seed: int) -> Report:
    report = Report()
    given = (ctypes.c_uint16 * len(blocks)).from_buffer(blocks)
    model.engine_fuzz(
        ctypes.c_uint64(runs), ctypes.c_uint64(seed), given, len(blocks) // WORDS, WORDS, ctypes.byref(report)
    )
    return report


def test_a_million_damaged_blocks_are_decided_on_as_the_c_core_does(model: ctypes.CDLL) -> None:
    report = fuzz(model, corpus(), RUNS, SEED)
    assert report.what == 0, f"seed {SEED}, run {report.failed_at}: {KINDS[report.what]}"
    assert report.runs == RUNS and report.damaged >= DAMAGED
    # It must have met both kinds, and hardly any seal that fits by chance.
    assert report.decided > RUNS // 2 and report.refused > RUNS // 50
    assert report.forged < RUNS // 1000
