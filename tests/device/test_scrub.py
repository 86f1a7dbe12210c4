"""What a slice of the check costs on an emulated Cortex-M0: little enough for every control period."""

from __future__ import annotations

import pytest

from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import MemoryMap, build_image
from adamb.tools.device.emulator.cortex_m import Machine
from adamb.tools.device.emulator.elf import Image
from adamb.tools.device.latency.heaviest import watch
from support.campaigns import few

for _package in ("ziglang", "unicorn", "capstone"):
    pytest.importorskip(_package, reason="pip install adamb[device]")

SLICE_MAX = 4000


@pytest.mark.parametrize(("problem", "budget"), few([("oil-noisy", 4096), ("oil-2d", 8192)], rows=True))
def test_no_slice_exceeds_4000_instructions_and_a_pass_comes_to_an_end(problem: str, budget: int) -> None:
    _, agent = watch(problem, steps=10_000, keep=5, instances=2, budget_bytes=budget)
    roots = ["adamb_scrub", "adamb_check"]
    includes = [core.c_folder()]
    image = Image(build_image(core.sources(), target="cortex-m0", roots=roots, includes=includes))
    for block in agent.blocks:
        machine = Machine(image, cpu="cortex-m0", memory=MemoryMap(ram_bytes=32 * 1024))
        words, place = machine.reserve(2 * len(block)), machine.reserve(8)
        machine.write(words, block.tobytes())
        machine.write(place, bytes(8))
        costs = []
        result = 0
        while result == 0:
            call = machine.call("adamb_scrub", words, len(block), place)
            result = call.result
            costs.append(call.instructions)
        assert result == 1 and len(costs) <= 4 * len(block)
        whole = machine.call("adamb_check", words, len(block))
        assert whole.result == 0
        mean = sum(costs) // len(costs)
        print(f"{problem}: {len(costs)} slices of {mean} to {max(costs)}; all at once {whole.instructions}")
        assert max(costs) <= SLICE_MAX
