"""Boards by name: one TOML profile each, with the public document behind every figure.

`load_board("rp2040")` reads a profile of this package, `load_board("./mine.toml")` your own; both pass the
same checks, and a mistake names the file, the key and what was expected there.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from adamb.budgets.boards.profile import BASES, FIGURES, RUNTIMES, Board, Figure, read_profile
from adamb.budgets.errors import InputError, nearest

__all__ = [
    "BASES",
    "FIGURES",
    "FOLDER",
    "RUNTIMES",
    "Board",
    "Figure",
    "board_names",
    "load_board",
    "read_profile",
]

FOLDER = Path(__file__).parent


@cache
def board_names() -> tuple[str, ...]:
    """Our own profiles, smallest RAM first.

    >>> board_names()[0]
    'uno'
    """
    return tuple(sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda n: (_ours(n).ram_bytes, n)))


@cache
def _ours(name: str) -> Board:
    return read_profile(FOLDER / f"{name}.toml")


def load_board(name_or_path: str | Path) -> Board:
    """One of our boards by name or alias, or your own profile by path (with a `/` or ending in .toml).

    >>> load_board("microbit").name
    'nrf51'
    """
    text = str(name_or_path).strip()
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text or "\\" in text:
        return read_profile(Path(text))
    wanted = text.lower().replace("_", "-")
    known: dict[str, str] = {}
    for name in board_names():
        known |= dict.fromkeys((name, *_ours(name).aliases), name)
    if wanted in known:
        return _ours(known[wanted])
    limit = f"unknown, {nearest(wanted, known)}; your own profile is given as a path to a .toml file"
    raise InputError("board", str(name_or_path), limit)
