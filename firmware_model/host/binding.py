"""The C core for Python on a host: `lib` and `ffi`, and a Controller with the interface of the Python twin.

The extension module is used where it was built. Without Python.h a plain shared library is compiled on first
use, by the system's compiler or by the one in the `ziglang` wheel, and loaded as it is. Not for boards.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.host import StaleCore


def _compilers() -> list[list[str]]:
    found = [[name] for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name and shutil.which(name)]
    return [*found, [sys.executable, "-m", "ziglang", "cc"]]


def compile_library(sources: Sequence[Path], target: Path, flags: Sequence[str]) -> None:
    """Compile C files into a shared library with the first compiler that can; ImportError when none can."""
    problems = []
    for compiler in _compilers():
        command = [*compiler, "-shared", "-fPIC", *flags, *map(str, sources), "-o", str(target)]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode == 0:
            return
        problems.append(f"{' '.join(compiler)}: {(run.stderr.strip().splitlines() or ['failed'])[-1]}")
    raise ImportError("no compiler could build the C core: " + "; ".join(problems))


def _build_library() -> Path:
    """Compile the core into a shared library in the user's cache; the name carries a hash of the sources."""
    from adamb.firmware_model.host import _binding_build as build

    texts = [path.read_bytes() for path in (*build.SOURCES, *sorted((build.FIRMWARE / "c").glob("*.h")))]
    folder = Path(os.environ.get("ADAMB_CACHE") or Path.home() / ".cache" / "adamb")
    library = folder / f"core-{hashlib.sha256(b''.join(texts)).hexdigest()[:16]}.so"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    includes = [f"-I{build.FIRMWARE / name}" for name in build.FOLDERS]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        target = Path(scratch) / library.name
        compile_library(build.SOURCES, target, [*build.FLAGS, *includes])
        os.replace(target, library)
    return library


def _load() -> tuple[Any, Any, str]:
    if not os.environ.get("ADAMB_PLAIN_LIBRARY"):
        try:
            extension = import_module("adamb.firmware_model.host._core")
            return extension.ffi, extension.lib, "extension"
        except ImportError:
            pass
    from cffi import FFI

    from adamb.firmware_model.host import _binding_build as build

    ffi = FFI()
    ffi.cdef(build.declarations())
    return ffi, ffi.dlopen(str(_build_library())), "plain library"


ffi, lib, loaded_as = _load()
_HASHES = {"ADAMB_SPEC_HASH": _spec.SPEC_HASH, "ADAMB_LEARNER_HASH": _spec.LEARNER_HASH}
if loaded_as == "extension" and any(getattr(lib, name, None) != hash for name, hash in _HASHES.items()):
    raise StaleCore(
        "the compiled core and _spec.py come from different specifications; make .venv/.installed builds it again"
    )

FIELDS = (
    "d_s",
    "d_a",
    "horizon",
    "mode",
    "split_counts",
    "share",
    "when_full",
    "random_action",
    "detect",
    "auto_bonus",
    "bonus",
    "seed",
)


def c_config(config: Any) -> Any:
    """The C structure for a configuration object of the Python twin."""
    out = ffi.new("adamb_config *", {name: getattr(config, name) for name in FIELDS})
    for level, value in enumerate(config.thresholds):
        out.thresholds[level] = value
    return out


def required_words(config: Any) -> int:
    """The smallest block that init accepts, or a negative code."""
    return int(lib.adamb_required_words(c_config(config)))


class Controller:
    """A C controller in an array('H') of its own; the same calls and codes as the Python twin's.

    >>> from adamb.firmware_model import Config
    >>> controller, action = init(Config(), array("H", bytes(4096))), array("H", [0])
    >>> controller.act(0, [1000], action), list(action), controller.check()
    (0, [32768], 0)
    """

    def __init__(self, block: array) -> None:
        self.w = block
        self._w = ffi.from_buffer("uint16_t[]", block)
        self._state = ffi.new("uint16_t[3]")
        self._action = ffi.new("uint16_t[3]")

    def act(self, h: int, state: Any, action: Any) -> int:
        for i, x in enumerate(state):
            self._state[i] = x
        code = int(lib.adamb_act(self._w, h, self._state, self._action))
        if code == 0:
            for i in range(len(action)):
                action[i] = self._action[i]
        return code

    def given(self, h: int, state: Any, action: Any) -> int:
        for i, x in enumerate(state):
            self._state[i] = x
        for i, x in enumerate(action):
            self._action[i] = x
        return int(lib.adamb_given(self._w, h, self._state, self._action))

    def observe(self, h: int, reward: int, next_state: Any) -> int:
        for i, x in enumerate(next_state):
            self._state[i] = x
        return int(lib.adamb_observe(self._w, h, reward, self._state))

    def end_episode(self) -> int:
        return int(lib.adamb_end_episode(self._w))

    def check(self) -> int:
        return int(lib.adamb_check(self._w, len(self.w)))

    def stats(self) -> dict[str, int]:
        return read_stats(self._w)


def init(config: Any, block: array) -> Controller | int:
    """A controller of the C core in `block`, or a negative code.

    >>> from adamb.firmware_model import Config
    >>> init(Config(), array("H", bytes(16)))
    -3
    """
    code = int(lib.adamb_init(c_config(config), ffi.from_buffer("uint16_t[]", block), len(block)))
    return code if code else Controller(block)


def read_stats(block: Any) -> dict[str, int]:
    """The counters of a block (a cffi pointer or anything with a buffer) by name; empty if it is none."""
    stats = ffi.new("adamb_statistics *")
    pointer = block if isinstance(block, ffi.CData) else ffi.from_buffer("uint16_t[]", block)
    if lib.adamb_stats(pointer, stats):
        return {}
    names = [name for name, _ in ffi.typeof("adamb_statistics").fields]
    return {name: int(getattr(stats, name)) for name in names}
