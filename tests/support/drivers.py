"""The C drivers of tests/fault: how they are compiled; orders.c, with a call before each load and store of the core."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from support.paths import CORE, FAULT

FLAGS = ["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{CORE}"]
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class Driver:
    """The compiled driver; a call returns what it printed."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def __call__(self, *arguments: object) -> str:
        command = [str(self.program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        print(done.stdout, done.stderr, file=sys.stderr)  # standard output is for tables
        assert done.returncode == 0, f"{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
        return done.stdout


@cache
def core_objects(folder: Path, flags: tuple[str, ...]) -> list[Path]:
    """The core, compiled in a folder of its own."""
    place = folder / "-".join(["core", *flags])
    place.mkdir(parents=True, exist_ok=True)
    for source in CORE.glob("*.c"):
        compile_with_gcc(*FLAGS, *flags, "-c", source, "-o", place / f"{source.stem}.o")
    return sorted(place.glob("*.o"))


def compiled(folder: Path, name: str, *flags: str) -> Driver:
    """The driver of that name, linked with the core; both compiled with these flags."""
    program = folder / "-".join([name, *flags])
    objects = core_objects(folder, flags)
    compile_with_gcc(*FLAGS, "-std=gnu99", *flags, FAULT / f"{name}.c", *objects, "-o", program)
    return Driver(program)


def compile_with_gcc(*arguments: object) -> None:
    done = subprocess.run(["gcc", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


STEPS, SEED, LIMIT = 2000, 7, 60
INSTRUMENTED = ("gcc", "-std=c99", "-O0", "-w", "-fsanitize=thread")
FENCE = re.compile(r"^#define ADAMB_COMPILER_BARRIER\(\) __asm__.*$", re.MULTILINE)
CALL = "void orders_fence(void);\n#define ADAMB_COMPILER_BARRIER() orders_fence()"


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
