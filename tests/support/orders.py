"""The core with a call before each of its loads and stores; tests/fault/orders.c tries their other orders."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support.drivers import FLAGS
from support.paths import CORE, FAULT

STEPS, SEED, LIMIT = 2000, 7, 60
INSTRUMENTED = ("gcc", "-std=c99", "-O0", "-w", "-fsanitize=thread")
FENCE = re.compile(r"^#define ADAMB_IN_ORDER\(\) __asm__.*$", re.MULTILINE)
CALL = "void orders_fence(void);\n#define ADAMB_IN_ORDER() orders_fence()"


class Orders:
    """Objects of the sound core; a core with changed files is linked with the others of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "sound"
        self._compile(self.folder, {path.name: path.read_text() for path in CORE.glob("*.c")}, {})
        driver = ["gcc", *FLAGS, "-O2", "-c", str(FAULT / "orders.c"), "-o", str(self.folder / "orders.o")]
        subprocess.run(driver, check=True)

    def run(self, folder: Path, changed: dict[str, str]) -> tuple[int, str]:
        """Exit code and line of the driver; `changed` has the texts of files of the core by their names."""
        header = any(name.endswith(".h") for name in changed)
        sources = {path.name: path.read_text() for path in CORE.glob("*.c")} if header else {}
        self._compile(folder, sources | changed, changed)
        objects = {path.name: path for path in sorted(self.folder.glob("*.o"))}
        objects |= {path.name: path for path in sorted(folder.glob("*.o"))}
        subprocess.run(["gcc", *objects.values(), "-o", folder / "orders"], check=True)
        command = [str(folder / "orders"), str(STEPS), str(SEED)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return 1, f"BROKEN after {LIMIT} s it had no end"
        return done.returncode, done.stdout

    @staticmethod
    def _compile(folder: Path, texts: dict[str, str], changed: dict[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for path in CORE.glob("*.h"):
            (folder / path.name).write_text(changed.get(path.name, path.read_text()))
        internal = folder / "adamb_internal.h"
        text, many = FENCE.subn(CALL, internal.read_text())
        assert many == 1, "the fence is defined in another way now"
        internal.write_text(text)
        for name, text in texts.items():
            if name.endswith(".c"):
                (folder / name).write_text(text)
                target = (folder / name).with_suffix(".o")
                subprocess.run([*INSTRUMENTED, "-c", folder / name, "-o", target], check=True)
