"""The C core as MicroPython's module `adamb`, and MicroPython built from its sources with it and without it.

The sources are a checkout that MPY_DIR names, or what `make campaigns ONLY=native` has fetched into the build folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from adamb.tools.device.emulator import core
from adamb.tools.device.extras import DeviceToolMissing, build_folder, run_tool

FOLDER = Path(__file__).resolve().parent / "module"
RUNTIME = "adamb_module_runtime.c"
"""In a .mpy file only: a firmware has it."""
BUILD_FILES = ("micropython.mk", "micropython.cmake", "Makefile")
PLACE = "native/adamb"
"""In an export; the folder above it is what MicroPython calls USER_C_MODULES."""


def module_sources() -> list[Path]:
    return sorted(FOLDER.glob("*.c"))


def _values() -> dict[str, str]:
    """Values for the templates of the build files."""
    module = [path.name for path in module_sources() if path.name != RUNTIME]
    library = [path.name for path in core.sources()]
    native = [*(path.name for path in module_sources()), *library]
    cmake = [f"    ${{CMAKE_CURRENT_LIST_DIR}}/{name}" for name in [*module, *library]]
    return {
        "MODULE_SOURCES": _continued(module),
        "CORE_SOURCES": _continued(library),
        "NATIVE_SOURCES": "\\\n" + _continued(native),
        "CMAKE_SOURCES": "\n".join(cmake),
    }


def _continued(names: list[str]) -> str:
    """A list over several lines of a Makefile."""
    return " \\\n".join(f"    {name}" for name in names)


def module_files() -> dict[str, bytes]:
    """Everything of the module's folder: the core, the module around it, and how to build both."""
    paths = [*core.sources(), *core.c_folder().glob("*.h"), *module_sources(), *FOLDER.glob("*.h")]
    made = {path.name: path.read_bytes() for path in paths}
    for name in BUILD_FILES:
        text = (FOLDER / f"{name}.in").read_text(encoding="utf-8")
        for place, value in _values().items():
            text = text.replace(f"@{place}@", value)
        made[name] = text.encode()
    return made


def write_module(folder: Path) -> Path:
    """The module's folder below `folder`, which is then what USER_C_MODULES names; files that differ only."""
    for name, content in module_files().items():
        path = folder / "adamb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
    return folder


REMEDY = "name a checkout of them in MPY_DIR, or fetch Debian's: make campaigns ONLY=native in a checkout"
CROSS = "arm-none-eabi-gcc"
REMEDIES = {
    CROSS: "Debian: apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "arm-none-eabi-g++": "Debian: apt-get install gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib",
    "cmake": "Debian: apt-get install cmake",
}
TOOLS_REMEDY = "install the C compiler and make of your system"
#: Libraries that Debian's package leaves out; nothing of ours needs them.
WITHOUT = (
    "FROZEN_MANIFEST=", "MICROPY_PY_BTREE=0", "MICROPY_PY_SSL=0", "MICROPY_PY_FFI=0",
    "MICROPY_SSL_AXTLS=0", "MICROPY_SSL_MBEDTLS=0",
)  # fmt: skip
#: Boards of the qemu port. The micro:bit's is built as boards with the same processor are: with machine code.
QEMU_BOARDS = {
    "mps2-an385": ("BOARD=MPS2_AN385", "MICROPY_HEAP_SIZE=1048576"),
    "microbit": (
        "BOARD=MICROBIT",
        "MICROPY_HEAP_SIZE=204800",
        "CFLAGS_EXTRA=-DMICROPY_EMIT_THUMB=1 -DMICROPY_EMIT_THUMB_ARMV7M=0",
    ),
}
_NATIVE_TOOLS = ("make", "cc")
Environment = Mapping[str, str] | None


def find_sources() -> Path | None:
    """The folder of the sources, or None where there are none."""
    named = os.environ.get("MPY_DIR")
    if named:
        return Path(named).resolve() if (Path(named) / "py" / "dynruntime.mk").is_file() else None
    found = sorted(path.parent.parent for path in build_folder("micropython").glob("*/py/dynruntime.mk"))
    return found[-1] if found else None


def missing(*programs: str) -> str | None:
    """The reason why nothing can be built here, or None."""
    if find_sources() is None:
        return f"MicroPython's sources: {REMEDY}"
    for program in (*_NATIVE_TOOLS, *programs):
        if shutil.which(program) is None:
            return f"{program}: {REMEDIES.get(program, TOOLS_REMEDY)}"
    return None


def require(*programs: str) -> Path:
    why = missing(*programs)
    if why is not None:
        what, _, remedy = why.partition(": ")
        raise DeviceToolMissing(what, remedy)
    found = find_sources()
    assert found is not None
    return found


def run(*command: str | Path, seconds: float = 1800.0, folder: Path | None = None, given: Environment = None) -> str:
    what = f"{Path(command[0]).name} {command[1]}"
    return run_tool(what, command, folder=folder, seconds=seconds, environment=given)


def built(
    name: str, product: str, root: Path, options: Sequence[str | Path], *, native: bool, given: Environment = None
) -> Path:
    """The product of `make` with these options, kept until they or, in a native build, the module change."""
    files = module_files() if native else {}
    content = [part for place in sorted(files) for part in (place.encode(), files[place])]
    said = map(str, [root, *options, *(given or {}).values()])
    seal = hashlib.sha256(b"\0".join([*content, *(each.encode() for each in said)]))
    folder = build_folder("micropython-built", f"{name}-{seal.hexdigest()[:12]}")
    target = folder / product
    if not target.exists():
        mpy_cross = root / "mpy-cross" / "build" / "mpy-cross"
        if not mpy_cross.exists():
            run("make", "-C", root / "mpy-cross")
        run("make", *options, f"BUILD={folder}", f"PYTHON={sys.executable}", given=given)
    return target


def unix_program(*, native: bool) -> Path:
    """MicroPython for this computer, with the module or without."""
    root = require()
    options: list[str | Path] = ["-C", root / "ports" / "unix", *WITHOUT]
    if native:
        options.append(f"USER_C_MODULES={write_module(build_folder('micropython-module'))}")
    return built("unix-native" if native else "unix", "micropython", root, options, native=native)


def qemu_firmware(board: str, *, native: bool) -> Path:
    """MicroPython for a machine of QEMU, with the module or without."""
    root = require(CROSS)
    options: list[str | Path] = ["-C", root / "ports" / "qemu", "FROZEN_MANIFEST=", *QEMU_BOARDS[board]]
    if native:
        options.append(f"USER_C_MODULES={write_module(build_folder('micropython-module'))}")
    return built(f"{board}-native" if native else board, "firmware.elf", root, options, native=native)


def native_mpy(arch: str) -> Path:
    """The module as a .mpy file that a firmware loads as it is; `arch` as MicroPython names it."""
    root = require(*([CROSS] if arch.startswith("arm") else []))
    folder = write_module(build_folder("micropython-module")) / "adamb"
    options: list[str | Path] = ["-C", folder, f"MPY_DIR={root}", f"ARCH={arch}"]
    return built(f"mpy-{arch}", "adamb.native.mpy", root, options, native=True)


def version(root: Path) -> str:
    """The version that the sources state."""
    text = (root / "py" / "mpconfig.h").read_text(encoding="utf-8")
    numbers = [
        line.split()[-1] for part in ("MAJOR", "MINOR", "MICRO")
        for line in text.splitlines() if line.startswith(f"#define MICROPY_VERSION_{part} ")
    ]  # fmt: skip
    return ".".join(numbers)
