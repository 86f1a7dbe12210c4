"""The named sensors and actuators of a problem in the exports: ends, units, and a loop that reads and sets them."""

from __future__ import annotations

from collections.abc import Sequence

from adamb.host_sim.parameter import Range
from adamb.tools.device.port.job import PortJob, fill

PARTS = "own_parts.in"


def repeated(part: str, coordinates: Sequence[Range]) -> str:
    """A part of the templates, once for each of these coordinates."""
    return "".join(fill(f"{PARTS}:{part}", _values(each, place)) for place, each in enumerate(coordinates))


def _values(each: Range, place: int) -> dict[str, object]:
    zero, full = each.ends
    return {
        "NAME": each.name, "UPPER": each.name.upper(), "ABOUT": f"{each}, in {each.step}", "STEP": each.step,
        "ZERO": zero, "FULL": full, "PLACE": place,
    }  # fmt: skip


def in_c(job: PortJob) -> dict[str, object]:
    """Values for the templates in C: settings and, for a problem that has no plant here, its loop."""
    known, sensors, actuators = (
        job.coordinates,
        job.coordinates[: job.settings.d_s],
        job.coordinates[job.settings.d_s :],
    )
    names = {"ENDS": "ends.h", "FIELDS": "field.h", "INITS": "init.h"}
    parts: dict[str, object] = {name: repeated(part, known) for name, part in names.items()}
    ranges = fill(f"{PARTS}:ranges.h", parts) if known else ""
    return {
        "RANGES": ranges,
        "UNIT_INCLUDE": '#include "adamb_unit.h"\n' if known else "",
        "OWN_FUNCTIONS": repeated("declare_read.h", sensors) + repeated("declare_set.h", actuators),
        "OWN_SAFE": repeated("safe.h", actuators),
        "OWN_SIMULATED_SAFE": repeated("simulated_safe.h", actuators),
        "OWN_SIMULATED": repeated("simulated_read.h", sensors) + repeated("simulated_set.h", actuators),
        "OWN_SET_SAFE": repeated("set_safe.c", actuators),
        "OWN_READ": repeated("read.c", sensors),
        "OWN_SET": repeated("set.c", actuators),
    }


def in_python(job: PortJob) -> dict[str, object]:
    """The same in MicroPython."""
    known, sensors, actuators = (
        job.coordinates,
        job.coordinates[: job.settings.d_s],
        job.coordinates[job.settings.d_s :],
    )
    return {
        "RANGES": fill(f"{PARTS}:ranges.py", {"ENDS": repeated("end.py", known)}) if known else "",
        "OWN_UNITS": repeated("unit.py", known),
        "OWN_READ": repeated("read.py", sensors),
        "OWN_SET": repeated("set.py", actuators),
        "OWN_SAFE": repeated("safe.py", actuators),
        "OWN_SAFE_NAMES": repeated("safe_name.py", actuators).replace("\n", " ").rstrip(),
        "OWN_SET_SAFE": repeated("set_safe.py", actuators),
        "OWN_METHODS": repeated("define_read.py", sensors) + repeated("define_set.py", actuators),
    }
