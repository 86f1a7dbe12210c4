"""What tests ask of a picture: which of its texts cover one another, and which leave it."""

from __future__ import annotations

from itertools import combinations

from matplotlib.text import Text


def texts(figure):
    """Visible texts with their boxes in pixels: names, titles and labels, not the numbers of the axes."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    numbers = {id(each) for axes in figure.axes for each in _tick_labels(axes)}
    found = []
    for text in figure.findobj(Text):
        axes = getattr(text, "axes", None)
        seen = text.get_visible() and text.get_text().strip() and (axes is None or axes.get_visible())
        if seen and id(text) not in numbers:
            found.append((text.get_text(), Text.get_window_extent(text, renderer)))
    return found


def _tick_labels(axes):
    for axis in (axes.xaxis, axes.yaxis):
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            yield from (tick.label1, tick.label2)
        yield axis.get_offset_text()


def overlaps(figure):
    """Pairs of texts that cover one another by more than a pixel."""
    return [
        (one, other)
        for (one, a), (other, b) in combinations(texts(figure), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]


def outside(figure):
    """Texts of which a part is not in the picture."""
    width, height = figure.canvas.get_width_height()
    return [
        text for text, box in texts(figure) if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
