"""Cycles per instruction, by core: named models that give a range, because caches and pipelines are not
simulated.

Instructions are counted on Cortex-M0 code (exactly, by emulation). For another instruction set the count
changes too, so a model has two ranges: instructions per Cortex-M0 instruction, and cycles per instruction.
The second is built from the manual's cycles of a load or store and of a taken branch, and from the share of
such instructions in table-walking integer code. All other instructions take one cycle; every core below that
runs this code has a single-cycle multiplier, and division is a library call whose instructions are already
counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from adamb.firmware_model.host.errors import unknown_name

Range = tuple[float, float]

#: Shares of all executed instructions: between a loop over registers and a walk over linked records.
LOAD_STORE_SHARE: Range = (0.25, 0.45)
TAKEN_BRANCH_SHARE: Range = (0.08, 0.20)


@dataclass(frozen=True)
class CodeCosts:
    """Bytes of the C core on a processor, linked for size (-Os -flto): of the whole loop of `adamb port --runtime c`,
    of an Arduino sketch that prints and of its RAM, of what adamb_check adds, of tables that lie in RAM, and of
    the deepest stack that was seen."""

    flash: int
    sketch: int
    sketch_ram: int
    check: int
    tables: int
    stack: int

    def share_of(self, flash_bytes: int) -> str:
        """Share of a board's flash that the loop takes, and what has no room beside it."""
        left = flash_bytes - self.flash
        if left < 0:
            return f"of {flash_bytes}: does not fit"
        if left < self.check:
            return f"of {flash_bytes}; {left} are left: no room for adamb_check, a store, a guard or an Arduino sketch"
        return f"of {flash_bytes}; adamb_check takes {self.check} more"


@dataclass(frozen=True)
class ProcessorCore:
    """One processor core as far as time is concerned; `estimate` marks figures that no manual states."""

    name: str
    instruction_set: str
    model: str
    load_store: Range
    branch: Range
    instructions: Range
    estimate: bool
    source: str
    code: CodeCosts | None = None
    """Where the planner does not compile it."""

    @property
    def runs_thumb_2(self) -> bool:
        """Whether it executes the code of a Cortex-M3, instruction by instruction."""
        return self.instruction_set in ("ARMv7-M", "ARMv7E-M", "ARMv8-M Mainline")

    @property
    def cpi(self) -> Range:
        """Cycles per instruction with code and data in memory without wait states."""
        low, high = (
            1 + LOAD_STORE_SHARE[i] * (self.load_store[i] - 1) + TAKEN_BRANCH_SHARE[i] * (self.branch[i] - 1)
            for i in (0, 1)
        )
        return low, high


_CORES = [
    ProcessorCore(
        "cortex-m0", "ARMv6-M", "armv6m-manual", (2, 2), (3, 3), (1, 1), False,
        "Arm DDI 0432C, Cortex-M0 r0p0 TRM, table 3-1: loads and stores 2 cycles, taken branches 3",
    ),
    ProcessorCore(
        "cortex-m0plus", "ARMv6-M", "armv6m-plus-manual", (2, 2), (2, 2), (1, 1), False,
        "Arm DDI 0484C, Cortex-M0+ r0p1 TRM, table 3-1: loads and stores 2 cycles, taken branches 2",
    ),
    ProcessorCore(
        "cortex-m4", "ARMv7E-M", "armv7m-manual", (1, 2), (2, 4), (0.7, 1.0), True,
        "Arm DDI 0439D, Cortex-M4 TRM, table 3-1: loads 1 to 2 cycles, branches 1+P with P = 1..3; "
        "Thumb-2 needs fewer instructions: estimate",
    ),
    ProcessorCore(
        "cortex-m33", "ARMv8-M Mainline", "armv8m-estimate", (1, 2), (2, 3), (0.7, 1.0), True,
        "the Cortex-M33 TRM (Arm 100230) has no cycle table; as a Cortex-M4, shorter pipeline: estimate",
    ),
    ProcessorCore(
        "xtensa-lx6", "Xtensa LX6", "xtensa-estimate", (1, 2), (2, 4), (0.7, 1.3), True,
        "no public cycle table; seven-stage pipeline of ESP32 Series Datasheet, section CPU: estimate",
    ),
    ProcessorCore(
        "xtensa-lx7", "Xtensa LX7", "xtensa-estimate", (1, 2), (2, 4), (0.7, 1.3), True,
        "no public cycle table; five-stage pipeline of ESP32-S3 Series Datasheet, section CPU; as an LX6: estimate",
    ),
    ProcessorCore(
        "riscv-rv32imc", "RISC-V RV32IMC", "rv32imc-estimate", (1, 2), (2, 4), (0.8, 1.3), True,
        "no public cycle table; four-stage pipeline of ESP32-C3 Series Datasheet, section CPU: estimate",
    ),
    ProcessorCore(
        "avr", "AVR", "avr-simavr", (1, 1), (1, 1), (6, 11), True,
        "cycles in simavr by instructions on a Cortex-M0 of the same calls, which a test compares; 8-bit "
        "registers, so that the worst calls may be outside: estimate",
        CodeCosts(flash=30_124, sketch=32_180, sketch_ram=1_820, check=5_048, tables=378, stack=764),
    ),
]  # fmt: skip

CORES: dict[str, ProcessorCore] = {core.name: core for core in _CORES}


def core_named(name: str) -> ProcessorCore:
    """The core of that name; an unknown one is refused with the nearest known name."""
    if name in CORES:
        return CORES[name]
    raise unknown_name("core", name, CORES)
