"""Mutations of Python files, made on their syntax trees: operators, constants, conditions, statements."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from support.mutants.mutation import Mutation, numbered

_Change = tuple[int, int, str]
COMPARES: dict[type, tuple[str, ...]] = {
    ast.Lt: ("<=", ">="), ast.LtE: ("<", ">"), ast.Gt: (">=", "<="), ast.GtE: (">", "<"),
    ast.Eq: ("!=",), ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",),
}  # fmt: skip
OPERATORS: dict[type, tuple[str, ...]] = {
    ast.Add: ("-",), ast.Sub: ("+",), ast.Mult: ("+",), ast.LShift: (">>",), ast.RShift: ("<<",),
    ast.BitAnd: ("|",), ast.BitOr: ("&",), ast.BitXor: ("|",), ast.FloorDiv: ("*",), ast.Mod: ("//",),
}  # fmt: skip
NAMED = re.compile(r"_?[A-Z][A-Z0-9_]+$")


class _Finder(ast.NodeVisitor):
    """Collects (start, end, new) of all changes inside functions."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.changes: list[_Change] = []
        self.depth = 0

    def at(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        first, last = node.lineno, node.end_lineno or node.lineno
        return self.lines[first - 1] + node.col_offset, self.lines[last - 1] + (node.end_col_offset or 0)

    def text(self, node: ast.expr) -> str:
        start, end = self.at(node)
        return self.source[start:end]

    def add(self, node: ast.expr | ast.stmt, new: str) -> None:
        if self.depth:
            self.changes.append((*self.at(node), new))

    def between(self, left: ast.expr, right: ast.expr, new: str) -> None:
        """Change the operator between two operands; brackets around them stay."""
        start, end = self.at(left)[1], self.at(right)[0]
        middle = self.source[start:end]
        match = re.search(r"is not|not in|<<|>>|<=|>=|==|!=|//|[-+*%<>&|^]|\bis\b|\bin\b|\band\b|\bor\b", middle)
        if match and self.depth:
            self.changes.append((start + match.start(), start + match.end(), new))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.depth += 1
        for statement in node.body:
            self.visit(statement)
        self.depth -= 1

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            for new in COMPARES.get(type(operator), ()):
                self.between(left, right, new)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        for new in OPERATORS.get(type(node.op), ()):
            self.between(node.left, node.right, new)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        target, value = self.text(node.target), self.text(node.value)
        for new in OPERATORS.get(type(node.op), ()):
            self.add(node, f"{target} {new}= {value}")
        self.add(node, "pass")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, word)
        parts = [f"({self.text(value)})" for value in node.values]
        joint = " and " if word == "or" else " or "
        for i in range(len(parts)):
            self.add(node, f"({joint.join(parts[:i] + parts[i + 1 :])})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add(node, f"({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add(node, str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, hex(node.value + 1) if "x" in self.text(node) else str(node.value + 1))

    def visit_Name(self, node: ast.Name) -> None:
        if NAMED.match(node.id) and isinstance(node.ctx, ast.Load):
            self.add(node, f"({node.id} + 1)")

    def _condition(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self.add(node.test, f"not ({self.text(node.test)})")
        self.generic_visit(node)

    visit_If = visit_While = visit_IfExp = _condition

    def _statement(self, node: ast.stmt) -> None:
        self.add(node, "pass")
        self.generic_visit(node)

    visit_Break = visit_Continue = _statement

    def visit_Assign(self, node: ast.Assign) -> None:
        if not isinstance(node.targets[0], ast.Name):  # without a name the rest would not run at all
            self.add(node, "pass")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # not a docstring
            self.add(node, "pass")
            self.generic_visit(node)


def mutations(path: Path) -> list[Mutation]:
    """All of a file, in the order of the text."""
    source = path.read_text(encoding="utf-8")
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return numbered(path, finder.changes)
