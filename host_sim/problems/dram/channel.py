"""Inputs of a DRAM channel in C: device timing, the controller's knobs, batches of requests."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.parameter import choose
from adamb.host_sim.traces import byte_addresses, open_store

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
    """Decisions of a memory controller: None as timeout never closes a row."""

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


#: Share of the data bus that a load of 1 asks for.
PEAK_LOAD: float = lib.DRAM_PEAK_LOAD
ROW_BITS, BANK_BITS = 13, 4


class Traffic:
    """Load of the channels, epoch by epoch."""

    #: Banks with streams of their own, and whether load and write share vary.
    streams_n, varies = 0, (False, False)

    def __init__(self, timing: DramTiming, params: Mapping[str, Any]) -> None:
        self.timing, self.requests = timing, int(params["requests"])
        self._params = params
        #: Epochs seen, those that ask for more than the channel sustains, and the sum of what they ask for.
        self.counted = np.zeros(3)

    @property
    def saturated(self) -> bool:
        """Whether most epochs so far ask for more than the channel sustains."""
        epochs, too_much, _ = self.counted
        return bool(2 * too_much > epochs)

    def notes(self) -> list[str]:
        """Sentences for a user about the requests so far."""
        return []

    def count(self, asked: np.ndarray) -> None:
        """Count epochs that ask for these shares of the data bus."""
        self.counted += (asked.size, (asked >= PEAK_LOAD).sum(), asked.sum())


class SyntheticTraffic(Traffic):
    """One stream a bank; locality walks, and load and write share too where they are part of the state."""

    def __init__(self, timing: DramTiming, params: Mapping[str, Any], *, varies: tuple[bool, bool]) -> None:
        super().__init__(timing, params)
        wanted = params["streams"] or (timing.banks if varies[0] else min(4, timing.banks))
        if wanted > timing.banks:
            raise InputError("streams", wanted, f"the device has {timing.banks} banks")
        self.streams_n, self.varies = wanted, varies


def map_address(address: np.ndarray, banks: int) -> tuple[np.ndarray, np.ndarray]:
    """Bank and row of byte addresses: 8 KB rows, banks mixed with the low row bits so that strides spread."""
    row = address >> np.uint64(ROW_BITS + BANK_BITS)
    bank = ((address >> np.uint64(ROW_BITS)) ^ row) & np.uint64((1 << BANK_BITS) - 1)
    return (bank % np.uint64(banks)).astype(np.int32), row.astype(np.int64)


#: Load that a CPU trace gets where nothing is said: half of what the channel sustains.
USUAL_LOAD = 0.5 * PEAK_LOAD
#: Instructions a memory cycle of a core that never waits: four a cycle at the clock of the memory.
MOST_IPC = 4.0
#: The parameter that says how fast a trace is played, by what its times count; without such times, a gap.
PACES = {"cycles": "stretch", "instructions": "ipc"}
GAP = "gap"


class TraceTraffic(Traffic):
    """Consecutive requests of a file; where an episode starts is drawn from the seed."""

    def __init__(self, n: int, timing: DramTiming, params: Mapping[str, Any], *, epochs: int) -> None:
        super().__init__(timing, params)
        self._store = open_store(Path(params["trace"]))
        needed = epochs * self.requests
        if len(self._store) < needed:
            few, fewer = f"has {len(self._store)} requests, {needed} are needed", len(self._store) // epochs
            remedy = f"; --set requests={fewer} takes shorter epochs" if fewer else ""
            raise InputError("trace", params["trace"], few + remedy)
        self._last_start = len(self._store) - needed
        self._place = np.zeros(n, dtype=np.int64)
        self._clock = np.zeros(n, dtype=np.int64)
        self.pace = PACES.get(self._store.clock, GAP)
        #: Set where `ipc` was left to us and the trace asks for more than it should at full speed.
        self._slowed = False
        if self.pace == "ipc" and params["ipc"] is None:
            self._params = {**params, "ipc": self._usual_ipc()}

    @property
    def pace_value(self) -> float:
        """The value of the parameter `pace`, which says how fast requests come."""
        return float(self._params[self.pace])

    def _usual_ipc(self) -> float:
        """A core waits for its memory, a trace does not: slow enough for the usual load on average."""
        first, last = (int(self._store[part]["time"][0]) for part in (slice(0, 1), slice(-1, None)))
        cycles = len(self._store) * self.timing.burst / USUAL_LOAD
        wanted = max(last - first, 1) / cycles
        self._slowed = wanted < MOST_IPC
        return float(f"{min(wanted, MOST_IPC):.3g}")

    def notes(self) -> list[str]:
        """Pace of the trace, where we chose it, and whether that was too fast."""
        said = []
        if self._slowed:
            said.append(
                f"ipc={self.pace_value:g} instructions a memory cycle was chosen: the trace then asks for "
                f"half of what the channel sustains; --set ipc={MOST_IPC:g} is a core that never waits"
            )
        if self.saturated:
            epochs, too_much, asked = self.counted.tolist()
            share, factor = too_much / epochs, asked / epochs / USUAL_LOAD
            better = self.pace_value / factor if self.pace == "ipc" else self.pace_value * factor
            said.append(
                f"the trace asks for more than the channel sustains in {share:.0%} of the epochs, so that "
                f"latency says little about the policy; --set {self.pace}={better:.3g} brings it to half "
                f"(now {self.pace_value:g})"
            )
        return said

    def start(self, i: int, drawn: np.ndarray, requests: np.ndarray) -> None:
        """The first epoch of tape i, from four uniform numbers, into `requests`."""
        self._place[i] = int(drawn[3] * (self._last_start + 1))
        self._clock[i] = 0
        self.next(i, requests)

    def next(self, i: int, requests: np.ndarray) -> None:
        """The next epoch; a continuing run that reaches the end of the file goes on at its beginning."""
        if self._place[i] + self.requests > len(self._store):
            self._place[i] = 0
        records = self._store[int(self._place[i]) : int(self._place[i]) + self.requests]
        self._place[i] += self.requests
        addresses = byte_addresses(records, self._store.unit)
        requests["bank"], requests["row"] = map_address(addresses, self.timing.banks)
        requests["write"] = records["write"]
        requests["arrival"] = self._clock[i] + self._arrivals(records["time"])
        self._clock[i] = requests["arrival"][-1]

    def _arrivals(self, times: np.ndarray) -> np.ndarray:
        """Cycles since the previous request of the epoch's first; never decreasing."""
        if self.pace == "stretch":
            elapsed = (times - times[0]) * self.pace_value
        elif self.pace == "ipc":
            elapsed = (times - times[0]) / self.pace_value
        else:
            elapsed = np.arange(len(times)) * self.pace_value
        return np.floor(elapsed).astype(np.int64) + 1
