"""The text formats of traces, and how a format is recognised.

Every record becomes (time, address, size, write). `unit` says whether `address` is a byte address, the place
of an extent on a disk or the id of an object; `clock` says what `time` counts, "none" where there are none.
"""

from __future__ import annotations

from collections.abc import Callable

from adamb.host_sim.traces.formats.base import Record, TextFormat
from adamb.host_sim.traces.formats.blocks import Msr, NamedColumns, PlainIds, Spc
from adamb.host_sim.traces.formats.memory import CpuTrace, DramSim, DramSys, Lackey, LoadStore, Ramulator

__all__ = ["TEXT_FORMATS", "Record", "TextFormat", "recognise"]

#: In the order they are tried: a line that fits two formats belongs to the first.
TEXT_FORMATS: tuple[type[TextFormat], ...] = (
    Ramulator, LoadStore, DramSim, DramSys, Lackey, Msr, Spc, PlainIds, CpuTrace, NamedColumns,
)  # fmt: skip


def recognise(line: bytes) -> TextFormat | None:
    """A reader for the format of `line`, the first line with content."""
    starters: list[Callable[[bytes], TextFormat | None]] = [kind.start for kind in TEXT_FORMATS]
    return next((reader for start in starters if (reader := start(line)) is not None), None)
