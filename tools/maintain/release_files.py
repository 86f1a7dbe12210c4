"""`make release`: the files of a release in dist/, the same bytes wherever and whenever they are made.

Wheel and sdist; the C core as one file, as a library for Arduino and five other build systems, and as a row policy for
Ramulator 2; what `mip install` takes; the playground; the engine as Verilog, where the chip's tools are installed.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from adamb.tools.device.extras import DeviceToolMissing
from adamb.tools.device.port import c, micropython
from adamb.tools.device.port.job import PortJob, installed_version
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.playground.page import build

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
MIP = ("package.json", "mpy/", "LICENSE")
"""Of an export for a board: the package, which is the same for all boards."""
ENGINE_WORDS = 2048


def zipped(files: dict[str, bytes], folder: str, when: datetime) -> bytes:
    """An archive without traces of the machine: sorted, with the day of the release."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{name}", when.timetuple()[:6])
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED)
    return out.getvalue()


def release_day() -> datetime:
    """The day that CITATION.cff names."""
    (line,) = (
        line for line in (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines() if line.startswith("date-rel")
    )
    return datetime.fromisoformat(line.split()[1]).replace(tzinfo=UTC)


def exports() -> dict[str, bytes]:
    """Archives of `adamb port`, for one state and one action in 4 KiB."""
    version, when = installed_version(), release_day()
    job = PortJob(DeviceSettings(1, 1, 5), 4096, Path("adamb"), "make release").checked()
    mip = {name: content for name, content in micropython.files(job, "pico").items() if name.startswith(MIP)}
    kinds = {
        "arduino": c.package_files(job),
        "c": c.files(replace(job, one_file=True)),
        "mip": mip,
        "ramulator2": c.ramulator_files(job),
    }
    return {f"adamb-{version}-{kind}.zip": zipped(files, "adamb", when) for kind, files in kinds.items()}


def engine() -> dict[str, bytes]:
    """The decision engine for any block, where the tools are."""
    from adamb.firmware_model.rtl.engine import DecisionEngine, EngineShape
    from adamb.tools.chip import verilog
    from adamb.tools.device.port.job import with_licence

    try:
        text = with_licence(verilog(DecisionEngine(EngineShape(ENGINE_WORDS)), "adamb_engine"))
    except (DeviceToolMissing, ImportError) as error:
        print(f"no engine: {error}")
        return {}
    return {f"adamb-{installed_version()}-engine.v": text.encode()}


def main(arguments: list[str]) -> int:
    DIST.mkdir(exist_ok=True)
    for old in DIST.iterdir():
        old.unlink()
    page = {"playground.html": build("oil-laplace").encode()}
    for name, content in {**exports(), **page, **engine()}.items():
        (DIST / name).write_bytes(content)
    code = subprocess.call(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(DIST), str(ROOT)], stdout=subprocess.DEVNULL
    )
    if code:
        return code
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(DIST.iterdir())]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    print("".join(lines), end="")
    return 0
