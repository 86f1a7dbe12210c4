"""The emulated processor counts exactly, and has not one byte more memory than the board."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from adamb.budgets.errors import InputError
from adamb.tools.device.emulator import qemu
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.compile import MemoryMap, build_image
from adamb.tools.device.emulator.cortex_m import DeviceFault, Machine
from adamb.tools.device.emulator.cycles import block_cost, instruction_cycles
from adamb.tools.device.emulator.elf import Image

pytest.importorskip("ziglang", reason="pip install adamb[device]")
unicorn = pytest.importorskip("unicorn", reason="pip install adamb[device]")
pytest.importorskip("capstone", reason="pip install adamb[device]")

SAMPLES = Path(__file__).parent / "samples"
ROOTS = [
    "sample_quotients", "sample_recursive", "sample_fill", "sample_forever", "sample_switch", "sample_five",
]  # fmt: skip
RAM = 0x2000_0000


def sample_image(target: str = "cortex-m0") -> Image:
    return Image(build_image([SAMPLES / "sample.c"], target=target, roots=ROOTS, includes=[SAMPLES]))


@pytest.mark.parametrize(
    "target", ["cortex-m0", "cortex-m3", pytest.param("cortex-m4", marks=pytest.mark.campaign)]
)
def test_a_call_returns_what_c_returns(target: str) -> None:
    machine = Machine(sample_image(target), cpu=target)
    place = machine.reserve(8)
    machine.write(place, struct.pack("<2I", 5, 7))
    assert machine.call("sample_quotients", place, 3).result == sum((5 + i) // 3 for i in range(20)) + 7
    assert machine.call("sample_five", 1, 2, 3, 4, -5).result == 1 - 4 + 9 - 16 - 25


@pytest.mark.parametrize("ram_bytes", [16 * 1024, 4096, 1000])
def test_the_last_byte_of_ram_works_and_the_next_one_faults(ram_bytes: int) -> None:
    machine = Machine(sample_image(), memory=MemoryMap(ram_bytes=ram_bytes))
    machine.reserve(128)
    machine.call("sample_fill", RAM + ram_bytes - 100, 100)
    assert machine.read(RAM + ram_bytes - 2, 2) == bytes([98, 99])
    with pytest.raises(DeviceFault, match=f"{RAM + ram_bytes:#010x} from sample_fill"):
        machine.call("sample_fill", RAM + ram_bytes - 100, 101)


def test_a_stack_that_leaves_ram_faults() -> None:
    image = sample_image()
    need = stack_report(image, ["sample_quotients"]).bytes
    machine = Machine(image, memory=MemoryMap(ram_bytes=need + 8))
    place = machine.reserve(8)
    assert machine.free_bytes == need
    machine.write(place, struct.pack("<2I", 5, 7))
    assert machine.call("sample_quotients", place, 3).stack_bytes == need
    tight = Machine(image, memory=MemoryMap(ram_bytes=need))
    place = tight.reserve(8)
    with pytest.raises(DeviceFault):
        tight.call("sample_quotients", place, 3)


def test_flash_cannot_be_written() -> None:
    with pytest.raises(DeviceFault):
        Machine(sample_image()).call("sample_fill", 0x100, 1)


def test_an_image_larger_than_flash_is_refused() -> None:
    with pytest.raises(DeviceFault, match="flash"):
        Machine(sample_image(), memory=MemoryMap(flash_bytes=64))


def test_more_ram_than_there_is_cannot_be_reserved() -> None:
    machine = Machine(sample_image())
    with pytest.raises(InputError, match="16384"):
        machine.reserve(16 * 1024 + 1)


def test_a_call_that_never_ends_is_stopped() -> None:
    machine = Machine(sample_image(), instruction_limit=10_000)
    with pytest.raises(DeviceFault, match="10000 instructions"):
        machine.call("sample_forever")


def test_counting_by_runs_equals_counting_one_by_one_on_cortex_m0() -> None:
    machine = Machine(sample_image())
    counted = 0

    def count(*_: object) -> None:
        nonlocal counted
        counted += 1

    machine._uc.hook_add(unicorn.UC_HOOK_CODE, count)
    place = machine.reserve(16)
    machine.write(place, struct.pack("<4I", 5, 7, 0, 0))
    for name, arguments in (
        ("sample_recursive", (12,)), ("sample_quotients", (place, 3)), ("sample_switch", (4, place)),
    ):  # fmt: skip
        counted = 0
        assert machine.call(name, *arguments).instructions == counted > 10


def test_measured_stack_of_a_path_without_branches_equals_the_analysis() -> None:
    image = sample_image()
    machine = Machine(image)
    place = machine.reserve(8)
    machine.write(place, struct.pack("<2I", 5, 7))
    report = stack_report(image, ["sample_quotients"])
    assert machine.call("sample_quotients", place, 3).stack_bytes == report.bytes


@pytest.mark.parametrize(
    ("name", "operands", "cycles"),
    [
        ("adds", "r0, r1, r2", 1), ("muls", "r0, r1, r0", 1), ("ldr", "r0, [r1]", 2), ("strh", "r0, [r1]", 2),
        ("push", "{r4, r5, lr}", 4), ("pop", "{r4, r5}", 3), ("pop", "{r4, r5, pc}", 6), ("bl", "#0x40", 3),
        ("b", "#0x40", 2), ("bne", "#0x40", 1), ("bx", "lr", 2), ("ldm", "r0!, {r1, r2}", 3),
    ],
)  # fmt: skip
def test_cycles_by_class_follow_the_reference_manual(name: str, operands: str, cycles: int) -> None:
    assert instruction_cycles(name, operands) == cycles


def test_a_block_knows_its_fetches_and_its_branch() -> None:
    code = [(2, 2, "ldr", "r0, [pc, #4]"), (4, 2, "adds", "r0, #1"), (6, 2, "bne", "#2")]
    cost = block_cost(2, code)
    assert (cost.instructions, cost.cycles, cost.fetches) == (3, 4, 3)
    assert cost.conditional
    assert cost.next_address == 8


def test_the_cycle_range_encloses_the_instructions_and_is_for_armv6_only() -> None:
    call = Machine(sample_image()).call("sample_recursive", 10)
    assert call.cycles_low is not None and call.cycles_high is not None
    assert call.instructions < call.cycles_low < call.cycles_high < 2 * call.cycles_low
    assert Machine(sample_image("cortex-m3"), cpu="cortex-m3").call("sample_recursive", 5).cycles_low is None


@pytest.mark.skipif(qemu.version() is None, reason=f"{qemu.PROGRAM} is not installed: {qemu.REMEDY}")
@pytest.mark.parametrize("board", list(qemu.BOARDS))
def test_qemu_runs_a_program_with_files_and_a_true_exit_status(board: str) -> None:
    image = qemu.build_program([SAMPLES / "program.c"], board)
    run = qemu.run(image, board, b"HAL")
    assert (run.status, run.output) == (3, b"IBM")


@pytest.mark.skipif(qemu.version() is None, reason=f"{qemu.PROGRAM} is not installed: {qemu.REMEDY}")
def test_qemu_faults_one_word_beyond_the_board() -> None:
    image = qemu.build_program([SAMPLES / "program.c"], "microbit")
    assert qemu.run(image, "microbit", b"\xff").status == qemu.FAULT_STATUS
