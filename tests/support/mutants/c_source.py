"""Mutations of C files, made on their tokens: operators, constants, conditions, statements."""

from __future__ import annotations

import re
from pathlib import Path

from support.mutants.mutation import Mutation, numbered

# Comments and preprocessor lines are not changed; neither are names, but for constants of the specification.
_TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*|\s+)
    |(?P<text>"(?:\\.|[^"\\])*")
    |(?P<number>0[xX][0-9A-Fa-f]+[uUlL]*|\d+[uUlL]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<operator><<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||->|\+\+|--|\+=|-=|\*=|/=|\|=|&=|\^=|[-+*/%<>=!&|^~?:;,.(){}\[\]])""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
SWAPS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "&&": ("||",), "||": ("&&",), "<<": (">>",), ">>": ("<<",), "+=": ("-=",), "-=": ("+=",),
    "|=": ("&=", "="), "&=": ("|=",), "^=": ("|=",), "<<=": (">>=",), ">>=": ("<<=",),
    "++": ("--",), "--": ("++",), "/": ("*",), "%": ("/",), "^": ("|",), "|": ("&",),
}  # fmt: skip
EITHER = {"+": "-", "-": "+", "*": "+", "&": "|"}
"""These have one operand or two; only between two operands they are changed."""
CONSTANT = re.compile(r"ADAMB_[A-Z0-9_]+$")
NOT_CONSTANTS = {"ADAMB_WORK", "ADAMB_NOINLINE"}
OPEN, CLOSE = "([{", ")]}"
ENDS = {"&&", "||", "?", ":", ";", ",", "=", "+=", "-=", "|=", "&=", "return"}

Token = tuple[str, str, int, int]  # kind, text, start, end


def tokens(source: str) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(source):
        if match.lastgroup and match.lastgroup != "skip":
            found.append((match.lastgroup, match.group(), match.start(), match.end()))
    return found


def _body(found: list[Token]) -> list[bool]:
    """For every token whether it is inside a function: declarations and tables are not changed."""
    inside, depth, function = [], 0, False
    for i, (_, text, _, _) in enumerate(found):
        if text == "{":
            function = function or (depth == 0 and found[i - 1][1] == ")")
            depth += 1
        inside.append(function and depth > 0)
        if text == "}":
            depth -= 1
            function = function and depth > 0
    return inside


def _matching(found: list[Token], first: int) -> int:
    """The bracket that closes the one at `first`."""
    depth = 0
    for i in range(first, len(found)):
        depth += (found[i][1] in OPEN) - (found[i][1] in CLOSE)
        if depth == 0:
            return i
    return len(found) - 1


def _operand(found: list[Token], at: int, step: int) -> int:
    """Index of the last token of the operand beside a logical operator, to the right or to the left of it."""
    depth, i = 0, at + step
    while 0 <= i < len(found):
        text = found[i][1]
        depth += (text in (OPEN if step > 0 else CLOSE)) - (text in (CLOSE if step > 0 else OPEN))
        if depth < 0 or (depth == 0 and text in ENDS):
            break
        i += step
    return i - step


def _of_operator(found: list[Token], i: int) -> list[tuple[int, int, str]]:
    _, text, start, end = found[i]
    changes = [(start, end, new) for new in SWAPS.get(text, ())]
    two = found[i - 1][0] in ("name", "number") or found[i - 1][1] in (")", "]")
    # "(uint32_t)-1", "return -x", "const uint16_t *w": not between two operands.
    typed = found[i - 1][1].endswith("_t") or found[i - 1][1] in ("return", "const", "int", "char", "void")
    cast = found[i - 1][1] == ")" and (found[i - 2][1].endswith("_t") or found[i - 2][1] in ("int", "*"))
    if text in EITHER and two and not typed and not cast:
        changes.append((start, end, EITHER[text]))
    if text == "!" and found[i + 1][1] != "=":
        changes.append((start, end, ""))
    if text in ("&&", "||"):  # leave out what is to the right, or to the left
        right, left = found[_operand(found, i, 1)], found[_operand(found, i, -1)]
        changes += [(start, right[3], ""), (left[2], end, "")]
    return changes


def _of_constant(found: list[Token], i: int) -> list[tuple[int, int, str]]:
    kind, text, start, end = found[i]
    if kind == "text":
        return [(start, end, '"?"')]
    if kind == "number":
        digits = text.rstrip("uUlL")
        more = int(digits, 0) + 1
        return [(start, end, (hex(more) if "x" in digits.lower() else str(more)) + text[len(digits) :])]
    label = found[i - 1][1] == "case" or found[i + 1][1] == "("
    if CONSTANT.match(text) and text not in NOT_CONSTANTS and not label:
        return [(start, end, f"({text} + 1)")]
    return []


def _negated(source: str, found: list[Token], i: int) -> list[tuple[int, int, str]]:
    if found[i][1] not in ("if", "while") or found[i + 1][1] != "(":
        return []
    start, end = found[i + 1][3], found[_matching(found, i + 1)][2]
    return [(start, end, f"!({source[start:end]})")]


def _left_out(source: str, found: list[Token], i: int) -> list[tuple[int, int, str]]:
    """A statement that begins at `i`, when it is an assignment, a call or a jump on its own."""
    if found[i - 1][1] not in (";", "{", "}") or found[i][1] in ("{", "}", ";"):
        return []
    kind, text = found[i][0], found[i][1]
    last = i
    while found[last][1] not in (";", "{"):
        last += 1
    if found[last][1] == "{" or (kind == "name" and text in ("return", "for", "do", "else", "case", "default", "if")):
        return []
    declared = kind == "name" and found[i + 1][0] == "name"
    pointer = kind == "name" and found[i + 1][1] == "*" and found[i + 2][0] == "name" and text.endswith("_t")
    depth = 0
    for j in range(i, -1, -1):  # the head of a `for` has semicolons too
        depth += (found[j][1] in "([") - (found[j][1] in ")]")
    if declared or pointer or depth > 0:
        return []
    return [(found[i][2], found[last][3], ";")]


def mutations(path: Path) -> list[Mutation]:
    """All of a file, in the order of the text."""
    source = path.read_text(encoding="utf-8")
    found = tokens(source)
    inside = _body(found)
    changes: list[tuple[int, int, str]] = []
    for i in range(1, len(found) - 2):
        if inside[i]:
            kind = found[i][0]
            changes += _of_operator(found, i) if kind == "operator" else _of_constant(found, i)
            changes += _negated(source, found, i) + _left_out(source, found, i)
    return numbered(path, changes)
