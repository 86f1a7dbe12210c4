"""The C core as MicroPython's module `adamb`: the files that build it, into a firmware or as a .mpy file."""

from __future__ import annotations

from pathlib import Path

from adamb.tools.device.emulator import core

FOLDER = Path(__file__).resolve().parent / "module"
RUNTIME = "adamb_module_runtime.c"
"""What only a .mpy file brings along: a firmware has it."""
BUILD_FILES = ("micropython.mk", "micropython.cmake", "Makefile")
PLACE = "native/adamb"
"""In an export; the folder above it is what MicroPython calls USER_C_MODULES."""


def module_sources() -> list[Path]:
    return sorted(FOLDER.glob("*.c"))


def _values() -> dict[str, str]:
    """What the build files take."""
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
