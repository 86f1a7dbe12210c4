"""The cross compiler, the ELF gates and the stack analysis do what the device tests rely on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adamb.budgets.errors import InputError
from adamb.tools.device.emulator import compile as cross
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.elf import Image, forbidden_symbols, violations
from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing

pytest.importorskip("ziglang", reason="pip install adamb[device]")
pytest.importorskip("elftools", reason="pip install adamb[device]")
pytest.importorskip("capstone", reason="pip install adamb[device]")

SAMPLES = Path(__file__).parent / "samples"
ROOTS = ["sample_quotients", "sample_recursive", "sample_fill", "sample_through_pointer", "sample_switch"]


def build(target: str, roots: list[str]) -> Image:
    return Image(cross.build_image([SAMPLES / "sample.c"], target=target, roots=roots, includes=[SAMPLES]))


@pytest.mark.parametrize(
    "target",
    ["cortex-m0", *(pytest.param(n, marks=pytest.mark.campaign) for n in cross.TARGETS if n != "cortex-m0")],
)
def test_every_target_compiles_and_the_second_request_is_served_from_the_cache(target: str) -> None:
    image = build(target, ["sample_fill"])
    stamp = image.path.stat().st_mtime_ns
    assert "sample_fill" in image.functions
    assert image.machine == ("EM_ARM" if cross.TARGETS[target].is_arm else "EM_RISCV")
    assert build(target, ["sample_fill"]).path.stat().st_mtime_ns == stamp


def test_a_changed_source_gives_another_image(tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text("int answer(void);\nint answer(void) { return 41; }\n")
    first = cross.build_image([source], target="cortex-m0", roots=["answer"])
    source.write_text("int answer(void);\nint answer(void) { return 42; }\n")
    assert cross.build_image([source], target="cortex-m0", roots=["answer"]) != first


def test_unreached_functions_cost_no_flash() -> None:
    assert "sample_recursive" not in build("cortex-m0", ["sample_fill"]).functions


def test_a_warning_stops_the_build_and_is_shown(tmp_path: Path) -> None:
    source = tmp_path / "warned.c"
    source.write_text("int answer(int unused);\nint answer(int unused) { int x; return 42; }\n")
    with pytest.raises(DeviceToolFailed, match="unused"):
        cross.build_image([source], target="cortex-m0", roots=["answer"])


def test_an_unknown_target_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="cortex-m0plus"):
        build("cortex-m99", ROOTS)


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
