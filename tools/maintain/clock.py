"""The benchmark of the clock: `make clock` places and routes again, and renews the tables of docs/chip.md.

A clock is what the tools of today reach, so no test compares it. This says whether it is what is wanted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from adamb.firmware_model.rtl.shape import EngineShape
from adamb.tools.chip import synthesis
from adamb.tools.maintain.documents import run

DOCUMENT = Path("docs") / "chip.md"
SHOWN = re.compile(
    r"^```\n(?P<command>adamb chip [^\n]+)\n```\n\n```text\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
WANTED_MHZ = {"ice40": 60, "ecp5": 100}
SHAPES = {"any": EngineShape(2048), "1+1": EngineShape(2048, d_s=1, d_a=1)}


def renewed(text: str, printed: Callable[[str], str] = run) -> str:
    """A document with what its commands print now."""

    def fresh(match: re.Match[str]) -> str:
        command = match["command"]
        return f"```\n{command}\n```\n\n```text\n{printed(f'{command} --quiet')}```"

    return SHOWN.sub(fresh, text)


def main(arguments: Sequence[str]) -> int:
    """Exit code 1 if an engine is slower than wanted."""
    document = Path(arguments[0]) if arguments else DOCUMENT
    slower = False
    for family, wanted in WANTED_MHZ.items():
        for name, shape in SHAPES.items():
            size = synthesis.measure(family, shape)
            print(f"{size.family}, engine {name}: {size.mhz} MHz, wanted {wanted}", flush=True)
            slower = slower or size.mhz < wanted
    document.write_text(renewed(document.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{document}: renewed")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
