"""Firmware for a Raspberry Pi Pico from MicroPython's sources: the rp2 port, which CMake builds.

The port needs libraries that a checkout has as submodules. Debian's MicroPython comes without them;
`python -m adamb.tools.device.micropython.pico` fetches Debian's packages of them into the same sources.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from adamb.budgets.errors import AdambError
from adamb.tools.device.extras import DeviceToolMissing, build_folder
from adamb.tools.device.micropython import sources
from adamb.tools.device.micropython.native import write_module

#: What shows that a library is there, by its folder in `lib`.
LIBRARIES = {
    "pico-sdk": "pico_sdk_init.cmake",
    "tinyusb": "src/tusb.c",
    "mbedtls": "library/aes.c",
}
SUITE = "trixie"
"""Of Debian; its SDK is of the version that MicroPython 1.26 asks for, and a later one does not fit."""
REMEDY = (
    "in a checkout of MicroPython make -C ports/rp2 submodules, with Debian's sources "
    "python -m adamb.tools.device.micropython.pico"
)


def missing() -> str | None:
    """Why no firmware can be built here, or None."""
    why = sources.missing(sources.CROSS, sources.CROSS_CPP, "cmake")
    if why is not None:
        return why
    root = sources.find_sources()
    assert root is not None
    absent = [name for name, file in LIBRARIES.items() if not (root / "lib" / name / file).is_file()]
    return f"{', '.join(absent)} in MicroPython's lib: {REMEDY}" if absent else None


def firmware() -> Path:
    """MicroPython for a Pico with the C core in it, as the port's own Makefile has it built."""
    why = missing()
    if why is not None:
        what, _, remedy = why.partition(": ")
        raise DeviceToolMissing(what, remedy)
    root = sources.require()
    module = write_module(build_folder("micropython-module")) / "adamb" / "micropython.cmake"
    # Modules of micropython-lib are for sensors; and without picotool there is a .bin, but no .uf2.
    manifest = build_folder("micropython-pico") / "manifest.py"
    manifest.write_text('freeze("$(PORT_DIR)/modules")\n')
    cmake = {"PICO_NO_PICOTOOL": 1, "MICROPY_LIB_DIR": root / "lib", "Python3_EXECUTABLE": sys.executable}
    options: list[str | Path] = [
        "-C", root / "ports" / "rp2", "BOARD=RPI_PICO", f"USER_C_MODULES={module}",
        f"FROZEN_MANIFEST={manifest}",
    ]  # fmt: skip
    arguments = " ".join(f"-D{name}={value}" for name, value in cmake.items())
    return sources.built("pico", "firmware.elf", root, options, native=True, given={"CMAKE_ARGS": arguments})


def fetch() -> None:
    """Debian's packages of the libraries, unpacked into sources that came from Debian."""
    root = sources.find_sources()
    if root is None or build_folder("micropython") not in root.parents:
        raise DeviceToolMissing("Debian's sources of MicroPython", REMEDY)
    folder = build_folder("micropython-pico")
    apt = sources.apt(SUITE, folder)
    sources.run(*apt, "download", "pico-sdk-source", "tinyusb-source", folder=folder)
    sources.run(*apt, "source", "--download-only", "mbedtls", folder=folder)
    for package in folder.glob("*.deb"):
        sources.run("dpkg-deb", "-x", package, folder / "unpacked")
    made = folder / "unpacked" / "usr" / "src"
    (made / "mbedtls").mkdir(parents=True, exist_ok=True)
    archive = next(folder.glob("mbedtls_*.orig.tar.*"))
    sources.run("tar", "xf", archive, "-C", made / "mbedtls", "--strip-components", "1")
    (made / "pico-sdk" / "README.md").touch()  # by which the port looks for it
    for name in LIBRARIES:
        place = root / "lib" / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(made / name, place, symlinks=True)


if __name__ == "__main__":
    try:
        if missing() is not None:
            fetch()
        print(missing() or "everything for a Pico's firmware is there")
    except AdambError as problem:  # the tests that need it are skipped, and say so
        print(problem)
