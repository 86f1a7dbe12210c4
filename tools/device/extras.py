"""Optional parts: a command that needs one says which install brings it, instead of a traceback."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType

from adamb.budgets.errors import AdambError

INSTALL = "pip install adamb[device], or make device in a checkout"


class DeviceToolMissing(AdambError):
    """A package or program that only device work needs is not installed."""

    def __init__(self, what: str, remedy: str = INSTALL) -> None:
        self.what, self.remedy = what, remedy
        super().__init__(f"{what} is missing: {remedy}")


class DeviceToolFailed(AdambError):
    """A device tool ran and refused; its own words follow."""

    def __init__(self, what: str, output: str) -> None:
        self.what, self.output = what, output
        super().__init__(f"{what} failed: {output.strip() or 'no output'}")


def need(module: str, what: str, remedy: str = INSTALL) -> ModuleType:
    """Import an optional module or name the install that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DeviceToolMissing(f"{what} (Python package {module.split('.')[0]})", remedy) from error


def build_folder(*parts: str) -> Path:
    """Where compiled images and downloaded packages are kept.

    A checkout keeps them in its own build folder, so `make clean` clears them; an installed package has no
    such place and uses the user's cache. ADAMB_CACHE overrides both.
    """
    override = os.environ.get("ADAMB_CACHE")
    root = Path(__file__).resolve().parents[2]
    if override:
        base = Path(override)
    elif (root / "pyproject.toml").is_file():
        base = root / "build"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))) / "adamb"
    folder = base.joinpath("device", *parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
