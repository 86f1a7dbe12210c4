"""Whole programs for other processors, run by QEMU: tests/device/whole.c, the core, drivers of tests/fault.

The compiler is Debian's for that processor, the emulator Debian's qemu-user. Where there is no such compiler
`make campaigns` takes zig, which compiles a C library first: a minute, once. A program is kept by what it is
made of, so that only a change compiles it again.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from adamb.firmware_model.host.binding import FIELDS
from adamb.tools.device.extras import build_folder
from support.paths import CORE, FAULT, TESTS

DRIVERS = ("driver", "edges", "flips", "long_run", "soak", "store_driver")
FLAGS = ("-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-DPEAK_KIB=0", f"-I{FAULT}")
HOST = "this computer"
BY_ZIG = "ADAMB_MACHINES_BY_ZIG"
"""Set by `make campaigns`."""


@dataclass(frozen=True)
class Foreign:
    """The names of a processor: QEMU's, of Debian's compiler (none for riscv32), and zig's."""

    emulator: str
    gcc: str
    zig: str


FOREIGN = {
    "s390x": Foreign("qemu-s390x", "s390x-linux-gnu-gcc", "s390x-linux-musl"),
    "powerpc": Foreign("qemu-ppc", "powerpc-linux-gnu-gcc", "powerpc-linux-musleabi"),
    "mips": Foreign("qemu-mips", "mips-linux-gnu-gcc", "mips-linux-musleabi"),
    "i386": Foreign("qemu-i386", "i686-linux-gnu-gcc", "x86-linux-musl"),
    "riscv32": Foreign("qemu-riscv32", "", "riscv32-linux-musl"),
}


class Missing(Exception):
    """What must be installed for a program to be built or run."""


def emulator(name: str) -> list[str]:
    """The beginning of a command that runs a program of that processor."""
    if name == HOST:
        return []
    wanted = FOREIGN[name].emulator
    found = shutil.which(wanted) or shutil.which(f"{wanted}-static")
    if found is None:
        raise Missing(f"needs {wanted}: apt-get install qemu-user")
    return [found]


@cache
def _usable(gcc: str) -> list[str]:
    """The compiler, if it is there and has a C library; else nothing."""
    found = shutil.which(gcc) if gcc else None
    if found is None:
        return []
    command = [found] if gcc == "gcc" else [found, "-static"]
    probe = [*command, "-x", "c", "-", "-o", os.devnull]
    text = '#include <stdio.h>\nint main(void) { return puts(""); }\n'
    return [] if subprocess.run(probe, input=text, capture_output=True, text=True).returncode else command


def compiler(name: str) -> list[str]:
    """The beginning of a command that compiles for that processor."""
    gcc = "gcc" if name == HOST else FOREIGN[name].gcc
    found = _usable(gcc)
    if found:
        return found
    if name == HOST:
        raise Missing("needs gcc")
    if not os.environ.get(BY_ZIG):
        raise Missing(f"needs {gcc or 'a compiler of Debian'} and its C library, or zig: make campaigns")
    if importlib.util.find_spec("ziglang") is None:
        raise Missing("needs zig: pip install adamb[device]")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", FOREIGN[name].zig]
    return [*zig, "-static", "-fno-sanitize=all"]


def _compile(command: list[str], core: Path, target: Path) -> None:
    """One object for each file that has flags of its own; the rest with the program."""
    zig = str(build_folder("zig"))
    environment = os.environ | {"ZIG_LOCAL_CACHE_DIR": zig, "ZIG_GLOBAL_CACHE_DIR": zig}
    own = {FAULT / f"{name}.c": f"-Dmain={name}_main" for name in DRIVERS}
    own[core / "adamb_pool.c"] = "-Dadamb_pool_alloc=real_pool_alloc"
    rest = [path for path in sorted(core.glob("*.c")) if path not in own]
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made, flags = f"{folder}/{target.name}", [*FLAGS, f"-I{core}"]
        parts = [
            [*flags, flag, "-c", str(path), "-o", f"{folder}/{path.stem}.o"] for path, flag in own.items()
        ]
        objects = [part[-1] for part in parts]
        whole = [*flags, *map(str, [*rest, TESTS / "device" / "whole.c"]), *objects, "-o", made]
        for part in [*parts, whole]:
            done = subprocess.run([*command, *part], capture_output=True, text=True, env=environment)
            assert done.returncode == 0, f"{command[0]}:\n{done.stderr}"
        os.replace(made, target)


@cache
def program(name: str, core: Path = CORE) -> Path:
    """The program for a processor, or for this computer; `core` may be a copy with a fault planted in it."""
    command = compiler(name)
    sources = [*core.glob("*.[ch]"), *FAULT.glob("*.[ch]"), TESTS / "device" / "whole.c"]
    content = hashlib.sha256(repr([command, FLAGS, Path(command[0]).stat().st_mtime]).encode())
    for path in sorted(sources):
        content.update(path.read_bytes())
    kind, folder = name.replace(" ", "-"), build_folder("machines", "programs")
    target = folder / f"{kind}-{content.hexdigest()[:16]}"
    with (folder / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test processes want the same program
        if not target.is_file():
            _compile(command, core, target)
    return target


def start(
    name: str, *arguments: object, given: str = "", core: Path = CORE
) -> subprocess.CompletedProcess[str]:
    """Run the program with these arguments and this input."""
    command = [*emulator(name), str(program(name, core)), *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=600)


def output(name: str, *arguments: object, given: str = "") -> str:
    done = start(name, *arguments, given=given)
    assert done.returncode == 0, f"{name}: {arguments}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def begin(config: Any, words: int) -> str:
    """The line that makes a controller; `config` has the fields of adamb_config."""
    numbers = [*(config[name] for name in FIELDS), *config["thresholds"], words]
    return " ".join(["init", *map(str, numbers)])


def orders(path: Path) -> tuple[list[str], list[str]]:
    """A recorded stream as lines for `obey`, and the answers that are recorded."""
    lines, answers = [], []
    for row in map(json.loads, path.read_text().splitlines()):
        if isinstance(row, dict):
            lines.append(begin(row["config"], row["words"]))
            answers.append(f"0 {row['digest']}")
            continue
        kind, *rest = row
        given = rest[: {"act": 2, "observe": 3, "end": 0, "run": 2}[kind]]
        flat = [n for one in given for n in (one if isinstance(one, list) else [one])]
        lines.append(" ".join([kind, *map(str, flat)]))
        if kind == "act":
            answers.append(" ".join(map(str, [rest[2], *rest[3]])))
        else:
            answers.append(f"0 {rest[2]}" if kind == "run" else " ".join(map(str, rest[len(given) :])))
    return lines, answers
