"""Pieces of HTML that the sections share. Text is escaped where it enters; what is passed on is markup."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Section:
    """A part of the page with a name in its navigation."""

    id: str
    name: str
    html: str


def section(id: str, name: str, lead: str, body: str) -> Section:
    text = f'<p class="lead">{escape(lead)}</p>' if lead else ""
    title = f'<h2 id="{id}">{escape(name)}</h2>'
    return Section(id, name, f'<section id="{id}-section">{title}{text}{body}</section>')


def panel(*content: str) -> str:
    return f'<div class="panel">{"".join(content)}</div>'


def side_by_side(*content: str) -> str:
    return f'<div class="two">{"".join(content)}</div>'


def chart(id: str, label: str) -> str:
    """The place that the script fills with a chart."""
    return f'<div id="{escape(id)}" aria-label="{escape(label)}"></div>'


def title(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def small_title(text: str) -> str:
    return f"<h4>{escape(text)}</h4>"


def hint(text: str) -> str:
    return f'<p class="hint">{escape(text)}</p>'


def bar(pixels: float) -> str:
    return f'<span class="bar-cell" style="width:{max(0.0, pixels):.0f}px"></span>'


def strip(marks: dict[str, float], low: float, high: float) -> str:
    """Values as ticks on one logarithmic scale, joined by a line; the one named bound stands apart."""
    span = math.log(max(high, low * 1.0001) / low)
    places = {name: 100 * math.log(max(value, low) / low) / span for name, value in marks.items()}
    measured = [place for name, place in places.items() if name != "bound"]
    drawn = f'<i style="left:{min(measured):.1f}%;width:{max(measured) - min(measured):.1f}%"></i>'
    for name, place in places.items():
        kind = "limit" if name == "bound" else "tick"
        drawn += f'<b class="{kind}" style="left:{place:.1f}%" title="{escape(name)}"></b>'
    return f'<span class="strip">{drawn}</span>'


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """A table from cells that are markup already; a heading that starts with > is of numbers.

    In the page its headings sort it; a row of class `total` stays last.
    """
    numeric = [heading.startswith(">") for heading in headings]
    head = "".join(
        _cell("th", heading.lstrip(">"), right) for heading, right in zip(headings, numeric, strict=True)
    )
    body = []
    for i, row in enumerate(rows):
        marked = f' class="{classes[i]}"' if i < len(classes) and classes[i] else ""
        cells = "".join(_cell("td", cell, right) for cell, right in zip(row, numeric, strict=True))
        body.append(f"<tr{marked}>{cells}</tr>")
    inner = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="scroll"><table>{inner}</table></div>'


def _cell(tag: str, content: str, numeric: bool) -> str:
    return f'<{tag} class="number">{content}</{tag}>' if numeric else f"<{tag}>{content}</{tag}>"


def choices(name: str, legend: str, options: dict[str, str]) -> str:
    """A row of radio buttons of which the first is chosen."""
    labels = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if i == 0 else ""}>'
        f"<span>{escape(text)}</span></label>"
        for i, (value, text) in enumerate(options.items())
    )
    return f'<fieldset class="segmented"><legend>{escape(legend)}</legend>{labels}</fieldset>'


def picker(id: str, legend: str, options: Sequence[str]) -> str:
    """A list of which one entry is shown; its values are the entries' numbers."""
    listed = "".join(f'<option value="{i}">{escape(text)}</option>' for i, text in enumerate(options))
    return f'<p><label>{escape(legend)} <select id="{escape(id)}">{listed}</select></label></p>'


def long_table(headings: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """A table that scrolls in itself, below headings that stay."""
    return f'<div class="long">{table(headings, rows, classes)}</div>'


def controls(*content: str) -> str:
    return f'<div class="controls">{"".join(content)}</div>'


EPISODE_SCALES = {"linear": "even", "log": "logarithmic"}
