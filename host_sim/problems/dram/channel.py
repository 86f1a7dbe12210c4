"""What a DRAM channel in C is given: device timing, the controller's knobs, batches of requests."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim import _sim
from adamb.host_sim.parameter import choose

lib, ffi = _sim.lib, _sim.ffi

NEVER: int = lib.DRAM_NEVER
#: A batch of requests as `dram_run` takes it; arrivals in memory cycles, never decreasing.
REQUEST = np.dtype([("arrival", "<i8"), ("row", "<i8"), ("bank", "<i4"), ("write", "<i4")])


@dataclass(frozen=True)
class DramTiming:
    """Cycles of the memory clock; field names follow the JEDEC ones."""

    banks: int
    cl: int
    cwl: int
    t_rcd: int
    t_rp: int
    t_ras: int
    t_wr: int
    t_rtp: int
    t_wtr: int
    t_ccd: int
    burst: int
    t_rrd: int
    t_faw: int
    t_rfc: int
    t_refi: int
    cycle_ns: float = 0.833

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not 0 < value <= 10_000_000:
                raise InputError(f"timing {field.name}", value, "must be above 0 and at most 10,000,000")
        if self.banks > lib.DRAM_BANKS:
            raise InputError("timing banks", self.banks, f"must be at most {lib.DRAM_BANKS}")
        if self.t_refi <= self.t_rfc:
            raise InputError("timing t_refi", self.t_refi, f"must be longer than t_rfc = {self.t_rfc}")

    @property
    def hit(self) -> int:
        """Cycles of a read that finds its row open, with nothing else going on."""
        return self.cl + self.burst

    @property
    def conflict(self) -> int:
        """Cycles of a read that must first close another row."""
        return self.t_rp + self.t_rcd + self.hit

    def as_c(self) -> Any:
        """The struct the compiled model takes."""
        timing = ffi.new("dram_timing *")
        for field in dataclasses.fields(self):
            if field.name != "cycle_ns":
                setattr(timing, field.name, getattr(self, field.name))
        return timing


DEVICES = {
    # 8Gb x8, 1200 MHz clock.
    "DDR4-2400": DramTiming(banks=16, cl=17, cwl=12, t_rcd=17, t_rp=17, t_ras=39, t_wr=18, t_rtp=9, t_wtr=9,
                        t_ccd=4, burst=4, t_rrd=4, t_faw=26, t_rfc=420, t_refi=9360, cycle_ns=0.833),
    # 4Gb x8 (11-11-11), 800 MHz clock, JESD79-3F.
    "DDR3-1600": DramTiming(banks=8, cl=11, cwl=8, t_rcd=11, t_rp=11, t_ras=28, t_wr=12, t_rtp=6, t_wtr=6,
                        t_ccd=4, burst=4, t_rrd=5, t_faw=24, t_rfc=208, t_refi=6240, cycle_ns=1.25),
}  # fmt: skip


def load_timing(device: str) -> DramTiming:
    """A preset by name, or the timing of a DRAMsim3 `.ini` file."""
    if device.lower().endswith(".ini"):
        return read_ini(Path(device))
    return DEVICES[choose("device", device, [*DEVICES])]


# DRAMsim3 key of each field; keys joined by + are tried in order, a number stands for a key left out (files
# that came with DRAMsim3 leave out tRTP, which it then takes for 5, and some spell tREFI without the t).
_INI_KEYS = {
    "cl": "CL", "cwl": "CWL", "t_rcd": "tRCD", "t_rp": "tRP", "t_ras": "tRAS", "t_wr": "tWR",
    "t_rtp": "tRTP+5", "t_wtr": "tWTR_L+tWTR", "t_ccd": "tCCD_S+tCCD_L+tCCD",
    "t_rrd": "tRRD_S+tRRD_L+tRRD", "t_faw": "tFAW", "t_rfc": "tRFC", "t_refi": "tREFI+REFI",
}  # fmt: skip


def read_ini(path: Path) -> DramTiming:
    """Device timing from a DRAMsim3 configuration; a missing or bad key is named with its line."""
    found = _read_keys(path)

    def number(keys: str) -> float:
        for key in keys.split("+"):
            if key in found:
                line, text = found[key]
                try:
                    value = float(text)
                except ValueError:
                    value = math.inf
                if not math.isfinite(value):
                    raise InputError(f"{path}:{line}: {key}", text, "must be a number")
                return value
            if key.isdigit():
                return float(key)
        raise InputError(str(path), keys.replace("+", " or "), "this key is missing from the .ini")

    fields: dict[str, Any] = {field: round(number(keys)) for field, keys in _INI_KEYS.items()}
    groups = number("bankgroups") if "bankgroups" in found else 1.0
    fields["banks"] = round(groups * number("banks_per_group"))
    fields["burst"] = max(1, round(number("BL") / 2))
    return DramTiming(**fields, cycle_ns=number("tCK"))


def _read_keys(path: Path) -> dict[str, tuple[int, str]]:
    if not path.is_file():
        raise InputError("device", str(path), "there is no such file")
    if path.stat().st_size > 1_000_000:
        raise InputError("device", str(path), "larger than 1 MB, not a DRAMsim3 .ini")
    found: dict[str, tuple[int, str]] = {}
    for number, raw in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        line = raw.split(";")[0].split("#")[0].strip()
        if not line or line.startswith("["):
            continue
        key, separator, value = line.partition("=")
        if not separator:
            raise InputError(f"{path}:{number}", raw[:80], "expected `key = value` or `[section]`")
        found[key.strip()] = (number, value.strip())
    return found


@dataclass(frozen=True)
class Knobs:
    """What a memory controller decides: None as timeout never closes a row."""

    timeout: int | None = None
    opportune: int = 16
    drain_high: int = 26
    drain_low: int = 6
    read_queue: int = 32
    write_queue: int = 32
    in_order: bool = False
    refresh: bool = False

    def __post_init__(self) -> None:
        most = lib.DRAM_QUEUE
        if not 1 <= self.read_queue <= most:
            raise InputError("read_queue", self.read_queue, f"must be from 1 to {most}")
        if not 0 <= self.drain_low < self.drain_high <= self.write_queue <= most:
            asked = (self.drain_low, self.drain_high, self.write_queue)
            raise InputError("drain_low, drain_high, write_queue", asked, f"must rise, at most {most}")
        if self.opportune < 1:
            raise InputError("opportune", self.opportune, "must be at least 1")
        if self.timeout is not None and not 0 <= self.timeout < NEVER:
            raise InputError("timeout", self.timeout, "must be 0 or more cycles, or None for never")

    def as_c(self) -> Any:
        """The struct the compiled model takes."""
        policy = ffi.new("dram_policy *")
        policy.timeout = NEVER if self.timeout is None else self.timeout
        for name in ("opportune", "drain_high", "drain_low", "read_queue", "write_queue"):
            setattr(policy, name, getattr(self, name))
        policy.in_order, policy.refresh = int(self.in_order), int(self.refresh)
        return policy


def as_requests(requests: np.ndarray) -> Any:
    """The C view of a request array; refuses what the C code could not run safely."""
    if requests.dtype != REQUEST or not requests.flags.c_contiguous:
        raise InputError("requests", str(requests.dtype), "must be a contiguous array of dtype REQUEST")
    return ffi.cast("dram_request *", ffi.from_buffer(requests))
