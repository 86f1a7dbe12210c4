"""Shared by both kinds of port: templates, the configuration, files that are written whole or not at all."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from adamb.budgets.controller import BLOCK_BYTES_MAX, MORE_THAN_A_BLOCK
from adamb.budgets.errors import InputError
from adamb.firmware_model.snapshot import AT_UNITS, get16
from adamb.tools import outputs
from adamb.tools.device.port import sbom
from adamb.tools.device.settings import DeviceSettings

LARGEST_DEFAULT_BYTES = 16 * 1024
INSTALLED = "licenses/LICENSE"
TEMPLATES = Path(__file__).resolve().parent / "templates"
PLANTS = tuple(sorted(path.name.removesuffix(".py.in") for path in TEMPLATES.glob("plants/*.py.in")))
"""The plants of host_sim/problems/plant, each with a loop in C and in Python."""
PLANT_PROBLEM = "plant-"
_PLACE = re.compile(r"@([A-Z_]+)@")


@dataclass(frozen=True)
class PortJob:
    """What to write where, and the command line that asked for it (it goes into the generated files)."""

    settings: DeviceSettings
    block_bytes: int
    folder: Path
    command: str
    trained: bytes | None = None
    """The snapshot that the controller starts from."""
    plant: str = "heater"
    """What the control loop is for: one of PLANTS."""
    usermod: bool = False
    """With the C core as a module for MicroPython's build."""

    @property
    def block_words(self) -> int:
        return self.block_bytes // 2

    @property
    def required_bytes(self) -> int:
        """The least block: what the configuration needs to start, or what was trained needs to go on."""
        trained = 0 if self.trained is None else 8 * get16(self.trained, AT_UNITS)
        return max(2 * self.settings.required_words(), trained)

    def checked(self) -> PortJob:
        """Itself, or an error that says how many bytes the configuration needs, or can use."""
        needed = self.required_bytes
        if self.block_bytes < needed:
            of = "this configuration needs at least" if self.trained is None else "the trained block has"
            raise InputError("budget", self.block_bytes, f"{of} {needed} bytes")
        if self.block_bytes > BLOCK_BYTES_MAX:
            raise InputError("budget", self.block_bytes, MORE_THAN_A_BLOCK)
        return self

    def dimensions(self) -> str:
        s = self.settings
        return f"{s.d_s} state and {s.d_a} action coordinate{'s' if s.d_a > 1 else ''}"

    def more_coordinates(self) -> str:
        """What is to be added to the loops, whose plants have a sensor and an actuator; nothing for 1+1."""
        more = [f"`state[{i}]`" for i in range(1, self.settings.d_s)]
        more += [f"`action[{i}]`" for i in range(1, self.settings.d_a)]
        if not more:
            return ""
        return (
            "\n\nThe plants of this export have one sensor and one actuator, and its loops leave the rest of "
            f"a state at 0.\nAdd yours to the loop: {', '.join(more)}."
        )


def installed_version() -> str:
    try:
        return version("adamb")
    except PackageNotFoundError:
        return "0"


def licence() -> bytes:
    """The text of the licence: beside the packages in a checkout, beside their metadata where installed."""
    path = Path(__file__).resolve().parents[3] / "LICENSE"
    text = path.read_text(encoding="utf-8") if path.is_file() else distribution("adamb").read_text(INSTALLED)
    if not text:
        raise InputError("LICENSE", str(path), "is missing; an export without its licence is not written")
    return text.encode()


def complete(name: str, made: dict[str, bytes]) -> dict[str, bytes]:
    """An export with what belongs to each: the specification, the licence, the bill of materials."""
    specification = Path(__file__).resolve().parents[3] / "firmware_model" / "SPEC.md"
    whole = made | {"SPEC.md": specification.read_bytes(), "LICENSE": licence()}
    return whole | {sbom.NAME: sbom.bill(whole, name, installed_version())}


def plants(chosen: str, suffix: str) -> dict[str, bytes]:
    """The chosen plant as plant.h or plant.py, the file that the loop takes, and all of them in a folder."""
    names = [f"plants/{name}{suffix}" for name in PLANTS]
    found = {name: (TEMPLATES / f"{name}.in").read_bytes() for name in names}
    return {f"plant{suffix}": found[f"plants/{chosen}{suffix}"], **found}


def suitable_block(available: int, needed: int) -> int:
    """A quarter of what a board leaves, as a power of two: the rest is for the program around it."""
    quarter = 1 << max(0, int(math.log2(max(1, available) / 4)))
    return max(min(LARGEST_DEFAULT_BYTES, quarter), needed)


def fill(template: str, values: dict[str, object]) -> str:
    """A template with every @NAME@ replaced; a name without a value is our mistake and stops the port."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")

    def replace(match: re.Match[str]) -> str:
        return str(values[match.group(1)])

    return _PLACE.sub(replace, text)


def refuse_folder(folder: Path, *, force: bool) -> None:
    """Stop before any work when the folder cannot be written: it is a file, or holds something already."""
    if folder.exists() and not folder.is_dir():
        raise InputError("out", str(folder), "is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise InputError("out", str(folder), "is not empty; choose another place or add --force")


def write_folder(folder: Path, files: dict[str, bytes], *, force: bool) -> None:
    """Write all files into a folder that `refuse_folder` lets pass."""
    refuse_folder(folder, force=force)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        outputs.write_atomic(folder / name, content)
