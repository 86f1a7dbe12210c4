"""An export of either kind: what it is made from, its templates, and the folder that is written.

Each has its licence and a CycloneDX bill of materials: every file with its SHA-256. The same files give the
same bill, byte for byte: it holds no time, and its serial number comes from them.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import BLOCK_BYTES_MAX, MORE_THAN_A_BLOCK, OPTIONS
from adamb.firmware_model.snapshot import AT_UNITS, get16
from adamb.host_sim.parameter import Range, declared, unnamed
from adamb.host_sim.results.run import BLOCK, RUN, RunFolder
from adamb.tools import outputs
from adamb.tools.device.settings import DeviceSettings

BILL = "sbom.cdx.json"
SPDX = "MIT"
LICENCE = [{"license": {"id": SPDX}}]
TOOLS = {"mpy": "mpy-cross"}
"""Programs of others that made files of an export, by the ending of these files."""


def bill(files: Mapping[str, bytes], name: str, own_version: str) -> bytes:
    """The bill of these files; `name` says which kind of export it is."""
    parts = [_file(path, files[path], own_version) for path in sorted(files)]
    seal = hashlib.sha256(json.dumps([name, own_version, parts]).encode()).hexdigest()
    whole = _package(name, own_version) | {"type": "firmware", "bom-ref": f"{name}@{own_version}"}
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, seal).urn,
        "version": 1,
        "metadata": {"tools": {"components": _tools(files, own_version)}, "component": whole},
        "components": parts,
        "dependencies": [{"ref": whole["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
        "compositions": [{"aggregate": "complete", "assemblies": [whole["bom-ref"]]}],
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def _package(name: str, own_version: str) -> dict[str, Any]:
    return {"name": name, "version": own_version, "licenses": LICENCE}


def _file(path: str, content: bytes, own_version: str) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    hashes = [{"alg": "SHA-256", "content": digest}]
    return _package(path, own_version) | {"type": "file", "bom-ref": f"file:{path}", "hashes": hashes}


def _tools(files: Mapping[str, bytes], own_version: str) -> list[dict[str, Any]]:
    """`adamb` itself, and what compiled files of the export."""
    used = [tool for ending, tool in TOOLS.items() if any(path.endswith(f".{ending}") for path in files)]
    found = [{"type": "application", **_package("adamb", own_version)}]
    for tool in used:
        try:
            found.append({"type": "application", "name": tool, "version": version(tool)})
        except PackageNotFoundError:
            found.append({"type": "application", "name": tool})
    return found


LARGEST_DEFAULT_BYTES = 16 * 1024
INSTALLED = "licenses/LICENSE"
TEMPLATES = Path(__file__).resolve().parent / "templates"
PLANTS = tuple(sorted(path.name.removesuffix(".py.in") for path in TEMPLATES.glob("plants/*.py.in")))
"""The plants of host_sim/problems/plant, each with a loop in C and in Python."""
PLANT_PROBLEM = "plant-"
_PLACE = re.compile(r"@([A-Z_]+)@")
_SECTION = re.compile(r"^=== (\S+)\n", re.MULTILINE)


@dataclass(frozen=True)
class PortJob:
    """One export: its contents and place, and the command line, which goes into the generated files."""

    settings: DeviceSettings
    block_bytes: int
    folder: Path
    command: str
    trained: bytes | None = None
    """The snapshot that the controller starts from."""
    plant: str | None = "heater"
    """The plant of the control loop: one of PLANTS; None is a problem that has no plant here."""
    usermod: bool = False
    """With the C core as a module for MicroPython's build."""
    one_file: bool = False
    """With the C core as a single file."""
    problem: str = ""
    coordinates: tuple[Range, ...] = ()
    """Names, ranges and units of sensors and actuators, where a problem declares them."""

    @property
    def block_words(self) -> int:
        return self.block_bytes // 2

    @property
    def required_bytes(self) -> int:
        """The least block: what the configuration needs to start, or what was trained needs to continue."""
        trained = 0 if self.trained is None else 8 * get16(self.trained, AT_UNITS)
        return max(2 * self.settings.required_words(), trained)

    def checked(self) -> PortJob:
        """Itself, or an error that says how many bytes the configuration needs, or can use."""
        needed = self.required_bytes
        if self.block_bytes < needed:
            of = "this configuration needs at least" if self.trained is None else "the trained block has"
            raise InputError("budget", self.block_bytes, f"{of} {needed} bytes")
        if self.block_bytes > BLOCK_BYTES_MAX:
            raise InputError("budget", self.block_bytes, MORE_THAN_A_BLOCK)
        return self

    def dimensions(self) -> str:
        s = self.settings
        return f"{s.d_s} state and {s.d_a} action coordinate{'s' if s.d_a > 1 else ''}"

    def more_coordinates(self) -> str:
        """Text on additions to the loops, whose plants have a sensor and an actuator; empty for 1+1."""
        more = [f"`state[{i}]`" for i in range(1, self.settings.d_s)]
        more += [f"`action[{i}]`" for i in range(1, self.settings.d_a)]
        if not more or self.plant is None:
            return ""
        return (
            "\n\nThe plants of this export have one sensor and one actuator, and its loops leave the rest of "
            f"a state at 0.\nAdd yours to the loop: {', '.join(more)}."
        )


def installed_version() -> str:
    try:
        return version("adamb")
    except PackageNotFoundError:
        return "0"


def licence() -> bytes:
    """The text of the licence: beside the packages in a checkout, beside their metadata where installed."""
    path = Path(__file__).resolve().parents[3] / "LICENSE"
    text = path.read_text(encoding="utf-8") if path.is_file() else distribution("adamb").read_text(INSTALLED)
    if not text:
        raise InputError("LICENSE", str(path), "is missing; an export without its licence is not written")
    return text.encode()


def with_licence(text: str) -> str:
    """The file as it is given away: one that leaves its folder must say whose it is and under which terms."""
    copyright_line = next(line for line in licence().decode().splitlines() if line.startswith("Copyright"))
    return f"// SPDX-License-Identifier: {SPDX}\n// {copyright_line}\n{text}"


def complete(name: str, made: dict[str, bytes]) -> dict[str, bytes]:
    """An export with what belongs to each: the specification, the licence, the bill of materials."""
    specification = Path(__file__).resolve().parents[3] / "firmware_model" / "SPEC.md"
    whole = made | {"SPEC.md": specification.read_bytes(), "LICENSE": licence()}
    return whole | {BILL: bill(whole, name, installed_version())}


def plants(chosen: str, suffix: str) -> dict[str, bytes]:
    """The chosen plant as plant.h or plant.py, the file that the loop takes, and all of them in a folder."""
    names = [f"plants/{name}{suffix}" for name in PLANTS]
    found = {name: (TEMPLATES / f"{name}.in").read_bytes() for name in names}
    return {f"plant{suffix}": found[f"plants/{chosen}{suffix}"], **found}


def suitable_block(available: int, needed: int) -> int:
    """A quarter of what a board leaves, as a power of two: the rest is for the program around it."""
    quarter = 1 << max(0, int(math.log2(max(1, available) / 4)))
    return max(min(LARGEST_DEFAULT_BYTES, quarter), needed)


def sections(template: str) -> dict[str, str]:
    """The parts of a template that has several, each after a line `=== NAME`."""
    _, *found = _SECTION.split((TEMPLATES / template).read_text(encoding="utf-8"))
    return dict(zip(found[::2], found[1::2], strict=True))


def fill(template: str, values: dict[str, object]) -> str:
    """A template, or FILE:SECTION, with every @NAME@ replaced; a name without a value stops the port."""
    name, _, section = template.partition(":")
    text = sections(name)[section] if section else (TEMPLATES / name).read_text(encoding="utf-8")

    def replace(match: re.Match[str]) -> str:
        return str(values[match.group(1)])

    return _PLACE.sub(replace, text)


def shared_values(job: PortJob) -> dict[str, object]:
    """Values for the templates of both kinds of export."""
    shared = ("safe_output", "when_not", "restarts")
    return {
        "COMMAND": job.command,
        "BLOCK_BYTES": job.block_bytes,
        "BLOCK_WORDS": job.block_words,
        "HORIZON": job.settings.horizon,
        "PROBLEM": job.problem,
        "DIMENSIONS": job.dimensions(),
        "MORE_COORDINATES": job.more_coordinates(),
        "PLANTS": ", ".join(PLANTS),
        **{name.upper(): fill(f"sections.md.in:{name}", {}).rstrip() for name in shared},
    }


def refuse_folder(folder: Path) -> None:
    """Stop before any work when the folder cannot be written: it is a file, or holds something already."""
    if folder.exists() and not folder.is_dir():
        raise InputError("out", str(folder), "is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError("out", str(folder), "is not empty; choose another place or empty it")


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write all files into a folder that `refuse_folder` lets pass."""
    refuse_folder(folder)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        outputs.write_atomic(folder / name, content)


SHAPE = {"state-dims": 1, "action-dims": 1, "horizon": 5}
"""The default shape."""
THEIR = {"state-dims": "dimensions", "action-dims": "dimensions", "horizon": "horizon"}


@dataclass(frozen=True)
class PortSource:
    """Shape and options of a controller; of a run also its cap and the snapshot of its first seed."""

    d_s: int
    d_a: int
    horizon: int
    options: dict[str, Any] = field(default_factory=dict)
    budget_bytes: int | None = None
    trained: bytes | None = None
    plant: str | None = PortJob.plant
    problem: str = ""
    coordinates: tuple[Range, ...] = ()

    def settings(self, changed: dict[str, Any], seed: int) -> DeviceSettings:
        """The controller with some options changed; what was trained keeps those it was trained with."""
        if self.trained is not None and changed:
            name, value = next(iter(changed.items()))
            raise InputError(name, value, "a trained block keeps the options of its run")
        return DeviceSettings(self.d_s, self.d_a, self.horizon, seed=seed, **{**self.options, **changed})


def read_source(text: str | None, shape: dict[str, int], *, trained: bool) -> PortSource:
    """From a problem's name, the folder of a run, or the shape alone, of which some is typed."""
    if text is None:
        if trained:
            raise InputError("trained", "on", "name the folder of a run made with --record")
        d_s, d_a, horizon = (shape.get(name, default) for name, default in SHAPE.items())
        return PortSource(d_s, d_a, horizon)
    is_run = (Path(text) / RUN).is_file()
    if not is_run and (trained or Path(text).is_dir()):
        field = "trained" if trained else "source"
        raise InputError(field, text, "is no folder of a run; make one with adamb run --record --out DIR")
    source = _from_run(Path(text), trained=trained) if is_run else _from_problem(text)
    for name, value in shape.items():
        raise InputError(name, value, f"{text} has its own {THEIR[name]}; leave it out")
    return source


def _from_problem(name: str) -> PortSource:
    from adamb.host_sim.problems import make_problem

    problem = make_problem(name, [0])
    said = f"adamb run {name} --out DIR with settings that fit, then adamb port DIR"
    if problem.horizon > _spec.HORIZON_MAX:
        limit = f"has {problem.horizon} steps, at most {_spec.HORIZON_MAX} are planned: {said} (--set horizon=H)"
        raise InputError("source", name, limit)
    if max(problem.d_s, problem.d_a) > _spec.DIM_MAX:
        limit = f"has {problem.d_s}+{problem.d_a} dimensions, at most {_spec.DIM_MAX} each: {said}"
        raise InputError("source", name, limit)
    found = problem.coordinates or unnamed(problem.d_s, problem.d_a)
    return PortSource(
        problem.d_s, problem.d_a, problem.horizon, plant=_plant(name), problem=name, coordinates=found
    )  # fmt: skip


def _plant(problem: str) -> str | None:
    """The plant whose loop goes with a problem, if it is one of ours."""
    name = problem.removeprefix(PLANT_PROBLEM)
    return name if name in PLANTS else None


def _from_run(folder: Path, *, trained: bool) -> PortSource:
    run = RunFolder.read(folder)
    if run.summary.agent != "adamb":
        raise InputError("source", str(folder), f"is a run of {run.summary.agent}; a board runs adamb")
    options = {name: value for name, value in run.details.settings.items() if name in OPTIONS}
    snapshot, size = None, run.summary.budget_bytes
    if trained:
        from adamb.tools.inspect.snapshot_file import pack

        if not (folder / BLOCK).is_file():
            raise InputError("trained", str(folder), f"has no {BLOCK}; add --record to adamb run")
        snapshot, size = pack(folder / BLOCK)
        if run.summary.budget_bytes is None:
            kept = f"its run had no cap, and a trained block keeps its {size} bytes"
            limit = f"{kept}; run it with --budget 4KiB"
            raise InputError("trained", str(folder), limit)
    name, (d_s, d_a) = run.summary.problem, run.details.dimensions
    found = declared(run.details.problem.get("ranges", {}), d_s, d_a) or unnamed(d_s, d_a)
    return PortSource(d_s, d_a, run.summary.horizon, options, size, snapshot, _plant(name), name, found)
