"""Provenance of numbers: versions of everything they depend on, and the command that made them."""

from __future__ import annotations

import platform
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import Any


@cache
def version(package: str = "adamb") -> str:
    """Of an installed package, else ImportError. The import is slow, and `adamb --help` needs no version."""
    from importlib import metadata

    return metadata.version(package)


def spec_hash() -> int | None:
    """Hash of the number formats and layout the core was generated from; None where there is no core."""
    try:
        from adamb.firmware_model import _spec
    except ImportError:
        return None
    return getattr(_spec, "SPEC_HASH", None)


def versions(*packages: str) -> dict[str, Any]:
    """Of this package, its core, Python, the system and other packages."""
    found: dict[str, Any] = {
        "adamb": version(),
        "core_spec_hash": spec_hash(),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    return found | {name: version(name) for name in packages}


def typed_command() -> str:
    """The command line as it was typed, as far as a program can know."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
