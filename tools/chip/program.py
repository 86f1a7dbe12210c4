"""The C core, unchanged, as the program of the simulated processor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from adamb.tools.chip.verilate import HARNESS
from adamb.tools.device.emulator.compile import CompileTarget, MemoryMap, build_image
from adamb.tools.device.emulator.core import c_folder, sources
from adamb.tools.device.emulator.elf import Image

#: Program and constants, then variables and stack, in one memory.
MEMORY = MemoryMap(flash_origin=0, flash_bytes=28 * 1024, ram_origin=28 * 1024, ram_bytes=4 * 1024)
PROGRAM_WORDS = (MEMORY.flash_bytes + MEMORY.ram_bytes) // 4


@dataclass(frozen=True)
class Cpu:
    """A processor of the chip: how it is compiled for, and where its Verilog is."""

    name: str
    target: CompileTarget
    defines: tuple[tuple[str, int], ...]
    package: str
    files: str

    def verilog(self) -> dict[str, str]:
        folder = Path(import_module(self.package).data_location)
        return {path.name: path.read_text() for path in sorted(folder.glob(self.files))}


def _target(name: str, cpu: str) -> CompileTarget:
    return CompileTarget(name, "riscv32-freestanding-none", cpu, f"RISC-V: {name}")


CPUS = {
    cpu.name: cpu
    for cpu in (
        Cpu(
            "picorv32",
            _target("picorv32", "generic_rv32+m"),
            (("ADAMB_HAS_DIVIDE", 1),),
            "pythondata_cpu_picorv32",
            "picorv32.v",
        ),
        Cpu("serv", _target("serv", "generic_rv32"), (), "pythondata_cpu_serv", "rtl/serv_*.v"),
    )
}


@cache
def program(cpu: str, optimise: str) -> Image:
    """The linked program; `optimise` for size or speed."""
    from adamb.firmware_model.rtl import chip

    names = ("COMMAND", "STEP", "REWARD", "POINT", "REPLY", "MARK", "ACTION", "BLOCK_AT", "MAILBOX_AT")
    places: dict[str, int | str] = {f"CHIP_{name}": getattr(chip, name) for name in names}
    places["CHIP_STACK_AT"] = MEMORY.ram_origin + MEMORY.ram_bytes
    return Image(
        build_image(
            [HARNESS / "program.c", *sources()],
            target=CPUS[cpu].target,
            roots=["chip_start", "chip_main"],
            includes=[c_folder()],
            defines={**places, **dict(CPUS[cpu].defines)},
            optimise=optimise,
            memory=MEMORY,
        )
    )


def memory_words(image: Image) -> list[int]:
    """What the program's memory holds at the start."""
    content = bytearray(4 * PROGRAM_WORDS)
    for segment in image.segments:
        content[segment.address : segment.address + len(segment.data)] = segment.data
    return [int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content), 4)]


def address(image: Image, symbol: str) -> int:
    return next(found.address for found in image.symbols if found.name == symbol)
