"""Sources of a report: folders of runs, measurements, profiles, sweeps and benchmarks, each under a label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import format_cap
from adamb.host_sim.results import read_record
from adamb.host_sim.results.measurements import (
    CHIP,
    LATENCY,
    PROFILE,
    ChipSummary,
    LatencyFolder,
    LatencySummary,
    ProfileSummary,
    read_profile,
)
from adamb.host_sim.results.run import RUN, RunFolder, RunSummary
from adamb.host_sim.results.sweep import BENCHMARK, META, BenchmarkResult, PaperFolder, SweepFolder, read_paper
from adamb.tools.inspect.findings import Inspection


def seed_span(first: int, count: int) -> str:
    return f"{first} to {first + count - 1} ({count})"


@dataclass
class Source:
    """One thing that the report is about; `place` is its folder or file."""

    place: Path
    label: str

    def parts(self) -> tuple[str, ...]:
        """Its description in words, from the general to the special."""
        return (self.label,)

    def facts(self) -> dict[str, Any]:
        """Origin of the numbers; None is not known."""
        return {}


@dataclass
class RunSource(Source):
    """A folder of `adamb run`."""

    run: RunFolder

    @property
    def summary(self) -> RunSummary:
        return self.run.summary

    @property
    def agent(self) -> str:
        core = self.summary.core
        return self.summary.agent + (f" ({core} core)" if core else "")

    def parts(self) -> tuple[str, ...]:
        found, drift = self.summary, self.run.drift
        mode = f" {found.mode}" if found.agent == "adamb" and found.mode else ""
        changes = "" if drift == "none" else f"drift {drift}"
        return (found.problem, changes, found.agent + mode, format_cap(found.budget_bytes))

    def facts(self) -> dict[str, Any]:
        found, details = self.summary, self.run.details
        return {
            "command": details.command,
            "finished": details.finished,
            "settings": details.settings,
            "problem": details.problem,
            "seeds": seed_span(found.seed_base, found.seeds),
            "versions": details.versions,
            "spec hash": found.spec_hash,
            "digest of the block": found.digest,
            "seconds": found.seconds,
        }


@dataclass
class LatencySource(Source):
    """A folder of `adamb latency`."""

    measured: LatencyFolder

    @property
    def summary(self) -> LatencySummary:
        return self.measured.summary

    def parts(self) -> tuple[str, ...]:
        found = self.summary
        return (f"{found.problem} on {found.target}", format_cap(found.budget_bytes))

    def facts(self) -> dict[str, Any]:
        return {"seeds": self.summary.seed}

    def is_about(self, source: RunSource) -> bool:
        """True if the run had the same controller on the same problem under the same cap."""
        mine, other = self.summary, source.summary
        same = (mine.problem, mine.mode, mine.budget_bytes) == (other.problem, other.mode, other.budget_bytes)
        return same and other.agent == "adamb"


@dataclass
class ChipSource(Source):
    """A folder of `adamb chip`."""

    summary: ChipSummary

    def parts(self) -> tuple[str, ...]:
        found = self.summary
        return (f"{found.problem} on a chip with {found.cpu}", format_cap(found.budget_bytes))

    def facts(self) -> dict[str, Any]:
        return {"seeds": self.summary.seed, "digest of the block": self.summary.digest}


@dataclass
class ProfileSource(Source):
    """A folder of `adamb profile`."""

    summary: ProfileSummary

    def parts(self) -> tuple[str, ...]:
        return (f"profile of {self.summary.problem}", format_cap(self.summary.budget_bytes))

    def facts(self) -> dict[str, Any]:
        found = self.summary
        return {"seeds": seed_span(found.seed_base, found.seeds), "seconds": found.seconds}


@dataclass
class SweepSource(Source):
    """A folder of `adamb sweep`; with the claims of the paper where it tested them."""

    sweep: SweepFolder
    paper: PaperFolder | None = None

    def parts(self) -> tuple[str, ...]:
        return (f"sweep {self.sweep.meta.name}",)

    def facts(self) -> dict[str, Any]:
        meta = self.sweep.meta
        seeds = seed_span(meta.seeds[0], len(meta.seeds)) if meta.seeds else None
        return {"command": meta.command, "seeds": seeds, "versions": meta.versions, "spec hash": meta.spec_hash}


@dataclass
class BenchmarkSource(Source):
    """A folder of `adamb sweep benchmark`."""

    benchmark: BenchmarkResult

    def parts(self) -> tuple[str, ...]:
        return ("benchmark, quick version" if self.benchmark.quick else "benchmark",)

    def facts(self) -> dict[str, Any]:
        found = self.benchmark
        return {
            "seeds": seed_span(found.seeds[0], len(found.seeds)) if found.seeds else None,
            "versions": found.version,
            "spec hash": found.spec_hash,
            "core": found.core,
        }


@dataclass
class BlockSource(Source):
    """A single block, as `adamb inspect` opens it."""

    inspection: Inspection

    def facts(self) -> dict[str, Any]:
        block = self.inspection.to_json()
        names = {"configuration": "configuration", "spec hash": "spec_hash", "digest of the block": "digest"}
        return {name: block[key] for name, key in names.items()}


READERS: dict[str, Callable[[Path], Source]] = {
    RUN: lambda folder: RunSource(folder, "", RunFolder.read(folder)),
    LATENCY: lambda folder: LatencySource(folder, "", LatencyFolder.read(folder)),
    CHIP: lambda folder: ChipSource(folder, "", read_record(ChipSummary, folder / CHIP)),
    PROFILE: lambda folder: ProfileSource(folder, "", read_profile(folder)),
    META: lambda folder: SweepSource(folder, "", SweepFolder.read(folder), read_paper(folder)),
    BENCHMARK: lambda folder: BenchmarkSource(folder, "", read_record(BenchmarkResult, folder / BENCHMARK)),
}
"""By the file that shows the kind of a folder."""


def read_sources(folders: Sequence[Path]) -> list[Source]:
    """Everything that the folders hold, in their order, each under a label of its own."""
    found = [source for folder in folders for source in read_folder(folder)]
    _label(found)
    return found


def read_folder(folder: Path) -> list[Source]:
    if not folder.is_dir():
        reason = "is not a folder" if folder.exists() else "is not there"
        raise InputError("run", str(folder), f"{reason}; give the --out folder of a run")
    found = [read(folder) for name, read in READERS.items() if (folder / name).is_file()]
    if not found:
        known = ", ".join(READERS)
        raise InputError("run", str(folder), f"holds none of {known}; give the --out folder of a run")
    return found


def _label(sources: list[Source]) -> None:
    """Names that distinguish the sources with as few words as will do."""
    runs = [source.parts() for source in sources if isinstance(source, RunSource)]
    same = [len(set(column)) == 1 for column in zip(*runs, strict=True)] if len(runs) > 1 else []
    for source in sources:
        parts = source.parts()
        if isinstance(source, RunSource) and same and not all(same):
            parts = tuple(part for part, shared in zip(parts, same, strict=True) if not shared)
        source.label = " · ".join(part for part in parts if part)
    for label in {source.label for source in sources}:
        equal = [source for source in sources if source.label == label]
        if len(equal) > 1:
            for number, source in enumerate(equal, start=1):
                places = [other.place.name for other in equal]
                unique = places.count(source.place.name) == 1
                source.label += f" · {source.place.name if unique else number}"
