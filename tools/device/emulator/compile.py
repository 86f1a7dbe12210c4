"""C for microcontrollers by a compiler that pip can install, and what is in a linked image.

The compiler is zig's clang (PyPI `ziglang`): no system packages, the same version on every machine, and its
compiler-rt brings the division helper that a Cortex-M0 lacks. An image is kept under the hash of everything
that went into it, so an unchanged core costs nothing to ask for again.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from adamb.firmware_model.host.errors import InputError
from adamb.tools.device.extras import build_folder, key, made_once, need, run_tool

# Heap calls need memory that was not planned; software floating point costs kilobytes of flash and hundreds
# of instructions per operation on these processors.
FORBIDDEN = (
    "malloc", "calloc", "realloc", "free", "sbrk", "_sbrk", "alloca",
    "__aeabi_f*", "__aeabi_d*", "__aeabi_i2f", "__aeabi_i2d", "__aeabi_ui2f", "__aeabi_ui2d",
    "__aeabi_l2f", "__aeabi_l2d", "__aeabi_ul2f", "__aeabi_ul2d",
    "__*sf2", "__*df2", "__*sf3", "__*df3", "__float*", "__fix*", "__extendsf*", "__truncdf*",
)  # fmt: skip

# Integer helpers whose names fall under a pattern above.
ALLOWED = ("__aeabi_idiv*", "__aeabi_uidiv*", "__aeabi_ldivmod", "__aeabi_uldivmod")


@dataclass(frozen=True)
class Segment:
    """Bytes to load at an address before the first instruction."""

    address: int
    data: bytes


@dataclass(frozen=True)
class Symbol:
    """A named function or object; the address of a Thumb function is given without its mode bit."""

    name: str
    address: int
    size_bytes: int
    kind: str
    section: str


@dataclass(frozen=True)
class Sizes:
    """Bytes by where they are paid: flash for code and constants, RAM for variables."""

    text_bytes: int
    rodata_bytes: int
    data_bytes: int
    bss_bytes: int

    @property
    def flash_bytes(self) -> int:
        return self.text_bytes + self.rodata_bytes + self.data_bytes

    @property
    def ram_bytes(self) -> int:
        return self.data_bytes + self.bss_bytes


class Image:
    """A linked ELF, read once."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        elffile = need("elftools.elf.elffile", "the ELF reader")
        with self.path.open("rb") as stream:
            elf = elffile.ELFFile(stream)
            self.machine: str = elf["e_machine"]
            self.segments = [
                Segment(part["p_paddr"], part.data())
                for part in elf.iter_segments()
                if part["p_type"] == "PT_LOAD" and part["p_memsz"]
            ]
            # Bit 1 of the flags: the section occupies memory at run time; debug information does not.
            self.sections: dict[str, int] = {
                part.name: part["sh_size"] for part in elf.iter_sections() if part["sh_flags"] & 2
            }
            names = [part.name for part in elf.iter_sections()]
            table = elf.get_section_by_name(".symtab")
            self.symbols = [self._symbol(raw, names) for raw in table.iter_symbols()] if table else []

    def _symbol(self, raw: object, names: list[str]) -> Symbol:
        kind = raw["st_info"]["type"]  # type: ignore[index]
        index = raw["st_shndx"]  # type: ignore[index]
        value = raw["st_value"]  # type: ignore[index]
        address = value & ~1 if kind == "STT_FUNC" and self.machine == "EM_ARM" else value
        section = names[index] if isinstance(index, int) else str(index)
        return Symbol(raw.name, address, raw["st_size"], kind, section)  # type: ignore[attr-defined, index]

    @cached_property
    def functions(self) -> dict[str, Symbol]:
        """Functions by name; aliases of one address are all there."""
        return {symbol.name: symbol for symbol in self.symbols if symbol.kind == "STT_FUNC"}

    @cached_property
    def data_ranges(self) -> list[tuple[int, int]]:
        """Address ranges inside code sections that hold constants, from the `$d` and `$t` marks."""
        marks = sorted(
            (symbol.address, symbol.name[:2])
            for symbol in self.symbols
            if symbol.name[:2] in ("$d", "$t") and symbol.section != "SHN_ABS"
        )
        ranges = []
        for (start, mark), (end, _) in zip(marks, marks[1:] + [(1 << 32, "")], strict=True):
            if mark == "$d":
                ranges.append((start, end))
        return ranges

    @cached_property
    def sizes(self) -> Sizes:
        """Flash and RAM of the image by section."""

        def total(*prefixes: str) -> int:
            return sum(size for name, size in self.sections.items() if name.startswith(prefixes))

        known = (".text", ".vectors", ".rodata", ".srodata", ".data", ".sdata", ".bss", ".sbss")
        other = sum(size for name, size in self.sections.items() if not name.startswith(known))
        return Sizes(
            text_bytes=total(".text", ".vectors"),
            rodata_bytes=total(".rodata", ".srodata") + other,
            data_bytes=total(".data", ".sdata"),
            bss_bytes=total(".bss", ".sbss"),
        )

    def read(self, address: int, count: int) -> bytes:
        """Initial memory content, from the segment that holds it."""
        for segment in self.segments:
            offset = address - segment.address
            if offset >= 0 and offset + count <= len(segment.data):
                return segment.data[offset : offset + count]
        raise ValueError(f"{self.path.name}: no segment holds {count} bytes at {address:#x}")


def forbidden_symbols(image: Image) -> list[str]:
    """Names in the image that must not be there."""
    return sorted(
        {
            symbol.name
            for symbol in image.symbols
            if symbol.name
            and any(fnmatch.fnmatchcase(symbol.name, pattern) for pattern in FORBIDDEN)
            and not any(fnmatch.fnmatchcase(symbol.name, pattern) for pattern in ALLOWED)
        }
    )


def violations(image: Image) -> list[str]:
    """Every broken promise of a core image, one line each; empty when it may go on a board."""
    found = []
    if image.sizes.ram_bytes:
        variables = [symbol.name for symbol in image.symbols if symbol.section.startswith((".data", ".bss", ".s"))]
        named = ", ".join(name for name in variables if name and not name.startswith("$"))
        found.append(f"static variables: {image.sizes.ram_bytes} bytes ({named})")
    names = forbidden_symbols(image)
    if names:
        found.append("forbidden symbols: " + ", ".join(names))
    return found


ZIG = (sys.executable, "-m", "ziglang")
WARNINGS = ("-Wall", "-Wextra", "-Werror")
OPTIMISATIONS = {"size": "ReleaseSmall", "speed": "ReleaseFast"}


@dataclass(frozen=True)
class CompileTarget:
    """One processor to compile for."""

    name: str
    triple: str
    cpu: str
    description: str

    @property
    def is_arm(self) -> bool:
        return self.triple.startswith("thumb")


@dataclass(frozen=True)
class MemoryMap:
    """Addresses and sizes of a device's flash and RAM; both emulators map exactly this and nothing else."""

    flash_origin: int = 0x0000_0000
    flash_bytes: int = 256 * 1024
    ram_origin: int = 0x2000_0000
    ram_bytes: int = 16 * 1024


MICROBIT = MemoryMap()


def memory_holding(ram_bytes: int) -> MemoryMap:
    """The micro:bit's memory where so much fits into its RAM, else the next power of two that holds it."""
    ram = MICROBIT.ram_bytes
    while ram < ram_bytes:
        ram *= 2
    return MemoryMap(ram_bytes=ram)


_ARM = "thumb-freestanding-eabi"
TARGETS: dict[str, CompileTarget] = {
    target.name: target
    for target in (
        CompileTarget("cortex-m0", _ARM, "cortex_m0", "ARMv6-M: micro:bit v1, STM32F0"),
        CompileTarget("cortex-m0plus", _ARM, "cortex_m0plus", "ARMv6-M: RP2040, SAMD21, STM32L0"),
        CompileTarget("cortex-m3", _ARM, "cortex_m3", "ARMv7-M: STM32F1, LPC17xx"),
        CompileTarget("cortex-m4", _ARM, "cortex_m4", "ARMv7E-M without its float unit: nRF52, STM32F4"),
        CompileTarget("rv32imc", "riscv32-freestanding-none", "generic_rv32+m+c", "RISC-V: ESP32-C3"),
    )
}

_SCRIPT = """\
ENTRY({entry})
EXTERN({roots})
MEMORY {{
  FLASH (rx) : ORIGIN = {flash_origin:#x}, LENGTH = {flash_bytes}
  RAM (rw) : ORIGIN = {ram_origin:#x}, LENGTH = {ram_bytes}
}}
adamb_ram_start = ORIGIN(RAM);
adamb_ram_end = ORIGIN(RAM) + LENGTH(RAM);
SECTIONS {{
  .vectors : {{ KEEP(*(.vectors)) }} > FLASH
  .text : {{ *(.text .text.*) }} > FLASH
  .rodata : {{ *(.rodata .rodata.*) *(.srodata .srodata.*) }} > FLASH
  .data : {{ *(.data .data.*) *(.sdata .sdata.*) }} > RAM AT> FLASH
  .bss (NOLOAD) : {{ *(.bss .bss.*) *(.sbss .sbss.*) *(COMMON) }} > RAM
  /DISCARD/ : {{ *(.ARM.exidx*) *(.ARM.extab*) *(.eh_frame*) }}
}}
"""


def find_target(name: str) -> CompileTarget:
    """The target of that name, or an error that lists the names there are."""
    if name not in TARGETS:
        raise InputError("target", name, "one of " + ", ".join(TARGETS))
    return TARGETS[name]


@cache
def compiler_version() -> str:
    """The version of the cross compiler, which is part of every image's name."""
    need("ziglang", "the cross compiler")
    return run_tool("the cross compiler", [*ZIG, "version"]).strip()


def _digest(paths: Iterable[Path], words: Iterable[str]) -> str:
    return key(*(part for path in paths for part in (path.name, path.read_bytes())), *words)


def _compile(what: str, command: Sequence[str], folder: Path) -> None:
    cache = str(build_folder("zig"))
    environment = {name: os.environ.get(name, cache) for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    run_tool(what, [*ZIG, *command], folder=folder, environment=environment)


def _options(target: CompileTarget, entry: str, optimise: str) -> list[str]:
    options = ["-target", target.triple, "-mcpu", target.cpu, "-O", OPTIMISATIONS[optimise]]
    return options + ["-fno-strip", "-fno-unwind-tables", "-fcompiler-rt", "--gc-sections", f"-fentry={entry}"]


def build_image(
    sources: Sequence[Path | str],
    *,
    target: str | CompileTarget,
    roots: Sequence[str],
    includes: Sequence[Path | str] = (),
    defines: Mapping[str, int | str] | None = None,
    optimise: str = "size",
    memory: MemoryMap = MICROBIT,
) -> Path:
    """Compile and link `sources` into an ELF for `target`; `roots` are the functions that must survive.

    Nothing but what the roots reach is kept, so the sections of an image of the core alone are the flash it
    costs. Warnings are errors. The result is cached; the path is valid until `make clean`.
    """
    if optimise not in OPTIMISATIONS:
        raise InputError("optimise", optimise, "one of " + ", ".join(OPTIMISATIONS))
    chosen = target if isinstance(target, CompileTarget) else find_target(target)
    paths = [Path(source).resolve() for source in sources]
    if not paths:
        raise InputError("sources", [], "at least one C file")
    folders = [Path(include).resolve() for include in includes]
    headers = sorted({header for folder in folders for header in folder.glob("*.h")})
    script = _SCRIPT.format(entry=roots[0], roots=" ".join(roots), **memory.__dict__)
    options = _options(chosen, roots[0], optimise)
    flags = ["-std=c99", *WARNINGS, "-ffunction-sections", "-fdata-sections"]
    flags += [f"-D{name}={value}" for name, value in (defines or {}).items()]
    digest = _digest([*paths, *headers], [compiler_version(), script, *options, *flags])

    def make(image: Path) -> None:
        linker = image.with_name("image.ld")
        linker.write_text(script)
        command = ["build-exe", *options, "--script", str(linker), f"-femit-bin={image}"]
        included = [f"-I{folder}" for folder in folders]
        command += ["-cflags", *flags, *included, "--", *map(str, paths)]
        _compile("cross compilation", command, image.parent)

    return made_once(build_folder("images") / f"{chosen.name}-{digest}.elf", make)


def build_library(
    sources: Sequence[Path], *, includes: Sequence[Path], forced: Sequence[Path] = (), flags: Sequence[str] = ()
) -> Path:
    """A shared library for this computer, by the same compiler and kept the same way.

    `forced` headers are included first in every source: measuring builds hook into the core with them.
    """
    options = ["-shared", "-fPIC", "-O2", "-std=c99", *WARNINGS, *flags]
    headers = sorted({header for folder in includes for header in folder.glob("*.h")} | {*forced})
    digest = _digest([*sources, *headers], [compiler_version(), sys.platform, *options])

    def make(library: Path) -> None:
        command = ["cc", *options, *(f"-I{folder}" for folder in includes)]
        command += [word for header in forced for word in ("-include", str(header))]
        _compile("compilation for this computer", [*command, *map(str, sources), "-o", str(library)], library.parent)

    return made_once(build_folder("images") / f"host-{digest}.so", make)


def build_wasm(sources: Sequence[Path], *, includes: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """WebAssembly with the functions that the sources export, and nothing from outside; kept the same way."""
    options = ["-target", "wasm32-freestanding", "-O", "ReleaseSmall", "-fno-entry", "-fstrip", "--stack", "65536"]
    headers = sorted({header for folder in includes for header in folder.rglob("*.h")})
    digest = _digest([*sources, *headers], [compiler_version(), *options, *flags])

    def make(module: Path) -> None:
        included = [f"-I{folder}" for folder in includes]
        command = ["build-exe", *options, f"-femit-bin={module}", "-cflags", *flags, *included, "--"]
        _compile("compilation to WebAssembly", [*command, *map(str, sources)], module.parent)

    return made_once(build_folder("images") / f"wasm-{digest}.wasm", make)
