"""The folder of `adamb latency`: latency.json and latency.csv."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from adamb.host_sim.results.record import Record, needed, read_columns, read_record

LATENCY, CURVES = "latency.json", "latency.csv"
FILES = (LATENCY, CURVES)


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
    worst_of: dict[str, Any] | None = None
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
