"""The C core for Python on a host, and what every package of ours needs; nothing here goes to a board."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class StaleCore(ImportError):
    """The compiled core was built of other files than those that are here."""


def exports(
    package: str, modules: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose modules define these names.

    Asking for one part then does not load the others: the planner needs no numpy.
    """
    home = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return find, names
