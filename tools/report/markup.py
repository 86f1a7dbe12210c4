"""Pieces of HTML that the sections share. Text is escaped where it enters; what is passed on is markup."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any


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


Chart = dict[str, Any]
"""Options of `LineChart` in charts.js."""


def chart(id: str, label: str, options: Chart | None = None) -> str:
    """A chart; without options the place that the script fills when something is chosen."""
    drawn = "" if options is None else data(options)
    return f'<div id="{escape(id)}" aria-label="{escape(label)}"{drawn}></div>'


def data(content: Any) -> str:
    """An attribute that the script reads."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return f' data-json="{escape(text)}"'


def title(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def small_title(text: str) -> str:
    return f"<h4>{escape(text)}</h4>"


def hint(text: str) -> str:
    return f'<p class="hint">{escape(text)}</p>'


def bar(pixels: float) -> str:
    return f'<span class="bar-cell" style="width:{max(0.0, pixels):.0f}px"></span>'


def strip(marks: dict[str, float], low: float, high: float) -> str:
    """Values as ticks on one logarithmic scale, joined by a line; the one named bound is drawn separately."""
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
    head = "".join(_cell("th", heading.lstrip(">"), right) for heading, right in zip(headings, numeric, strict=True))
    body = []
    for i, row in enumerate(rows):
        marked = f' class="{classes[i]}"' if i < len(classes) and classes[i] else ""
        cells = "".join(_cell("td", cell, right) for cell, right in zip(row, numeric, strict=True))
        body.append(f"<tr{marked}>{cells}</tr>")
    inner = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="scroll"><table>{inner}</table></div>'


def _cell(tag: str, content: str, numeric: bool) -> str:
    return f'<{tag} class="number">{content}</{tag}>' if numeric else f"<{tag}>{content}</{tag}>"


def choices(name: str, legend: str, options: dict[str, str], attribute: str) -> str:
    """A row of radio buttons of which the first is chosen; the attribute says to the script what they change."""
    labels = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if i == 0 else ""}>'
        f"<span>{escape(text)}</span></label>"
        for i, (value, text) in enumerate(options.items())
    )
    return f'<fieldset class="segmented"{attribute}><legend>{escape(legend)}</legend>{labels}</fieldset>'


def episode_scale(id: str) -> str:
    """The choice of the horizontal axis of a chart."""
    return choices(f"{id}-scale", "Episodes", {"linear": "even", "log": "logarithmic"}, f' data-scale="{id}"')


def picker(id: str, legend: str, options: Sequence[str], charts: Sequence[dict[str, Chart]] | None = None) -> str:
    """A list of which one entry is shown, with the charts of every entry; its values are the entries' numbers."""
    drawn = "" if charts is None else data(charts)
    listed = "".join(f'<option value="{i}">{escape(text)}</option>' for i, text in enumerate(options))
    return f'<p><label>{escape(legend)} <select id="{escape(id)}"{drawn}>{listed}</select></label></p>'


def long_table(headings: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """A table that scrolls in itself, below headings that stay."""
    return f'<div class="long">{table(headings, rows, classes)}</div>'


def controls(*content: str) -> str:
    return f'<div class="controls">{"".join(content)}</div>'


# ---- what charts draw ----------------------------------------------------------------------------------

LIMIT = "var(--limit)"


def line(name: str, x: Sequence[float], y: Sequence[Any], **more: Any) -> Chart:
    """A series; `look` numbers its colour and dash."""
    return {"name": name, "x": x, "y": y, **more}


def bound_line(x: Sequence[float], y: Sequence[Any], **more: Any) -> Chart:
    return line("upper bound", x, y, colour=LIMIT, dash="6 4", **more)


def rule(y: float | None, name: str = "optimum V*") -> list[Chart]:
    """A horizontal line, where there is one to draw."""
    return [{"y": y, "name": name, "colour": LIMIT}] if y else []
