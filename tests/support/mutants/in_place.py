"""A mutant in the place of the sound core, in this process."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any


def silent() -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)


@cache
def interface() -> Any:
    """The declarations of the core; to parse them takes longer than to compile a file."""
    from cffi import FFI

    from adamb.firmware_model.host import _binding_build

    made = FFI()
    made.cdef(_binding_build.declarations())
    made.new("adamb_config *")  # whatever is done at first use is done before processes fork
    return made


def use_library(library: Path) -> None:
    from adamb.firmware_model.host import binding

    binding.ffi = interface()
    binding.lib = binding.ffi.dlopen(str(library))


def use_module(stem: str, code: Any) -> None:
    """Forget the Python twin, and import it again with this code as one of its modules."""
    from importlib.abc import Loader, MetaPathFinder
    from importlib.machinery import ModuleSpec

    package = "adamb.firmware_model"
    name = f"{package}.{stem}" if stem != "__init__" else package

    class Mutant(MetaPathFinder, Loader):
        def find_spec(self, full: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
            return ModuleSpec(full, self) if full == name else None

        def exec_module(self, module: Any) -> None:
            exec(code, module.__dict__)

    kept = (f"{package}.host", f"{package}._spec")
    for loaded in list(sys.modules):
        if loaded.startswith(f"{package}.") and not loaded.startswith(kept):
            del sys.modules[loaded]
            delattr(sys.modules[package], loaded.split(".")[2]) if loaded.count(".") == 2 else None
    sys.meta_path.insert(0, Mutant())
