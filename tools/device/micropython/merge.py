"""Modules of the Python core as one file for a board: every file and every import between two costs heap there.

A name of a module's top level becomes the one under which others import it: `free` of `tree` is `tree_free`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence

Names = dict[tuple[str, str], str]
"""Module and name -> the name in the merged file."""


def top_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def imports(tree: ast.AST) -> Iterator[tuple[ast.ImportFrom, str, ast.alias]]:
    """Names from modules of the own package: the statement, the module, the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            yield from ((node, node.module, alias) for alias in node.names)


def merged_names(texts: Mapping[str, str], entry: str) -> Names:
    """The entry keeps its names; others have those of their importers, and a prefix where two are alike."""
    trees = {stem: ast.parse(text) for stem, text in texts.items()}
    found: Names = {(entry, name): name for name in top_names(trees[entry])}
    for tree in trees.values():
        for _, module, alias in imports(tree):
            if module in texts:
                found.setdefault((module, alias.name), alias.asname or alias.name)
    for stem, tree in trees.items():
        for name in top_names(tree):
            if (stem, name) not in found:
                taken = name in found.values()
                found[stem, name] = f"{stem}_{name.lstrip('_')}" if taken else name
    assert len({*found.values()}) == len(found), "two names of the merged file are alike"
    assert not {*found.values()} & {*dir(builtins)}, "a name would hide one of Python's from the other modules"
    return found


def merge(texts: Mapping[str, str], entry: str, names: Names) -> str:
    """The modules behind one another, each after those that it imports; `texts` are in no order."""
    return "".join(_renamed(stem, texts[stem], names, {*texts}) for stem in _ordered(texts, entry))


def redirected(text: str, stems: Sequence[str], entry: str, names: Names) -> str:
    """The text of a module outside with its imports from what was merged; the lines keep their places."""
    lines = text.splitlines()
    for node, module in {node: module for node, module, _ in imports(ast.parse(text))}.items():
        if module in stems:
            wanted = [(names[module, alias.name], alias.asname or alias.name) for alias in node.names]
            shown = ", ".join(name if name == here else f"{name} as {here}" for name, here in wanted)
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            new = " " * node.col_offset + f"from .{entry} import {shown}"
            lines[first:last] = [new, *[""] * (last - first - 1)]
    return "\n".join(lines) + "\n"


def _ordered(texts: Mapping[str, str], entry: str) -> list[str]:
    order: list[str] = []

    def visit(stem: str) -> None:
        for _, module, _ in imports(ast.parse(texts[stem])):
            if module in texts and module not in order:
                visit(module)
        order.append(stem)

    visit(entry)
    return list(dict.fromkeys(order))


def _renamed(stem: str, text: str, names: Names, merged: set[str]) -> str:
    """One module without its imports of the others, and with the new names for its own."""
    tree, lines = ast.parse(text), text.splitlines()
    own = {name: names[stem, name] for name in top_names(tree)}
    for node, module, alias in imports(tree):
        if module in merged:
            own[alias.asname or alias.name] = names[module, alias.name]
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = ""
    for line, start, old in sorted(_uses(tree, {*own}), reverse=True):
        if lines[line - 1]:
            raw = lines[line - 1].encode()
            assert raw[start : start + len(old)] == old.encode()
            lines[line - 1] = (raw[:start] + own[old].encode() + raw[start + len(old) :]).decode()
    return "".join(f"{line}\n" for line in lines if line.strip() and not line.lstrip().startswith("#"))


def _uses(tree: ast.Module, wanted: set[str]) -> Iterator[tuple[int, int, str]]:
    """Line, column and name of every use of a global name, and of its definition."""

    def walk(node: ast.AST, hidden: frozenset[str]) -> Iterator[tuple[int, int, str]]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node in tree.body:
            word = "def " if isinstance(node, ast.FunctionDef) else "class "
            yield node.lineno, node.col_offset + len(word), node.name
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            given = node.args
            args = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            hidden |= {arg.arg for arg in args if arg is not None}
        if isinstance(node, ast.FunctionDef):
            inside = (each for part in node.body for each in ast.walk(part))
            hidden |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if isinstance(node, ast.Name) and node.id not in hidden:
            yield node.lineno, node.col_offset, node.id
        for child in ast.iter_child_nodes(node):
            if isinstance(node, ast.ClassDef) and isinstance(child, ast.Assign):
                child = child.value  # an attribute is no name of the module
            yield from walk(child, hidden)

    return (use for use in walk(tree, frozenset()) if use[2] in wanted)
