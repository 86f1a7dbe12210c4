"""What make and the begin lines of documents run: `python -m adamb.tools.maintain NAME`."""

from __future__ import annotations

import sys
from importlib import import_module

PRINTS = {
    "quick": "tables", "results": "tables", "sizes": "tables", "comparison": "tables", "in-short": "tables",
    "budgets": "tables", "limits": "limits", "worked-example": "tables", "fresher-q": "tables",
}  # fmt: skip
"""Name of a table and the module that has it."""
RUNS = {
    "core": "maintain.core",
    "analyse": "maintain.analyse",
    "lock": "maintain.lock",
    "release": "maintain.release_files",
    "site": "maintain.site",
    "size": "maintain.size",
    "costs": "device.micropython.costs",
    "parts": "measure.ablation",
}
"""Name of a module's `main(arguments)`."""


def main(arguments: list[str]) -> int:
    name, *others = arguments or [""]
    if name in PRINTS:
        module = import_module(f"adamb.tools.maintain.{PRINTS[name]}")
        print(getattr(module, "table" if name == "limits" else name.replace("-", "_"))(*others))
        return 0
    if name in RUNS:
        return int(import_module(f"adamb.tools.{RUNS[name]}").main(others) or 0)
    print(f"one of {', '.join([*PRINTS, *RUNS])}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
