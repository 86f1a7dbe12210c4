"""The C core on every processor: no static variables, no heap, no floats, no recursion, a bounded stack."""

from __future__ import annotations

import pytest

from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.elf import violations
from adamb.tools.device.latency.meters import measure_cortex
from support.streams import stream_of

for _package in ("ziglang", "elftools", "capstone", "unicorn"):
    pytest.importorskip(_package, reason="pip install adamb[device]")

STACK_LIMIT_BYTES = 1024
FLASH_LIMIT_BYTES = 22 * 1024  # with check, scrub, snapshots and store; a controller at work takes half of it

# A first compilation for one more processor takes seconds: two of them are enough for the fast tests.
RISC_V = pytest.param("rv32imc", marks=pytest.mark.campaign)
FAST_FIRST = [
    "cortex-m0",
    "cortex-m3",
    *(pytest.param(n, marks=pytest.mark.campaign) for n in ("cortex-m0plus", "cortex-m4")),
    RISC_V,
]


@pytest.mark.parametrize("optimise", ["size", pytest.param("speed", marks=pytest.mark.campaign)])
@pytest.mark.parametrize("target", FAST_FIRST)
def test_the_core_needs_no_static_ram_no_heap_and_no_floating_point(target: str, optimise: str) -> None:
    image = core.core_image(target, optimise)
    assert violations(image) == []
    assert 0 < image.sizes.flash_bytes <= FLASH_LIMIT_BYTES


@pytest.mark.parametrize("optimise", ["size", pytest.param("speed", marks=pytest.mark.campaign)])
@pytest.mark.parametrize("target", [each for each in FAST_FIRST if each != RISC_V])
def test_nothing_recurses_and_the_worst_stack_is_known(target: str, optimise: str) -> None:
    report = stack_report(core.core_image(target, optimise), core.public_functions())
    assert report.recursion == ()
    assert report.indirect == ()
    assert report.dynamic == ()
    assert 0 < report.bytes <= STACK_LIMIT_BYTES


@pytest.mark.parametrize("name", ["tiny", "noise-3+3"])
def test_no_run_uses_more_stack_than_the_analysis_says(name: str) -> None:
    costs = measure_cortex(stream_of(name), "cortex-m0")
    assert costs.stack_measured_bytes is not None and costs.stack_bytes is not None
    assert costs.stack_bytes // 2 <= costs.stack_measured_bytes <= costs.stack_bytes


def test_a_controller_at_work_takes_11_kib_of_flash_and_512_bytes_of_stack() -> None:
    flash = core.flash("cortex-m0plus", "size")
    print(flash)
    assert 0 < flash.running_bytes <= 11 * 1024
    image = core.core_image("cortex-m0plus", "size", core.RUNNING)
    assert "adamb_check" not in image.functions
    assert stack_report(image, core.RUNNING).bytes <= 512
    whole = core.core_image("cortex-m0plus", "size", (*core.RUNNING, core.DIAGNOSIS))
    assert flash.running_bytes + flash.check_bytes == whole.sizes.flash_bytes
    assert "adamb_check" in whole.functions and flash.check_bytes > 500


def test_only_the_check_and_the_texts_are_left_out_of_a_controller_at_work() -> None:
    assert {*core.public_functions()} - {*core.RUNNING} == {"adamb_check", "adamb_error_text"}
    image = core.core_image("cortex-m0plus", "size", (*core.RUNNING, core.DIAGNOSIS))
    assert "adamb_error_text" not in image.functions, "texts that nobody asks for take no flash"
    assert b"observe without act" not in image.path.read_bytes()
    assert b"observe without act" in core.core_image("cortex-m0plus", "size").path.read_bytes()


def test_the_public_functions_are_those_of_the_header() -> None:
    assert {"adamb_init", "adamb_required_words", *core.HOT_PATH} <= set(core.public_functions())
