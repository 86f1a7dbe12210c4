"""How the tables look that put agents or problems side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

LEAST_WIDTH = 80
"""Tables are made for it. A narrower terminal breaks their lines; made narrower they would lose columns."""


def table_console(*, stderr: bool = False, plain_width: int | None = None) -> Console:
    """Where tables are printed; `plain_width` is for what is no terminal."""
    console = Console(stderr=stderr)
    if plain_width is not None and not console.is_terminal:
        console.width = plain_width
    console.width = max(console.width, LEAST_WIDTH)
    return console


def plain_table(title: str) -> Table:
    """Lines of columns that are yet to be named, under a bold title."""
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)


def framed(title: str, headings: Sequence[str], caption: str) -> Table:
    """Narrow columns under a bold title, the first one of words and the others of numbers."""
    view = Table(
        title=title, title_justify="left", title_style="bold", caption=caption, caption_justify="left",
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), collapse_padding=True,
    )  # fmt: skip
    for i, heading in enumerate(headings):
        view.add_column(heading, justify="left" if i == 0 else "right", no_wrap=True)
    return view
