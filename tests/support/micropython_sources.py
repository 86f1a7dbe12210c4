"""MicroPython's sources for the tests, from Debian where nobody named them, and a Pico's firmware built from them.

Debian's source packages come through a configuration of their own that leaves the system as it is.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from adamb.firmware_model.host.errors import AdambError
from adamb.tools.device.extras import DeviceToolMissing, build_folder
from adamb.tools.device.micropython.builds import (
    CROSS,
    built,
    find_sources,
    missing,
    require,
    run,
    version,
    write_module,
)

CROSS_CPP = "arm-none-eabi-g++"
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def apt(suite: str, folder: Path) -> list[str]:
    """apt-get for a suite of Debian, with lists of its own: the system stays as it is."""
    if shutil.which("apt-get") is None or not KEYS.exists():
        raise DeviceToolMissing("apt-get with Debian's keys", "get MicroPython's sources, and name them in MPY_DIR")
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


def fetch() -> Path:
    """Debian's source package, unpacked in the build folder."""
    folder = build_folder("micropython")
    run(*apt("sid", folder), "source", "--download-only", "micropython", folder=folder)
    archive = sorted(folder.glob("micropython_*.orig.tar.xz"))[-1]
    run("tar", "xf", archive, "-C", folder)
    found = find_sources()
    assert found is not None, "the archive holds MicroPython"
    return found


#: What shows that a library is there, by its folder in `lib`.
LIBRARIES = {"pico-sdk": "pico_sdk_init.cmake", "tinyusb": "src/tusb.c", "mbedtls": "library/aes.c"}
SUITE = "trixie"
"""Of Debian; its SDK is of the version that MicroPython 1.26 asks for, and a later one does not fit."""
PICO_REMEDY = (
    "in a checkout of MicroPython make -C ports/rp2 submodules, with Debian's sources "
    "make campaigns ONLY=native in one of AdaMB"
)


def pico_missing() -> str | None:
    """The reason why no firmware can be built here, or None."""
    why = missing(CROSS, CROSS_CPP, "cmake")
    if why is not None:
        return why
    root = find_sources()
    assert root is not None
    absent = [name for name, file in LIBRARIES.items() if not (root / "lib" / name / file).is_file()]
    return f"{', '.join(absent)} in MicroPython's lib: {PICO_REMEDY}" if absent else None


def pico_firmware() -> Path:
    """MicroPython for a Pico with the C core in it, as the port's own Makefile has it built."""
    why = pico_missing()
    if why is not None:
        what, _, remedy = why.partition(": ")
        raise DeviceToolMissing(what, remedy)
    root = require()
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
    return built("pico", "firmware.elf", root, options, native=True, given={"CMAKE_ARGS": arguments})


def fetch_pico() -> None:
    """Debian's packages of the libraries, unpacked into sources that came from Debian."""
    root = find_sources()
    if root is None or build_folder("micropython") not in root.parents:
        raise DeviceToolMissing("Debian's sources of MicroPython", PICO_REMEDY)
    folder = build_folder("micropython-pico")
    fetching = apt(SUITE, folder)
    run(*fetching, "download", "pico-sdk-source", "tinyusb-source", folder=folder)
    run(*fetching, "source", "--download-only", "mbedtls", folder=folder)
    for package in folder.glob("*.deb"):
        run("dpkg-deb", "-x", package, folder / "unpacked")
    made = folder / "unpacked" / "usr" / "src"
    (made / "mbedtls").mkdir(parents=True, exist_ok=True)
    archive = next(folder.glob("mbedtls_*.orig.tar.*"))
    run("tar", "xf", archive, "-C", made / "mbedtls", "--strip-components", "1")
    (made / "pico-sdk" / "README.md").touch()  # by which the port looks for it
    for name in LIBRARIES:
        place = root / "lib" / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(made / name, place, symlinks=True)


def fetch_all() -> str:
    """The sources, and a Pico's libraries where they fit; what is there, in words."""
    place = find_sources() or fetch()
    try:
        if pico_missing() is not None:
            fetch_pico()
        pico = pico_missing() or "everything for a Pico's firmware is there"
    except AdambError as problem:  # the tests that need it are skipped, and say so
        pico = str(problem)
    return f"{place}: MicroPython {version(place)}\n{pico}"
