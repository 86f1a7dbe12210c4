"""Shared by both kinds of port: templates, the configuration, files that are written whole or not at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from adamb.budgets.errors import InputError
from adamb.tools import outputs
from adamb.tools.device.settings import Settings

TEMPLATES = Path(__file__).resolve().parent / "templates"
_PLACE = re.compile(r"@([A-Z_]+)@")


@dataclass(frozen=True)
class Job:
    """What to write where, and the command line that asked for it (it goes into the generated files)."""

    settings: Settings
    block_bytes: int
    folder: Path
    command: str

    @property
    def block_words(self) -> int:
        return self.block_bytes // 2

    def checked(self) -> Job:
        """Itself, or an error that says how many bytes the configuration needs."""
        needed = 2 * self.settings.required_words()
        if self.block_bytes < needed:
            raise InputError("budget", self.block_bytes, f"this configuration needs at least {needed} bytes")
        return self

    def dimensions(self) -> str:
        s = self.settings
        return f"{s.d_s} state and {s.d_a} action coordinate{'s' if s.d_a > 1 else ''}"


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
