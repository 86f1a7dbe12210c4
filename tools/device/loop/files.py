"""What a MicroPython target loads: the core as a board has it, and the target's side of the link."""

from __future__ import annotations

import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

from adamb.firmware_model import _spec
from adamb.tools.device.micropython.bytecode import compile_file
from adamb.tools.device.micropython.package import board_files, kept

LINK = "adamb_link"
MAIN = f"import {LINK}; {LINK}.main()"
_NUMBERS = re.compile(r"^from adamb\.firmware_model\._spec import .*$", re.MULTILINE)


@cache
def link_source() -> Path:
    """The link as a file that needs no module of numbers."""
    text = (Path(__file__).resolve().parent / "target" / "link.py").read_text(encoding="utf-8")
    numbers = f"LEARNER_HASH, SPEC_HASH = {_spec.LEARNER_HASH}, {_spec.SPEC_HASH}"
    changed, count = _NUMBERS.subn(numbers, text)
    assert count == 1, "link.py has the line that is replaced"
    return kept(f"{LINK}.py", changed.encode())


@cache
def target_files(kind: str, *, native: bool = False) -> dict[str, Path]:
    """Place below the folder of the loop -> host file, for `kind` py or mpy; the link alone to a C core."""
    core = {} if native else board_files(kind)
    found = {place.removeprefix("/lib/"): path for place, path in core.items()}
    return {**found, f"{LINK}.{kind}": _compiled_link() if kind == "mpy" else link_source()}


def lib_files(kind: str) -> dict[str, Path | bytes | str]:
    """The same below /lib, as the interpreter in node takes them."""
    return {f"/lib/{place}": path for place, path in target_files(kind).items()}


def _compiled_link() -> Path:
    source = link_source()
    target = source.with_suffix(".mpy")
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            made = compile_file(source, Path(scratch) / target.name, name=source.name)
            made.replace(target)
    return target


def copy_to(folder: Path, kind: str) -> None:
    """All files below a folder of this computer."""
    for place, path in target_files(kind).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / place)
