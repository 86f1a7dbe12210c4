"""Campaigns: `make campaigns ONLY=NAME ARGS="--help"` is `python tests NAME --help`; without a name, all marked tests.

Python puts the folder that it runs in front of its path, so `support` is found with nothing to set.
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = {
    "marked": "the tests that are marked as a campaign: every promise again, on more seeds, machines and problems",
    "chip": "the simulated chip: proof, place and route, Verilator",
    "native": "the C core in MicroPython, built from its sources",
    "floor": "some of the tests with the lowest versions that pyproject.toml allows",
    "prove": "what the C core does for any content of a block, with CBMC",
    "fuzz": "malformed inputs; --engine libfuzzer is the search of clang",
    "soak": "a million episodes with power cuts",
    "mutants": "small changes of the core: is each noticed? --since REVISION takes the lines changed since then",
    "flips": "a hundred thousand flipped bits of blocks in use: how many are found",
    "lockstep": "the C core and its Python twin side by side, word by word",
    "replay": "recorded streams on an implementation, and where it first differs",
    "trajectories": "a digest of every trajectory that a seed decides",
    "release": "tests and campaigns, their figures recorded",
}
SUITES = ("marked", "chip", "native", "floor")
"""Functions of support/suites.py; each other name is a module with a main of its own."""


def main() -> int:
    name = sys.argv.pop(1) if len(sys.argv) > 1 else "marked"
    if name not in NAMES:
        print("usage: make campaigns [ONLY=NAME] [ARGS=...]; a NAME is one of")
        print(*(f"  {each:14}{what}" for each, what in NAMES.items()), sep="\n")
        return 0 if name == "list" else 2
    sys.argv[0] = f"tests {name}"
    if name in SUITES:
        code: int = getattr(import_module("support.suites"), name)(sys.argv[1:])
        return code
    return int(import_module(f"support.{name}").main() or 0)


if __name__ == "__main__":
    sys.exit(main())
