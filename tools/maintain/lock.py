"""Drop the hashes of locked files that no supported machine installs (`make lock`).

Supported: CPython 3.11 to 3.14 on Linux (glibc, x86-64 and aarch64) and macOS (arm64). Elsewhere pip finds no file
with a known hash and says so. A package without such a wheel keeps all its hashes.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ENTRY = re.compile(r"^\S+==.*\n(?: +--hash=.*\n)+", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:(\w+)")
INSTALLED = re.compile(
    r"-(?:(?:py2\.)?py3-none|cp3\d+-abi3(?:\.\w+)?|(cp31[1-4])-\1)"
    r"-(?:any|\S*manylinux\S*_(?:x86_64|aarch64)|macosx_\S*_(?:arm64|universal2))\.whl$"
)


def wheels(lock: Path) -> dict[str, str]:
    """Hash of each wheel that somebody installs → its name."""
    packages = tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]
    found = (wheel for package in packages for wheel in package.get("wheels", []))
    names = {wheel["hashes"]["sha256"]: wheel.get("name") or wheel["url"].rpartition("/")[2] for wheel in found}
    return {digest: name for digest, name in names.items() if INSTALLED.search(name)}


def shortened(entry: str, installed: dict[str, str]) -> str:
    head = entry.partition(" \\\n")[0]
    hashes = HASH.findall(entry)
    kept = [digest for digest in hashes if digest in installed] or hashes
    return " \\\n".join([head, *(f"    --hash=sha256:{digest}" for digest in kept)]) + "\n"


def main(arguments: list[str]) -> None:
    installed = wheels(Path(arguments[0]))
    for path in map(Path, arguments[1:]):
        text = path.read_text(encoding="utf-8")
        path.write_text(ENTRY.sub(lambda found: shortened(found[0], installed), text), encoding="utf-8")
