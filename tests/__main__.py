"""The commands of the tests: `python tests` lists them, `python tests NAME --help` tells more.

Python puts the folder that it runs in front of its path, so `support` is found with nothing to set.
"""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = {
    "replay": "recorded streams on an implementation, and where it first differs",
    "generate": "write the recorded streams from the exact reference (make vectors)",
    "courses": "a digest of every course that a seed decides",
    "flips": "flip bits of live blocks by the hundred thousand",
    "fuzzing": "malformed inputs (make fuzz)",
    "prove": "what the C core does for any content of a block (make prove)",
    "mutants": "small changes of the core: is each noticed? (make mutants)",
    "stores": "act between every two stores of observe: what it would choose",
    "coverage": "lines and branches of the C core that the drivers run, as pages",
}


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        lines = [f"  {name:10}{what}" for name, what in COMMANDS.items()]
        print("usage: python tests COMMAND ...", *lines, sep="\n")
        return 2
    name = sys.argv.pop(1)
    sys.argv[0] = f"tests {name}"
    return import_module(f"support.{name}").main()


if __name__ == "__main__":
    sys.exit(main())
