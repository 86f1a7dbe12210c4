"""Wires over cycles as an SVG: one row a wire, one column a cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

LABEL, CYCLE, ROW, HIGH, SLANT = 76, 62, 30, 18, 5
INK, GREY, FILL = "#1f2937", "#9ca3af", "#dbeafe"
Wires = Mapping[str, int | str]


def draw(cycles: Sequence[Wires], *, bits: Sequence[str], buses: Sequence[str], title: str) -> str:
    """`bits` are drawn as levels, `buses` as boxes with what is on them; '' is nothing of interest."""
    names = ["clk", *bits, *buses]
    width, height = LABEL + CYCLE * len(cycles) + 10, ROW * (len(names) + 1) + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number in range(len(cycles)):
        x = LABEL + CYCLE * number
        parts.append(f'<text x="{x + CYCLE / 2}" y="14" text-anchor="middle" fill="{GREY}">{number}</text>')
        parts.append(f'<path d="M{x} 20V{height - 6}" stroke="{GREY}" stroke-width="0.5"/>')
    for row, name in enumerate(names):
        top = ROW * (row + 1) - 6
        parts.append(f'<text x="{LABEL - 8}" y="{top + 14}" text-anchor="end">{escape(name)}</text>')
        if name == "clk":
            parts.append(_clock(len(cycles), top))
        elif name in bits:
            parts.append(_level([int(cycle[name]) for cycle in cycles], top))
        else:
            parts += _boxes([str(cycle[name]) for cycle in cycles], top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _path(d: str, fill: str = "none") -> str:
    return f'<path d="{d}" stroke="{INK}" fill="{fill}"/>'


def _clock(cycles: int, top: int) -> str:
    half = CYCLE / 2
    return _path(f"M{LABEL} {top + HIGH}" + f"v{-HIGH}h{half:g}v{HIGH}h{half:g}" * cycles)


def _level(values: Sequence[int], top: int) -> str:
    d, before = "", None
    for number, value in enumerate(values):
        x, y = LABEL + CYCLE * number, top + (0 if value else HIGH)
        d += f"M{x} {y}" if before is None else "" if value == before else f"L{x} {y}"
        d += f"H{x + CYCLE}"
        before = value
    return _path(d)


def _boxes(texts: Sequence[str], top: int) -> list[str]:
    """Equal neighbours share a box; a wire without a text is a thin line."""
    parts, begin = [], 0
    middle = top + HIGH / 2
    for number in range(1, len(texts) + 1):
        if number < len(texts) and texts[number] == texts[begin]:
            continue
        left, right = LABEL + CYCLE * begin, LABEL + CYCLE * number
        if texts[begin]:
            d = f"M{left} {middle:g}L{left + SLANT} {top}H{right - SLANT}L{right} {middle:g}"
            parts.append(_path(f"{d}L{right - SLANT} {top + HIGH}H{left + SLANT}Z", FILL))
            x = (left + right) / 2
            parts.append(f'<text x="{x:g}" y="{top + 13}" text-anchor="middle">{escape(texts[begin])}</text>')
        else:
            parts.append(f'<path d="M{left} {middle:g}H{right}" stroke="{GREY}"/>')
        begin = number
    return parts
