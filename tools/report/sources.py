"""What a folder holds, told by the names of its files: a run, a latency measurement, a profile, a sweep."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import format_bytes
from adamb.firmware_model import _spec
from adamb.host_sim.recording import Recording

KINDS = ("run.json", "latency.json", "profile.json", "meta.json")


@dataclass
class Source:
    """A folder's content of one kind; `data` is its main JSON file."""

    folder: Path
    data: dict[str, Any]
    label: str = ""

    @property
    def problem(self) -> str:
        return str(self.data.get("problem", ""))


@dataclass
class RunSource(Source):
    """A folder of `adamb run`; all but run.json may be missing."""

    details: dict[str, Any] = field(default_factory=dict)

    @property
    def agent(self) -> str:
        core = self.data.get("core")
        return f"{self.data.get('agent')}" + (f" ({core} core)" if core else "")

    @property
    def budget_bytes(self) -> int | None:
        return self.data.get("budget_bytes")

    @property
    def peak_bytes(self) -> int:
        return int(self.data.get("bytes_peak") or 0)

    @property
    def over_budget(self) -> bool:
        return self.budget_bytes is not None and self.peak_bytes > self.budget_bytes

    @cached_property
    def curves(self) -> dict[str, list[float | None]]:
        return read_columns(self.folder / "curves.csv")

    @cached_property
    def _recorded(self) -> Recording | None:
        path = self.folder / "recording.npz"
        return Recording.load(path) if path.is_file() else None

    @property
    def stale(self) -> bool:
        """There is a recording, but of a core with another layout."""
        return self._recorded is not None and self._recorded.meta.get("spec_hash") != _spec.SPEC_HASH

    @property
    def recording(self) -> Recording | None:
        return None if self.stale else self._recorded

    @property
    def first_seed(self) -> int:
        return int(self.data.get("seed_base", 0))

    def seed_counter(self, name: str) -> list[float]:
        """A counter of every seed; the mean alone where the seeds were not kept."""
        kept = self.details.get("seed_counters", {}).get(name)
        if kept is None:
            mean = self.data.get(name)
            return [] if mean is None else [float(mean)]
        return [float(value) for value in kept]


@dataclass
class LatencySource(Source):
    """A folder of `adamb latency`."""

    @cached_property
    def curves(self) -> dict[str, list[float | None]]:
        return read_columns(self.folder / "latency.csv")


@dataclass
class ProfileSource(Source):
    """A folder of `adamb profile`."""


@dataclass
class SweepSource(Source):
    """A folder of `adamb sweep`."""

    @cached_property
    def rows(self) -> list[dict[str, str]]:
        path = self.folder / "summary.csv"
        if not path.is_file():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def name(self) -> str:
        return str(self.data.get("name", self.folder.name))


@dataclass
class BlockSource(Source):
    """A single block, as `adamb inspect` opens it; `folder` is its file."""

    inspection: Any = None


def read_sources(folders: Sequence[Path]) -> list[Source]:
    """Everything that the folders hold, in their order, each under a label of its own."""
    found = [source for folder in folders for source in read_folder(folder)]
    _label(found)
    return found


def read_folder(folder: Path) -> list[Source]:
    if not folder.is_dir():
        reason = "is not a folder" if folder.exists() else "is not there"
        raise InputError("run", str(folder), f"{reason}; give the --out folder of a run")
    found: list[Source] = []
    if (folder / "run.json").is_file():
        details = folder / "details.json"
        kept = read_json(details) if details.is_file() else {}
        found.append(RunSource(folder, _checked(folder / "run.json", ("agent", "episodes")), details=kept))
    if (folder / "latency.json").is_file():
        found.append(LatencySource(folder, _checked(folder / "latency.json", ("act", "observe", "target"))))
    if (folder / "profile.json").is_file():
        found.append(ProfileSource(folder, _checked(folder / "profile.json", ("points",))))
    if (folder / "meta.json").is_file():
        found.append(SweepSource(folder, _checked(folder / "meta.json", ("spec_hash",))))
    if not found:
        known = ", ".join(KINDS)
        raise InputError("run", str(folder), f"holds none of {known}; give the --out folder of a run")
    return found


def read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError("file", str(path), f"is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise InputError("file", str(path), "is not a JSON object")
    return found


def _checked(path: Path, keys: Sequence[str]) -> dict[str, Any]:
    found = read_json(path)
    for key in keys:
        if key not in found:
            raise InputError("file", str(path), f"has no {key!r}; it was not written by this command")
    return found


def read_columns(path: Path) -> dict[str, list[float | None]]:
    """A CSV file of numbers by column; an empty cell is None, a missing file has no columns."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        columns: dict[str, list[float | None]] = {name: [] for name in header}
        for line, row in enumerate(rows, start=2):
            if len(row) != len(header):
                raise InputError("file", f"{path}:{line}", f"has {len(row)} cells, not {len(header)}")
            for name, cell in zip(header, row, strict=True):
                try:
                    columns[name].append(None if cell == "" else float(cell))
                except ValueError:
                    raise InputError("file", f"{path}:{line}", f"{name} is {cell!r}, not a number") from None
    return columns


def _label(sources: list[Source]) -> None:
    """Names that tell the sources apart with as few words as will do."""
    runs = [source for source in sources if isinstance(source, RunSource)]
    same = [len(set(column)) == 1 for column in zip(*map(_parts, runs), strict=True)] if len(runs) > 1 else []
    for source in sources:
        parts = _parts(source)
        if isinstance(source, RunSource) and same and not all(same):
            parts = tuple(part for part, shared in zip(parts, same, strict=True) if not shared)
        source.label = " · ".join(part for part in parts if part)
    for label in {source.label for source in sources}:
        equal = [source for source in sources if source.label == label]
        if len(equal) > 1:
            for number, source in enumerate(equal, start=1):
                folders = [other.folder.name for other in equal]
                apart = folders.count(source.folder.name) == 1
                source.label += f" · {source.folder.name if apart else number}"


def _parts(source: Source) -> tuple[str, ...]:
    """What a source is, from the general to the special."""
    cap = source.data.get("budget_bytes")
    size = "no cap" if cap is None else format_bytes(cap)
    if isinstance(source, RunSource):
        mode = source.data.get("mode") if source.data["agent"] == "adamb" else None
        drift = (source.details.get("problem") or {}).get("drift", "none")
        changes = "" if drift == "none" else f"drift {drift}"
        return (source.problem, changes, f"{source.data['agent']}{f' {mode}' if mode else ''}", size)
    if isinstance(source, LatencySource):
        return (f"{source.problem} on {source.data['target']}", size)
    if isinstance(source, SweepSource):
        return (f"sweep {source.name}",)
    return (f"profile of {source.problem}", size)
