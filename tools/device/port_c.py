"""The C core as a folder to drop into a firmware project."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from adamb.tools.device import core
from adamb.tools.device.compile import TARGETS
from adamb.tools.device.port_common import Job, fill


def installed_version() -> str:
    try:
        return version("adamb")
    except PackageNotFoundError:
        return "0"


def config_initialiser(fields: dict[str, object]) -> str:
    """The configuration as a C initialiser, one member a line."""
    lines = []
    for name, value in fields.items():
        text = "{" + ", ".join(map(str, value)) + "}" if isinstance(value, list) else str(value)
        lines.append(f"    .{name} = {text},")
    return "\n".join(lines)


def sizes_table(block_bytes: int) -> str:
    """Flash and stack by processor, from images compiled now; without the compiler, how to get them."""
    if importlib.util.find_spec("ziglang") is None or importlib.util.find_spec("capstone") is None:
        return "Not measured: `pip install adamb[device]` and generate this folder again."
    from adamb.tools.device.callgraph import stack_report

    lines = [
        "| processor | flash (size) | flash (speed) | adamb_check adds | stack of act | stack of observe "
        "| RAM with the block |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, target in TARGETS.items():
        small, fast = core.flash(name, "size"), core.flash(name, "speed")
        row = [name, f"{small.running_bytes:,}", f"{fast.running_bytes:,}", f"{small.check_bytes:,}"]
        if target.is_arm:
            image = core.core_image(name, "size")
            act, observe = (stack_report(image, [root]).bytes for root in ("adamb_act", "adamb_observe"))
            row += [str(act), str(observe), f"{block_bytes + observe:,}"]
        else:
            row += ["–", "–", "–"]
        lines.append("| " + " | ".join(row) + " |")
    note = (
        "Bytes, with the helpers that the compiler adds (division), measured on images linked from exactly\n"
        "these files. Flash of every function but the diagnostic adamb_check, which costs nothing unless it\n"
        "is called, for size or for speed; the stack is the worst case over every path, for size."
    )
    return "\n".join([*lines, "", note])


def files(job: Job) -> dict[str, bytes]:
    """Everything that goes into the folder."""
    sources = core.sources()
    headers = sorted(core.c_folder().glob("*.h"))
    values: dict[str, object] = {
        "COMMAND": job.command,
        "VERSION": installed_version(),
        "BLOCK_BYTES": job.block_bytes,
        "BLOCK_WORDS": job.block_words,
        "REQUIRED_WORDS": job.settings.required_words(),
        "HORIZON": job.settings.horizon,
        "DIMENSIONS": job.dimensions(),
        "CONFIG_FIELDS": config_initialiser(job.settings.fields()),
        "CMAKE_SOURCES": "\n".join(f"    {path.name}" for path in sources),
        "MAKE_OBJECTS": " ".join(f"{path.stem}.o" for path in sources),
        "MAKE_HEADERS": " ".join(path.name for path in headers),
        "SIZES": sizes_table(job.block_bytes),
    }
    made = {path.name: path.read_bytes() for path in [*sources, *headers]}
    for name, template in (
        ("CMakeLists.txt", "CMakeLists.txt.in"),
        ("Makefile", "Makefile.in"),
        ("adamb_settings.h", "adamb_settings.h.in"),
        ("example_main.c", "example_main.c.in"),
        ("guarded/guarded_main.c", "guarded_main.c.in"),
        ("README.md", "README_c.md.in"),
    ):
        made[name] = fill(template, values).encode()
    licence = Path(core.c_folder()).parents[1] / "LICENSE"
    if licence.is_file():
        made["LICENSE"] = licence.read_bytes()
    return made
