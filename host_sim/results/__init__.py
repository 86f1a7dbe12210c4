"""The folders that commands leave: JSON and CSV files as dataclasses. A value of another kind than declared is an error
that names its field.

`run`, `sweep` and `measurements` say what each command writes; nothing else of the package knows these files. A
field with a default may be missing; fields that are not declared are left alone, as a later version may add some.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Container, Iterable, Iterator
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.files import csv_bytes

LARGEST = 2**63
KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", list: "a list"}


@dataclass(kw_only=True)
class Record:
    """The content of a JSON file; a subclass declares the fields, in the order in which they are written."""

    FORMAT: ClassVar[int] = 1

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


AnyRecord = TypeVar("AnyRecord", bound=Record)
AnyRow = TypeVar("AnyRow")


def read_record(kind: type[AnyRecord], path: Path) -> AnyRecord:
    """The file as a record, or an InputError with file, field and what was expected."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError("file", str(path), f"is not JSON ({error})") from None
    if not isinstance(content, dict):
        raise InputError("file", str(path), "is not a JSON object")
    if content.get("format", kind.FORMAT) != kind.FORMAT:
        limit = f"is of format {content['format']!r}, this version reads {kind.FORMAT}; run its command again"
        raise InputError("file", str(path), limit)
    return _Reader(path).record(kind, content, "")


@cache
def _resolved(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _hints(kind: Any) -> dict[str, Any]:
    """Types of the fields by name."""
    return _resolved(kind)


class _Reader:
    """Converts values of one file; `field` says where in it a value stands, as in `act.p99`."""

    def __init__(self, path: Path | str) -> None:
        self.path = path

    def wrong(self, field: str, value: object, expected: str) -> InputError:
        shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:37] + "..."
        return InputError("file", str(self.path), f"{field} is {shown}, not {expected}")

    def record(self, kind: Any, value: object, field: str) -> Any:
        if not isinstance(value, dict):
            raise self.wrong(field, value, "an object")
        hints, found = _hints(kind), {}
        for each in fields(kind):
            name = f"{field}.{each.name}" if field else each.name
            if each.name in value:
                found[each.name] = self.convert(hints[each.name], value[each.name], name)
            elif each.default is MISSING and each.default_factory is MISSING:
                limit = f"has no {name!r}; it was not written by this command"
                raise InputError("file", str(self.path), limit)
        return kind(**found)

    def convert(self, kind: Any, value: Any, field: str) -> Any:
        origin, inner = get_origin(kind), get_args(kind)
        if kind is Any:
            return self.anything(value, field)
        if origin is UnionType:
            if value is None and NoneType in inner:
                return None
            return self.convert(next(each for each in inner if each is not NoneType), value, field)
        if origin is list:
            if not isinstance(value, list):
                raise self.wrong(field, value, KINDS[list])
            return [self.convert(inner[0], each, f"{field}[{i}]") for i, each in enumerate(value)]
        if origin is dict:
            if not isinstance(value, dict):
                raise self.wrong(field, value, "an object")
            return {key: self.convert(inner[1], each, f"{field}.{key}") for key, each in value.items()}
        if is_dataclass(kind):
            return self.record(kind, value, field)
        return self.plain(kind, value, field)

    def anything(self, value: Any, field: str) -> Any:
        """Any value; its texts and numbers must be such as can be written again."""
        if isinstance(value, dict):
            return {key: self.anything(each, f"{field}.{key}") for key, each in value.items()}
        if isinstance(value, list):
            return [self.anything(each, f"{field}[{i}]") for i, each in enumerate(value)]
        return value if value is None else self.plain(type(value), value, field)

    def plain(self, kind: Any, value: Any, field: str) -> Any:
        """A single value; true is no number, and a number must fit into 64 bits."""
        allowed = (int, float) if kind is float else (kind,)
        if not isinstance(value, allowed) or (kind is not bool and isinstance(value, bool)):
            raise self.wrong(field, value, KINDS[kind])
        if kind in (int, float) and not (math.isfinite(value) and abs(value) < LARGEST):
            raise self.wrong(field, value, f"{KINDS[kind]} below 2^63")
        if kind is str and any("\ud800" <= letter <= "\udfff" for letter in str(value)):
            raise self.wrong(field, value, "text")
        return value

    def cell(self, kind: Any, text: str, field: str) -> Any:
        """A cell of a table; an empty one is None where that is allowed."""
        inner = [each for each in get_args(kind) if each is not NoneType]
        if text == "" and inner:
            return None
        plain = inner[0] if inner else kind
        if plain is str:
            return self.plain(str, text, field)
        try:
            value = plain(text)
        except ValueError:
            raise self.wrong(field, text, KINDS[plain]) from None
        return self.plain(plain, value, field)


def needed(folder: Path, name: str) -> Path:
    """A file without which a folder is not whole."""
    path = folder / name
    if not path.is_file():
        raise InputError("run", str(folder), f"has no {name}; the folder is not whole")
    return path


def read_rows(kind: type[AnyRow], path: Path) -> list[AnyRow]:
    """A CSV file as dataclasses, one a line; a column with a default may be missing."""
    hints, known, found = _hints(kind), _names(kind), []
    for place, cells in _lines(path):
        reader = _Reader(place)
        values = {name: reader.cell(hints[name], cells[name], name) for name in known if name in cells}
        _check_columns(kind, values, place)
        found.append(kind(**values))
    return found


def read_columns(kind: type[AnyRow], path: Path) -> AnyRow:
    """A CSV file of numbers as one dataclass of lists; an empty cell is None."""
    columns: dict[str, list[float | None]] = {name: [] for name in _names(kind)}
    place, seen = str(path), set()
    for place, cells in _lines(path):
        for name in columns.keys() & cells.keys():
            seen.add(name)
            columns[name].append(_number(place, name, cells[name]))
    found = {name: values for name, values in columns.items() if name in seen}
    _check_columns(kind, found, place)
    return kind(**found)


def _number(place: str, name: str, text: str) -> float | None:
    try:
        value = None if text == "" else float(text)
    except ValueError:
        raise _Reader(place).wrong(name, text, KINDS[float]) from None
    if value is not None and not abs(value) < LARGEST:
        raise _Reader(place).wrong(name, text, f"{KINDS[float]} below 2^63")
    return value


def _lines(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """`FILE:LINE` and its cells by column."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        try:
            header = next(rows, [])
            for line, row in enumerate(rows, start=2):
                if len(row) != len(header):
                    limit = f"has {len(row)} cells, not {len(header)}"
                    raise InputError("file", f"{path}:{line}", limit)
                yield f"{path}:{line}", dict(zip(header, row, strict=True))
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError("file", str(path), f"is not CSV ({error})") from None


def _check_columns(kind: Any, found: Container[str], place: str) -> None:
    for each in fields(kind):
        if each.name not in found and each.default is MISSING and each.default_factory is MISSING:
            raise InputError("file", place, f"has no column {each.name!r}")


def _names(kind: Any) -> list[str]:
    return [each.name for each in fields(kind)]


def rows_as_csv(kind: Any, rows: Iterable[Any]) -> bytes:
    """The table under the names of the fields; None is an empty cell."""
    names = _names(kind)
    return csv_bytes(names, ([getattr(row, name) for name in names] for row in rows))
