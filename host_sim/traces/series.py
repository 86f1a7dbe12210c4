"""One column of numbers out of a csv file, as a demand series."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from adamb.budgets.errors import InputError, nearest
from adamb.host_sim.traces.lines import bad_line, line_batches

#: A series is held in memory: 8 bytes a value.
MOST_VALUES = 10_000_000


def read_series(path: Path, column: str = "", least: int = 1) -> np.ndarray:
    """The column scaled to a maximum of 1, at least `least` values; negative or missing ones are refused."""
    values: list[float] = []
    index: int | None = None
    for first, lines in line_batches(path):
        for number, raw in enumerate(lines, start=first):
            cells = [cell.strip().strip(b'"') for cell in raw.split(b",")]
            if not raw.strip() or raw.lstrip().startswith(b"#"):
                continue
            if index is None:
                index, is_header = _column_index(path, number, raw, cells, column)
                if is_header:
                    continue
            value = _number(cells[index]) if index < len(cells) else None
            if value is None or value < 0:
                raise bad_line(path, number, raw, f"a number from 0 in column {index + 1}")
            values.append(value)
            if len(values) > MOST_VALUES:
                raise InputError(str(path), len(values), f"a series has at most {MOST_VALUES:,} values")
    if len(values) < least:
        raise InputError(str(path), len(values), f"at least {least} values are needed")
    series = np.asarray(values)
    if series.max() <= 0.0:
        raise InputError(str(path), 0.0, "every value is 0, there is no demand to serve")
    return series / series.max()


def _number(cell: bytes) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _column_index(path: Path, number: int, raw: bytes, cells: list[bytes], column: str) -> tuple[int, bool]:
    """Which column to read, and whether this line is the header that said so."""
    names = [cell.decode("utf-8", "replace") for cell in cells]
    if column:
        if column in names:
            return names.index(column), True
        raise InputError("column", column, f"not in the header of {path}, {nearest(column, names)}")
    numeric = [i for i, cell in enumerate(cells) if _number(cell) is not None]
    if numeric:
        return numeric[0], False
    if len(cells) == 1:
        return 0, True
    raise bad_line(path, number, raw, "numbers, or name the column: this looks like a header")
