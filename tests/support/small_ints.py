"""The device modules with a guard around every sum, product and shift.

MicroPython keeps integers of 31 bits without the heap. The modules are read, every arithmetic expression is
wrapped in a call that checks its result, and the copies are loaded as a package of their own, so what is
checked is the code that ships.
"""

from __future__ import annotations

import ast
import sys
import types
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from adamb.tools.device.micropython.package import modules

PACKAGE = "guarded_adamb"
SMALLEST, LARGEST = -(2**30), 2**30 - 1


class LeftSmallInts(AssertionError):
    """An expression had a result that MicroPython would put on the heap."""


class Guard:
    """Checks results, and remembers the largest one of every expression."""

    def __init__(self) -> None:
        self.largest: dict[str, int] = {}

    def __call__(self, value: Any, place: str) -> Any:
        if type(value) is int:
            if not SMALLEST <= value <= LARGEST:
                raise LeftSmallInts(f"{place} is {value}")
            if abs(value) > self.largest.get(place, 0):
                self.largest[place] = abs(value)
        return value


class _Wrap(ast.NodeTransformer):
    def __init__(self, module: str) -> None:
        self.module = module

    def _guarded(self, node: ast.expr, text: str) -> ast.expr:
        place = ast.Constant(f"{self.module}.py:{node.lineno}: {text}")
        call = ast.Call(ast.Name("_guard", ast.Load()), [node, place], [])
        return ast.copy_location(call, node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        text = ast.unparse(node)
        self.generic_visit(node)
        return self._guarded(node, text)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        text = ast.unparse(node)
        self.generic_visit(node)
        return node if isinstance(node.op, ast.Not) else self._guarded(node, text)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        # The index of a subscript is evaluated twice, which is harmless: it has no effects here.
        text = ast.unparse(node)
        load = ast.parse(ast.unparse(node.target), mode="eval").body
        result = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        assign = ast.Assign([node.target], self._guarded(result, text))
        return ast.copy_location(assign, node)


def _guarded_code(path: Path) -> types.CodeType:
    tree = _Wrap(path.stem).visit(ast.parse(path.read_text(encoding="utf-8")))
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


class _Finder:
    """Imports `guarded_adamb.NAME` from the guarded copies."""

    def __init__(self, guard: Guard) -> None:
        self.guard, self.sources = guard, {path.stem: path for path in modules()}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        stem = name.removeprefix(PACKAGE + ".")
        if name == PACKAGE or (name.startswith(PACKAGE + ".") and stem in self.sources):
            return ModuleSpec(name, self, is_package=name == PACKAGE)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        stem = module.__name__.removeprefix(PACKAGE).lstrip(".")
        if stem:
            vars(module)["_guard"] = self.guard
            exec(_guarded_code(self.sources[stem]), vars(module))


def load_guarded() -> tuple[Any, Guard]:
    """The guarded core module and its guard."""
    guard = Guard()
    finder = _Finder(guard)
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        core = __import__(f"{PACKAGE}.core", fromlist=["core"])
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]
    return core, guard
