"""`python -m adamb.tools.maintain.waveform docs/decision.svg` draws the diagram of docs/chip.md again."""

from __future__ import annotations

import sys
from pathlib import Path

from adamb.tools.chip.wave import example

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(example(), encoding="utf-8")
