"""Optional parts and programs of others: what is missing or fails is one line, what they make is made once."""

from __future__ import annotations

import hashlib
import importlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from adamb.firmware_model.host.errors import AdambError

INSTALL = "pip install adamb[device], or make device in a checkout"


class DeviceToolMissing(AdambError):
    """A package or program that only device work needs is not installed."""

    def __init__(self, what: str, remedy: str = INSTALL) -> None:
        self.what, self.remedy = what, remedy
        super().__init__(f"{what} is missing: {remedy}")


class DeviceToolFailed(AdambError):
    """A device tool was run and failed; its own words follow."""

    def __init__(self, what: str, output: str) -> None:
        self.what, self.output = what, output
        super().__init__(f"{what} failed: {output.strip() or 'no output'}")


def need(module: str, what: str, remedy: str = INSTALL) -> ModuleType:
    """Import an optional module or name the install that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DeviceToolMissing(f"{what} (Python package {module.split('.')[0]})", remedy) from error


def run_tool(
    what: str,
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """The output of a program; what it says when it fails is the error. `environment` is added to that of ours."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True, text=True, cwd=folder, timeout=seconds, env={**os.environ, **(environment or {})},
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise DeviceToolFailed(what, f"no end after {seconds:.0f} s") from error
    except OSError as error:
        raise DeviceToolFailed(what, str(error)) from error
    if done.returncode != 0:
        raise DeviceToolFailed(what, done.stderr or done.stdout)
    return done.stdout


def build_folder(*parts: str) -> Path:
    """The folder of compiled images and downloaded packages.

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


def key(*parts: str | bytes) -> str:
    """A name for what follows from these parts."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update((part.encode() if isinstance(part, str) else part) + b"\0")
    return sha.hexdigest()[:20]


def made_once(target: Path, make: Callable[[Path], object]) -> Path:
    """The file, which `make` writes when it is not there yet.

    It is written in a folder of its own and moved: two processes that ask at once never read half a file.
    """
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            made = Path(scratch) / target.name
            make(made)
            made.replace(target)
    return target
