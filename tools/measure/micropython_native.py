"""What the controller costs under MicroPython, by the form it has there: flash, heap, instructions of a call.

`make core ONLY=costs` builds MicroPython, measures and keeps the result, which documents show.

Firmware of MicroPython's own qemu port runs in QEMU, where instructions are counted exactly. A loop in Python
makes every call, as a program does; what reading the timer costs is taken off. For every number of dimensions
the C core makes the same steps alone, on the emulated processor of `adamb plan`, which says how many
instructions a form needs for one of the C core.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

from adamb.firmware_model import _spec
from adamb.tools.device.emulator.core import EmulatedCore
from adamb.tools.device.latency.meters import memory_for
from adamb.tools.device.micropython import builds
from adamb.tools.device.micropython.costs import CORES, ON_BOARDS, PLANNED, FormCost, ShapeCost
from adamb.tools.device.micropython.machine import MicroPythonMachine, instructions
from adamb.tools.device.micropython.package import board_files, fast_path
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.measure.job_costs import TARGET

MACHINES = {"mps2-an385": ("Cortex-M3", "armv7m"), "microbit": ("Cortex-M0", "armv6m")}
BLOCK_BYTES, STEPS, HORIZON = 4096, 2000, 5
SIZES = range(1, _spec.DIM_MAX + 1)
FAST = "/lib/adamb/fast.py"

# Prints heap of the import, ticks of all act calls and of all observe calls, and a sum of the block.
_PROGRAM = """
import gc
from array import array
{clock}
gc.collect()
before = gc.mem_alloc()
from adamb import core
gc.collect()
heap = gc.mem_alloc() - before
block = array("H", bytes({block}))
controller = core.init(core.Config(d_s={d_s}, d_a={d_a}), block)
state, action = array("H", [32768] * {d_s}), array("H", [0] * {d_a})
def play():
    act = observe = 0
    x = 1
    for k in range({steps}):
        h = k % 5
        t0 = now()
        t1 = now()
        controller.act(h, state, action)
        t2 = now()
        act += (t2 - t1 & 0xFFFFFF) - (t1 - t0 & 0xFFFFFF)
        reward = 65535 - abs(action[0] - state[0])
        for i in range({d_s}):
            x = (x * 4997 + 13849) & 0xFFFF
            state[i] = (state[i] >> 1) + (x >> 1)
        t0 = now()
        t1 = now()
        controller.observe(h, reward, state)
        t2 = now()
        observe += (t2 - t1 & 0xFFFFFF) - (t1 - t0 & 0xFFFFFF)
        if h == 4:
            controller.end_episode()
    return act, observe
act, observe = play()
total = 0
for word in block:
    total = (total * 31 + word) % 65521
print(heap, act, observe, total)
"""
# The timer of the processor counts down.
_TIMER = """
from machine import mem32
mem32[0xE000E014] = 0xFFFFFF
mem32[0xE000E010] = 5
def now():
    return 0xFFFFFF - mem32[0xE000E018]
"""


def _program(d_s: int = 1, d_a: int = 1) -> str:
    return _PROGRAM.format(clock=_TIMER, block=BLOCK_BYTES, steps=STEPS, d_s=d_s, d_a=d_a)


def _elf_bytes(firmware: Path) -> int:
    """Flash that a firmware takes: code, constants, and the values that variables start with."""
    from elftools.elf.elffile import ELFFile

    with firmware.open("rb") as file:
        segments = ELFFile(file).iter_segments("PT_LOAD")
        return sum(segment["p_filesz"] for segment in segments)


def _files(core: str, arch: str) -> dict[str, Path | bytes | str]:
    """What a form needs in the board's file system."""
    files: dict[str, Path | bytes | str] = dict(board_files("mpy")) if core in ("bytecode", "viper") else {}
    if core == "viper":
        files[FAST] = fast_path()
    if core == "mpy":
        files["/adamb.mpy"] = builds.native_mpy(arch)
    return files


def _counted(machine: str, core: str, program: str) -> tuple[int, int, int, int]:
    """Heap of the import, mean instructions of act and of observe, and the sum of the block."""
    firmware = builds.qemu_firmware(machine, native=core == "module")
    with MicroPythonMachine(machine, firmware, seconds=1200) as board:
        board.put(_files(core, MACHINES[machine][1]))
        output = board.run(program).require_success().output
    heap, act, observe, total = map(int, output.split())
    means = [round(instructions(ticks / STEPS, machine)) for ticks in (act, observe)]
    return heap, means[0], means[1], total


def measured(machine: str, core: str) -> tuple[FormCost, int]:
    """A row, and the sum of the block that all cores must share."""
    processor, arch = MACHINES[machine]
    files = _files(core, arch).values()
    flash = sum(each.stat().st_size if isinstance(each, Path) else len(each) for each in files)
    if core == "module":
        flash = _elf_bytes(builds.qemu_firmware(machine, native=True))
        flash -= _elf_bytes(builds.qemu_firmware(machine, native=False))
    heap, act, observe, total = _counted(machine, core, _program())
    return FormCost(processor, core, flash, heap, act, observe), total


def alone(d_s: int, d_a: int) -> tuple[float, float, int]:
    """Mean instructions of the C core in the steps of the program, and the sum of its block."""
    config, memory = DeviceSettings(d_s, d_a, HORIZON).config(), memory_for(BLOCK_BYTES, 1024)
    core = EmulatedCore(config, BLOCK_BYTES // 2, target=TARGET, memory=memory)
    state, x, act, observe, total = [32768] * d_s, 1, 0, 0, 0
    for k in range(STEPS):
        h = k % HORIZON
        action = core.act(h, state)
        act += core.last.instructions
        reward = 65535 - abs(action[0] - state[0])
        for i in range(d_s):
            x = (x * 4997 + 13849) & 0xFFFF
            state[i] = (state[i] >> 1) + (x >> 1)
        core.observe(h, reward, state)
        observe += core.last.instructions
        if h == HORIZON - 1:
            core.end_episode()
    for word in memoryview(core.block()).cast("H"):
        total = (total * 31 + word) % 65521
    return act / STEPS, observe / STEPS, total


def measure_shapes() -> list[ShapeCost]:
    """Every number of dimensions on the processor whose instructions boards turn into times."""
    machine = next(name for name, (processor, _) in MACHINES.items() if processor == ON_BOARDS)
    rows = []
    for d_s, d_a in product(SIZES, SIZES):
        c_act, c_observe, wanted = alone(d_s, d_a)
        for core in PLANNED:
            program = _program(d_s, d_a)
            _, act, observe, total = _counted(machine, core, program)
            if total != wanted:
                raise RuntimeError(f"{core} and the C core do not agree on the block of {d_s}+{d_a}")
            row = ShapeCost(f"{d_s}+{d_a}", core, act, observe, round(c_act), round(c_observe))
            print(row, file=sys.stderr)
            rows.append(row)
    return rows


def measure() -> list[FormCost]:
    rows, sums = [], set()
    for machine in MACHINES:
        for core in CORES:
            print(f"{machine}, {core} …", file=sys.stderr)
            row, total = measured(machine, core)
            print(f"{row}, sum {total}", file=sys.stderr)
            rows.append(row)
            sums.add(total)
    if len(sums) != 1:
        raise RuntimeError("the cores do not agree on the block")
    return rows


def versions() -> dict[str, str]:
    compiler = subprocess.run([builds.CROSS, "-dumpversion"], capture_output=True, text=True).stdout.strip()
    return {"micropython": builds.version(builds.require(builds.CROSS)), "compiler": compiler}


def measured_text() -> str:
    """What is kept, as TOML, measured now."""
    lines = ["# Written by `make core ONLY=costs`; calls in instructions."]
    lines += [f'{name} = "{value}"' for name, value in versions().items()]
    lines += [f"block_bytes = {BLOCK_BYTES}", f"horizon = {HORIZON}", f"steps = {STEPS}"]
    for table, entries in (("rows", measure()), ("shapes", measure_shapes())):
        lines += ["", f"{table} = ["]
        for entry in entries:
            fields = [f"{name} = {json.dumps(value)}" for name, value in vars(entry).items()]
            lines.append(f"    {{ {', '.join(fields)} }},")
        lines.append("]")
    return "\n".join(lines) + "\n"
