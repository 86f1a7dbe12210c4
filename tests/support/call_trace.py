"""Which of our files a command runs through: `python tests/support/call_trace.py run oil-laplace` prints them."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[2])


class CallTrace:
    """Our files in which a function ran, in the order of their first call; what imports run is left out."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def __call__(self, frame, event, argument) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(ROOT) and "site-packages" not in path:
            name = Path(path).relative_to(ROOT).as_posix()
            if name not in self.files and not _importing(frame):
                self.files.append(name)


def _importing(frame) -> bool:
    """Whether the body of a module or a class is being run, here or further up to the command's `main`."""
    while frame is not None and frame.f_code.co_name != "main":
        if not frame.f_code.co_flags & inspect.CO_NEWLOCALS:
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    from adamb.tools.cli import main

    trace = CallTrace()
    sys.setprofile(trace)
    code = main(sys.argv[1:])
    sys.setprofile(None)
    print(json.dumps({"files": trace.files, "loaded": sorted(sys.modules)}), file=sys.stderr)
    sys.exit(code)
