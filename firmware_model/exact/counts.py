"""The counts of next states: *adding*, SPEC 7.1 to 7.5."""

from __future__ import annotations

from adamb.firmware_model.exact.memory import CountsUnit, Entry, Record
from adamb.firmware_model.exact.model import Model


def add(m: Model, record: Record, cell: int, depth: int, k: int) -> None:
    """Count k visits of a state cell, in the record's own resolution."""
    entry = _entry(m, record, Entry(cell, 0, depth))
    while entry.count + k > entry.limit:
        _halve(record, entry)
        m.goes_up("saturations")
        k = (k + 1) // 2
    entry.count += k


def _entry(m: Model, record: Record, new: Entry) -> Entry:
    """The entry to count in: that of the cell, the new one if it finds a place, else the nearest."""
    present = record.entries()
    for entry in present:
        if entry.cell == new.cell:
            return entry
    if not present and not record.units:
        record.single = new
        return new
    if record.single:
        unit = CountsUnit(chained=m.paper)
        if m.pool.take(unit):
            unit.places[1:3] = [record.single, new]
            record.single, record.units = None, [unit]
            return new
        return record.single
    first = 1 if m.paper else 0
    free = [(unit, i) for unit in record.units for i in range(first, 4) if unit.places[i] is None]
    if free:
        unit, i = free[-1]
        unit.places[i] = new
        return new
    if m.paper:
        unit = CountsUnit(chained=True)
        if m.pool.take(unit):
            unit.places[2] = new
            unit.next = record.units[0]
            record.units.insert(0, unit)
            return new
    return min(present, key=lambda entry: abs(entry.cell - new.cell))


def _halve(record: Record, keep: Entry) -> None:
    for entry in record.entries():
        entry.count >>= 1
    for unit in record.units:
        unit.places = [e if e is not None and (e.count or e is keep) else None for e in unit.places]
