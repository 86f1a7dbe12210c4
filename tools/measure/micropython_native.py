"""What the controller costs under MicroPython, by the form it has there: flash, heap, instructions of a call.

    python -m adamb.tools.measure.micropython_native            # measure: builds MicroPython, minutes
    python -m adamb.tools.measure.micropython_native --write    # and keep the result, which documents show
    python -m adamb.tools.device.micropython.costs              # show what is kept

Firmware of MicroPython's own qemu port runs in QEMU, where instructions are counted exactly. A loop in Python
makes every call, as a program does; what reading the timer costs is taken off.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from adamb.tools.device.micropython import sources
from adamb.tools.device.micropython.costs import CORES, KEPT, FormCost, report
from adamb.tools.device.micropython.machine import MicroPythonMachine, instructions
from adamb.tools.device.micropython.package import board_files, fast_path

MACHINES = {"mps2-an385": ("Cortex-M3", "armv7m"), "microbit": ("Cortex-M0", "armv6m")}
BLOCK_BYTES, STEPS = 4096, 2000
FAST = "/lib/adamb/firmware_model/fast.py"

# Prints heap of the import, ticks of all act calls and of all observe calls, and a sum of the block.
_PROGRAM = """
import gc
from array import array
{clock}
gc.collect()
before = gc.mem_alloc()
from adamb.firmware_model import core
gc.collect()
heap = gc.mem_alloc() - before
block = array("H", bytes({block}))
controller = core.init(core.Config(), block)
state, action = array("H", (32768,)), array("H", (0,))
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
        x = (x * 4997 + 13849) & 0xFFFF
        reward = 65535 - abs(action[0] - state[0])
        state[0] = (state[0] >> 1) + (x >> 1)
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
# Prints the microseconds of many steps; a single call is too short for the clock of a computer.
_STEPS = """
from array import array
from time import ticks_us
from adamb.firmware_model import core
controller = core.init(core.Config(), array("H", bytes(4096)))
state, action = array("H", (32768,)), array("H", (0,))
def play(steps):
    x = 1
    for k in range(steps):
        controller.act(k % 5, state, action)
        x = (x * 4997 + 13849) & 0xFFFF
        reward = 65535 - abs(action[0] - state[0])
        state[0] = (state[0] >> 1) + (x >> 1)
        controller.observe(k % 5, reward, state)
        if k % 5 == 4:
            controller.end_episode()
start = ticks_us()
play(10000)
print(ticks_us() - start)
"""
UNIX_RUNS = 7


def _program() -> str:
    return _PROGRAM.format(clock=_TIMER, block=BLOCK_BYTES, steps=STEPS)


def _elf_bytes(firmware: Path) -> int:
    """Flash that a firmware takes: code, constants, and the values that variables start with."""
    from elftools.elf.elffile import ELFFile

    with firmware.open("rb") as file:
        segments = ELFFile(file).iter_segments("PT_LOAD")
        return sum(segment["p_filesz"] for segment in segments)


def measured(machine: str, core: str) -> tuple[FormCost, int]:
    """A row, and the sum of the block that all cores must share."""
    processor, arch = MACHINES[machine]
    firmware = sources.qemu_firmware(machine, native=core == "module")
    files: dict[str, Path | bytes | str] = dict(board_files("mpy")) if core in ("bytecode", "viper") else {}
    if core == "viper":
        files[FAST] = fast_path()
    if core == "mpy":
        files["/adamb.mpy"] = sources.native_mpy(arch)
    flash = sum(each.stat().st_size if isinstance(each, Path) else len(each) for each in files.values())
    if core == "module":
        flash = _elf_bytes(firmware) - _elf_bytes(sources.qemu_firmware(machine, native=False))
    with MicroPythonMachine(machine, firmware, seconds=1200) as board:
        board.put(files)
        output = board.run(_program()).require_success().output
    heap, act, observe, total = map(int, output.split())
    calls = [round(instructions(ticks / STEPS, machine)) for ticks in (act, observe)]
    return FormCost(processor, core, flash, heap, *calls), total


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


def unix_ratio() -> float:
    """How many times as long as with the C core in the program a step takes here with the Python core."""
    import tempfile

    times = []
    for native in (False, True):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            for place, path in ({} if native else board_files("mpy")).items():
                target = folder / place.strip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
            script = f"import sys\nsys.path.append({str(folder / 'lib')!r})\n{_STEPS}"
            program = str(sources.unix_program(native=native))
            times.append(min(int(sources.run(program, "-c", script)) for _ in range(UNIX_RUNS)))
    return times[0] / max(1, times[1])


def versions() -> dict[str, str]:
    compiler = subprocess.run([sources.CROSS, "-dumpversion"], capture_output=True, text=True).stdout.strip()
    return {"micropython": sources.version(sources.require(sources.CROSS)), "compiler": compiler}


def kept_text(rows: Sequence[FormCost], ratio: float) -> str:
    """What is kept, as TOML."""
    lines = ["# Written by python -m adamb.tools.measure.micropython_native --write; calls in instructions."]
    lines += [f'{name} = "{value}"' for name, value in versions().items()]
    lines += [f"block_bytes = {BLOCK_BYTES}", f"steps = {STEPS}"]
    lines += [f"unix_ratio = {ratio:.0f}"]
    for row in rows:
        fields = [f"{name} = {f'{value!r}'.replace(chr(39), chr(34))}" for name, value in vars(row).items()]
        lines += ["", "[[rows]]", *fields]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    text = kept_text(measure(), unix_ratio())
    if "--write" in arguments:
        KEPT.write_text(text, encoding="utf-8")
    print(report(tomllib.loads(text)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
