"""MicroPython built from its own sources, with the C core and without it.

The sources are a checkout that MPY_DIR names, or what `python -m adamb.tools.device.micropython.sources`
fetches: Debian's source package, through a configuration of its own that leaves the system as it is.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing, build_folder
from adamb.tools.device.micropython.native import module_files, write_module

REMEDY = (
    "name a checkout of them in MPY_DIR, or fetch Debian's: python -m adamb.tools.device.micropython.sources"
)
CROSS = "arm-none-eabi-gcc"
CROSS_CPP = "arm-none-eabi-g++"
REMEDIES = {
    CROSS: "Debian: apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi",
    CROSS_CPP: "Debian: apt-get install gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib",
    "cmake": "Debian: apt-get install cmake",
}
TOOLS_REMEDY = "install the C compiler and make of your system"
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
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
    """Why nothing can be built here, or None."""
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


def run(
    *command: str | Path, seconds: float = 1800.0, folder: Path | None = None, given: Environment = None
) -> str:
    words, environment = [str(part) for part in command], {**os.environ, **(given or {})}
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, cwd=folder, env=environment)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise DeviceToolFailed(f"{Path(command[0]).name} {command[1]}", "\n".join(lines[-12:]))
    return done.stdout


def built(
    name: str,
    product: str,
    root: Path,
    options: Sequence[str | Path],
    *,
    native: bool,
    given: Environment = None,
) -> Path:
    """What `make` gives with these options, kept until they or, in a native build, the module change."""
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


def apt(suite: str, folder: Path) -> list[str]:
    """apt-get for a suite of Debian, with lists of its own: the system stays as it is."""
    if shutil.which("apt-get") is None or not KEYS.exists():
        raise DeviceToolMissing(
            "apt-get with Debian's keys", "get MicroPython's sources, and name them in MPY_DIR"
        )
    parts, lists = folder / f"parts-{suite}", folder / f"lists-{suite}"
    for made in (parts, lists / "partial"):
        made.mkdir(parents=True, exist_ok=True)
    filters = ("Origin: Debian", "Label: Debian")
    mirror = run("apt-get", "indextargets", "--format", "$(REPO_URI)", *filters).split()
    if not mirror:
        raise DeviceToolMissing("a Debian mirror in apt's sources", "name MicroPython's sources in MPY_DIR")
    where = f"URIs: {mirror[0]}\nSuites: {suite}\nComponents: main\nSigned-By: {KEYS}\n"
    (parts / "both.sources").write_text(f"Types: deb deb-src\n{where}")
    own = [
        "Dir::Etc::sourcelist=/dev/null", f"Dir::Etc::sourceparts={parts}", f"Dir::State::lists={lists}",
        "Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache=", "APT::Sandbox::User=root",
    ]  # fmt: skip
    command = ["apt-get", *(word for option in own for word in ("-o", option))]
    run(*command, "update")
    return command


def fetch(suite: str = "sid") -> Path:
    """Debian's source package, unpacked in the build folder."""
    folder = build_folder("micropython")
    run(*apt(suite, folder), "source", "--download-only", "micropython", folder=folder)
    archive = sorted(folder.glob("micropython_*.orig.tar.xz"))[-1]
    run("tar", "xf", archive, "-C", folder)
    found = find_sources()
    assert found is not None, "the archive holds MicroPython"
    return found


if __name__ == "__main__":
    place = find_sources() or fetch()
    print(f"{place}: MicroPython {version(place)}")
