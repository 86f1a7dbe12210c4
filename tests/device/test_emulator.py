"""The cross compiler, the gates of an image, the stack analysis, and emulated processors that count exactly."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from adamb.tools.device.emulator import compile as cross
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.compile import Image, MemoryMap, build_image, forbidden_symbols, violations
from adamb.tools.device.emulator.cortex_m import DeviceFault, Machine, block_cost
from adamb.tools.device.extras import DeviceToolMissing

for _package in ("ziglang", "elftools", "capstone"):
    pytest.importorskip(_package, reason="pip install adamb[device]")
unicorn = pytest.importorskip("unicorn", reason="pip install adamb[device]")


SAMPLES = Path(__file__).parent / "samples"
ROOTS = ["sample_quotients", "sample_recursive", "sample_fill", "sample_through_pointer", "sample_switch"]


def build(target: str, roots: list[str]) -> Image:
    return Image(cross.build_image([SAMPLES / "sample.c"], target=target, roots=roots, includes=[SAMPLES]))


@pytest.mark.parametrize(
    "target", ["cortex-m0", *(pytest.param(n, marks=pytest.mark.campaign) for n in cross.TARGETS if n != "cortex-m0")]
)
def test_every_target_compiles_and_the_second_request_is_served_from_the_cache(target: str) -> None:
    image = build(target, ["sample_fill"])
    stamp = image.path.stat().st_mtime_ns
    assert "sample_fill" in image.functions
    assert image.machine == ("EM_ARM" if cross.TARGETS[target].is_arm else "EM_RISCV")
    assert build(target, ["sample_fill"]).path.stat().st_mtime_ns == stamp


def test_a_missing_compiler_names_the_install_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ziglang", None)
    cross.compiler_version.cache_clear()
    with pytest.raises(DeviceToolMissing, match=r"pip install adamb\[device\]"):
        build("cortex-m0", ROOTS)


def test_static_variables_heap_and_floats_are_refused() -> None:
    image = Image(cross.build_image([SAMPLES / "forbidden.c"], target="cortex-m0", roots=["forbidden_float"]))
    assert image.sizes.data_bytes == 4
    assert image.sizes.bss_bytes >= 68
    assert "malloc" in forbidden_symbols(image)
    assert any(name.startswith("__aeabi_f") for name in forbidden_symbols(image))
    assert len(violations(image)) == 2
    assert "initialised" in violations(image)[0]


def test_integer_division_is_not_mistaken_for_floating_point() -> None:
    image = build("cortex-m0", ["sample_quotients"])
    assert "__aeabi_uidiv" in image.functions
    assert violations(image) == []


def test_recursion_is_found_and_absent_where_there_is_none() -> None:
    image = build("cortex-m0", ROOTS)
    assert stack_report(image, ["sample_recursive"]).recursion == (("sample_recursive",),)
    assert stack_report(image, ["sample_switch"]).recursion == (("sample_recursive",),)
    assert stack_report(image, ["sample_quotients", "sample_fill"]).recursion == ()


def test_a_call_through_a_pointer_is_reported_not_ignored() -> None:
    image = build("cortex-m0", ROOTS)
    assert stack_report(image, ["sample_through_pointer"]).indirect == ("sample_through_pointer",)
    assert stack_report(image, ["sample_quotients"]).indirect == ()


def test_the_worst_stack_path_ends_in_the_division_helper() -> None:
    report = stack_report(build("cortex-m0", ROOTS), ["sample_quotients"])
    assert report.path[0] == "sample_quotients"
    assert "__aeabi_uidiv" in report.path
    assert report.frames["sum_of_quotients"] >= 80


CALLED = ["sample_quotients", "sample_recursive", "sample_fill", "sample_forever", "sample_switch", "sample_five"]
RAM = 0x2000_0000


def sample_image(target: str = "cortex-m0") -> Image:
    return Image(build_image([SAMPLES / "sample.c"], target=target, roots=CALLED, includes=[SAMPLES]))


@pytest.mark.parametrize("target", ["cortex-m0", "cortex-m3", pytest.param("cortex-m4", marks=pytest.mark.campaign)])
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
