"""Put the numbers of the specification into device modules in place of their names.

MicroPython folds `const` within a module only: a name imported from `_spec` or `_scratch` costs two words of
RAM in every module that uses it, and a look-up every time. The copies made here are what a board loads; the
modules themselves keep the names.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

#: Modules that hold nothing but numbers (and, in _spec, tables that cannot be inlined).
SOURCES = ("_spec", "_scratch")
_CONSTANT = re.compile(r"^([A-Z][A-Z0-9_]*) = const\((-?\d+)\)", re.MULTILINE)


def constants(folder: Path) -> dict[str, int]:
    """Every named number of the specification and of the scratch array."""
    texts = [(folder / f"{stem}.py").read_text(encoding="utf-8") for stem in SOURCES]
    return {name: int(value) for text in texts for name, value in _CONSTANT.findall(text)}


def _imports(tree: ast.Module, numbers: dict[str, int]) -> dict[int, tuple[int, str]]:
    """First line -> last line and new text of the imports that become shorter."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module in SOURCES:
            kept = [alias.name for alias in node.names if alias.name not in numbers]
            text = f"from .{node.module} import {', '.join(kept)}" if kept else ""
            found[node.lineno] = (node.end_lineno or node.lineno, text)
    return found


def _docstrings(tree: ast.Module) -> list[ast.stmt]:
    """What a board reads into its heap only to drop it again; a body of nothing else keeps it."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    owners = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [node.body[0] for node in owners if ast.get_docstring(node) is not None and len(node.body) > 1]


def inlined(text: str, numbers: dict[str, int]) -> str:
    """The module with numbers for names; the lines keep their places, so tracebacks still fit the source."""
    lines = text.splitlines()
    tree = ast.parse(text)
    imports = _imports(tree, numbers)
    skipped = {line for first, (last, _) in imports.items() for line in range(first, last + 1)}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string]
    for token in reversed(tokens):
        (row, start), (_, end) = token.start, token.end
        if token.type == tokenize.NAME and token.string in numbers and row not in skipped:
            value = numbers[token.string]
            shown = str(value) if value >= 0 else f"({value})"
            lines[row - 1] = lines[row - 1][:start] + shown + lines[row - 1][end:]
    for first, (last, new) in imports.items():
        lines[first - 1 : last] = [new] + [""] * (last - first)
    for node in _docstrings(tree):
        last = node.end_lineno or node.lineno
        lines[node.lineno - 1 : last] = [""] * (last - node.lineno + 1)
    return "\n".join(lines) + "\n"


def board_texts(sources: tuple[Path, ...]) -> dict[str, str]:
    """Stem -> text of what a board loads; a module of numbers only is left out."""
    numbers = constants(sources[0].parent)
    texts = {}
    for source in sources:
        text = source.read_text(encoding="utf-8")
        if source.stem not in SOURCES:
            texts[source.stem] = inlined(text, numbers)
            continue
        tables = [
            ast.unparse(node)
            for node in ast.parse(text).body
            if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call)
        ]
        if tables:
            texts[source.stem] = "\n".join(tables) + "\n"
    return texts
