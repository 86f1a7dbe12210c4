"""MicroPython's unix build, where it is installed: `micropython` on the path, or what MICROPYTHON names."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Unix:
    program: str | None

    @property
    def needed(self) -> pytest.MarkDecorator:
        reason = "no micropython on the path (Debian: apt-get install micropython) or in MICROPYTHON"
        return pytest.mark.skipif(self.program is None, reason=reason)


UNIX = Unix(shutil.which(os.environ.get("MICROPYTHON", "micropython")))
