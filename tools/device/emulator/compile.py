"""Cross compile C for microcontrollers with a compiler that pip can install.

The compiler is zig's clang (PyPI `ziglang`): no system packages, the same version on every machine, and its
compiler-rt brings the division helper that a Cortex-M0 lacks. An image is kept under the hash of everything
that went into it, so an unchanged core costs nothing to ask for again.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from adamb.budgets.errors import InputError
from adamb.tools.device.extras import DeviceToolFailed, build_folder, need

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
    """Where flash and RAM of a device lie; both emulators map exactly this and nothing else."""

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
    done = subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True, text=True)
    if done.returncode != 0:
        raise DeviceToolFailed("the cross compiler", done.stderr)
    return done.stdout.strip()


def _digest(sources: Sequence[Path], headers: Iterable[Path], words: Iterable[str]) -> str:
    sha = hashlib.sha256()
    for path in (*sources, *headers):
        sha.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for word in words:
        sha.update(word.encode() + b"\0")
    return sha.hexdigest()[:20]


def _options(target: CompileTarget, entry: str, optimise: str) -> list[str]:
    options = ["-target", target.triple, "-mcpu", target.cpu, "-O", OPTIMISATIONS[optimise]]
    return options + [
        "-fno-strip",
        "-fno-unwind-tables",
        "-fcompiler-rt",
        "--gc-sections",
        f"-fentry={entry}",
    ]


def build_image(
    sources: Sequence[Path | str],
    *,
    target: str | CompileTarget,
    roots: Sequence[str],
    entry: str | None = None,
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
    start = entry or roots[0]
    script = _SCRIPT.format(entry=start, roots=" ".join(roots), **memory.__dict__)
    options = _options(chosen, start, optimise)
    flags = ["-std=c99", *WARNINGS, "-ffunction-sections", "-fdata-sections"]
    flags += [f"-D{name}={value}" for name, value in (defines or {}).items()]
    key = _digest(paths, headers, [compiler_version(), script, *options, *flags])
    image = build_folder("images") / f"{chosen.name}-{key}.elf"
    if not image.exists():
        flags += [f"-I{folder}" for folder in folders]
        _run_compiler(paths, options, flags, script, image)
    return image


def build_library(
    sources: Sequence[Path],
    *,
    includes: Sequence[Path],
    forced: Sequence[Path] = (),
    flags: Sequence[str] = (),
) -> Path:
    """A shared library for this computer, by the same compiler and kept the same way.

    `forced` headers are included first in every source: measuring builds hook into the core with them.
    """
    options = ["-shared", "-fPIC", "-O2", "-std=c99", *WARNINGS, *flags]
    headers = sorted({header for folder in includes for header in folder.glob("*.h")} | {*forced})
    key = _digest(sources, headers, [compiler_version(), sys.platform, *options])
    library = build_folder("images") / f"host-{key}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
            made = Path(scratch) / library.name
            command = [sys.executable, "-m", "ziglang", "cc", *options]
            command += [f"-I{folder}" for folder in includes]
            for header in forced:
                command += ["-include", str(header)]
            done = subprocess.run(
                [*command, *map(str, sources), "-o", str(made)],
                capture_output=True, text=True, cwd=scratch, env=_environment(),
            )  # fmt: skip
            if done.returncode != 0:
                raise DeviceToolFailed("compilation for this computer", done.stderr)
            made.replace(library)
    return library


def _environment() -> dict[str, str]:
    environment = dict(os.environ)
    environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(build_folder("zig")))
    environment.setdefault("ZIG_LOCAL_CACHE_DIR", str(build_folder("zig")))
    return environment


def _run_compiler(
    paths: Sequence[Path], options: list[str], flags: list[str], script: str, image: Path
) -> None:
    # Building beside the cache and renaming keeps two processes that ask at once from reading half a file.
    with tempfile.TemporaryDirectory(dir=image.parent) as scratch:
        linker = Path(scratch) / "image.ld"
        linker.write_text(script)
        made = Path(scratch) / "image.elf"
        command = [sys.executable, "-m", "ziglang", "build-exe", *options, "--script", str(linker)]
        command += [f"-femit-bin={made}", "-cflags", *flags, "--", *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=scratch, env=_environment())
        if done.returncode != 0:
            raise DeviceToolFailed("cross compilation", done.stderr)
        made.replace(image)
