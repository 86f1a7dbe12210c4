"""Folders of measurements: latency.json and latency.csv, chip.json, profile.json and profile.csv (the points of the
first as rows)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from adamb.host_sim.results import Record, needed, read_columns, read_record

LATENCY, CURVES = "latency.json", "latency.csv"


@dataclass
class Quantiles:
    """Of the cost of one kind of call; each is a cost that really occurred, but for the mean."""

    mean: float
    p99: float
    p999: float
    max: float


@dataclass
class BoardTimes:
    """Microseconds of the most expensive calls on a board and microjoules of the mean ones, lowest and
    highest estimate; `battery` is how long one lasts, where that was asked."""

    name: str
    estimate: bool
    act_max_us: list[float]
    observe_max_us: list[float]
    act_mean_uj: list[float] | None = None
    observe_mean_uj: list[float] | None = None
    battery: dict[str, Any] | None = None


@dataclass
class CycleEstimate:
    """Cycles of one core by the number of flash wait states."""

    core: str
    wait_states: list[int]
    act: list[Quantiles]
    observe: list[Quantiles]


@dataclass(kw_only=True)
class LatencySummary(Record):
    """latency.json; a bound that is None is not known for that target."""

    problem: str
    target: str
    unit: str
    note: str = ""
    mode: str
    share: str | None = None
    optimise: str | None = None
    budget_bytes: int
    episodes: int
    horizon: int
    seed: int
    act: Quantiles
    observe: Quantiles
    cycles: CycleEstimate | None = None
    board: BoardTimes | None = None
    stack_bytes: int | None = None
    stack_measured_bytes: int | None = None
    flash_bytes: int | None = None
    flash_check_bytes: int | None = None
    ram_bytes: int | None = None
    start_peak: dict[str, Any] | None = None
    bound_act: int | None
    bound_observe: int | None
    bound_end_episode: int | None = None
    exponent_measured: float | None = None
    exponent_paper: float | None = None
    violations: list[str]
    format: int = 1


@dataclass
class LatencyCurves:
    """latency.csv by column: a row per episode, counted from 0; bounds where there are any."""

    episode: list[float | None]
    act_mean: list[float | None]
    act_max: list[float | None]
    observe_mean: list[float | None]
    observe_max: list[float | None]
    bound_act: list[float | None] | None = None
    bound_observe: list[float | None] | None = None


@dataclass
class LatencyFolder:
    """A folder of `adamb latency` as read back."""

    path: Path
    summary: LatencySummary

    @classmethod
    def read(cls, path: Path) -> LatencyFolder:
        return cls(path, read_record(LatencySummary, path / LATENCY))

    @cached_property
    def curves(self) -> LatencyCurves:
        return read_columns(LatencyCurves, needed(self.path, CURVES))


CHIP = "chip.json"


@dataclass
class CallCost:
    """One kind of call on the chip: cycles, and accesses of the SRAM."""

    who: str
    calls: int
    cycles_mean: float
    cycles_p99: int
    cycles_max: int
    reads_mean: float
    writes_mean: float


@dataclass
class EngineSize:
    """An engine that was synthesised, placed and routed; or a chip, with an engine built for the same."""

    family: str
    built_for: str
    luts: int
    flip_flops: int
    block_rams: int
    mhz: float
    multipliers: int


@dataclass(kw_only=True)
class ChipSummary(Record):
    """chip.json; `digest_host` is that of the C core on the computer after the same episodes."""

    problem: str
    cpu: str
    optimise: str
    mode: str
    share: str
    budget_bytes: int
    sram_bytes: int
    program_bytes: int
    episodes: int
    horizon: int
    d_s: int
    d_a: int
    seed: int
    finest: int
    reward_mean: float
    act_engine: CallCost
    act_processor: CallCost | None
    observe: CallCost
    end_episode: CallCost
    bound_act_cycles: int
    engines: list[EngineSize]
    digest: str
    digest_host: str
    chips: list[EngineSize]
    """The engine, the processor beside it and their memories, on the parts where they fit."""
    left_out: list[str]
    """Engines that do not fit a part, and why."""
    tools: str
    """Versions of what synthesised, placed and routed the engines; the clock depends on them."""
    format: int = 1

    @property
    def agrees(self) -> bool:
        return self.digest == self.digest_host

    def decision_ns(self, engine: EngineSize) -> float:
        """The most expensive decision that was met, at the clock of an engine."""
        return 1000 * self.act_engine.cycles_max / engine.mhz

    def decisions_within(self, engine: EngineSize, seconds: float) -> int:
        """Number of such decisions, one after the other, in a time."""
        return int(seconds * engine.mhz * 1e6 / self.act_engine.cycles_max + 1e-9)

    def observe_us(self, chip: EngineSize) -> float:
        """An observe of the mean length at the clock of a chip."""
        return self.observe.cycles_mean / chip.mhz

    def placed(self) -> list[tuple[str, EngineSize]]:
        """Everything that was placed and routed, with its name."""
        engines = [(f"engine {size.built_for}", size) for size in self.engines]
        return engines + [("chip", size) for size in self.chips]


PROFILE, POINTS = "profile.json", "profile.csv"


@dataclass(kw_only=True)
class ProfilePoint:
    """One run of one mode after an episode: means over the seeds, the worst seed, and the bounds."""

    mode: str
    run: str
    episode: int
    bytes: float
    leaves: float = 0.0
    units: float = 0.0
    entries: float = 0.0
    bytes_max: int
    leaves_max: int = 0
    units_max: int = 0
    entries_max: int = 0
    bytes_min: int = 0
    bound_exact: int
    bound_paper: float = 0.0
    bound_exact_leaves: int = 0
    bound_exact_units: int = 0
    bound_exact_entries: int = 0
    bound_paper_leaves: float = 0.0
    bound_paper_entries: float = 0.0


@dataclass(kw_only=True)
class GrowthExponents:
    """Memory as K^x, measured and by the paper; None where there are too few points."""

    measured: float | None
    ci95: float | None
    seeds: int = 0
    from_episode: int | None = None
    paper: float | None
    paper_condition_met: bool = False
    single_path: float = 0.0
    time: dict[str, float | None] = field(default_factory=dict)


@dataclass(kw_only=True)
class CapFelt:
    """Episodes in which the capped controllers of a mode first had no room, and the first in which they could."""

    earliest: int | None
    latest: int | None = None
    seeds: int = 0
    possible_from: int | None = None


@dataclass(kw_only=True)
class ProfileSummary(Record):
    """profile.json; several entries are by mode."""

    problem: str
    episodes: int
    horizon: int = 0
    seeds: int
    seed_base: int
    budget_bytes: int | None
    points: list[ProfilePoint]
    exponent: GrowthExponents | None = None
    exponents: dict[str, GrowthExponents]
    cap_bound_at: dict[str, CapFelt | None]
    violations: list[str]
    ledger: dict[str, Any] = field(default_factory=dict)
    host_memory: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False
    format: int = 1

    @property
    def modes(self) -> list[str]:
        return list(dict.fromkeys(point.mode for point in self.points))

    def worst_bytes(self, run: str) -> int:
        """Most bytes of the capped or the uncapped runs, in any mode."""
        return max((point.bytes_max for point in self.points if point.run == run), default=0)

    def reached(self, run: str) -> int:
        """Episodes of the mode that used the most; modes reach different ones where they were stopped."""
        points = [point for point in self.points if point.run == run]
        modes = {point.mode for point in points if point.bytes_max == self.worst_bytes(run)}
        return max((point.episode for point in points if point.mode in modes), default=self.episodes)


def read_profile(folder: Path) -> ProfileSummary:
    return read_record(ProfileSummary, folder / PROFILE)
